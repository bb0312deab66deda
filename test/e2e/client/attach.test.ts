import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import {
  CallToolRequestSchema,
  ElicitRequestSchema,
  ListToolsRequestSchema,
  ResourceUpdatedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { Resource, Tool, type ToolContext } from 'stepwright';
import { AttachError, attach, type Registry } from 'stepwright/runtime';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { callOf } from '../composite/client.js';
import { call, lit, returns, step, workflow } from '../composite/fixture/workflows.js';
import { registryOf } from '../server/fixture/registry-of.js';

@Tool({ name: 'greet', description: 'Greets' })
class Greet {
  execute({ name }: { name: string }) {
    return { text: `Hello ${name}` };
  }
}

@Tool({ name: 'ask-seats', description: 'Asks' })
class AskSeats {
  async execute(_input: object, { elicit }: ToolContext) {
    return await elicit('Seats?', { properties: { seats: { type: 'integer' } }, required: ['seats'] });
  }
}

@Resource({ name: 'board', description: 'Departures' })
class Board {
  static readonly uri = 'desk://board';

  read(): string {
    return 'Rome';
  }
}

const input = { type: 'object', properties: { name: { type: 'string' } } };
const registry: Registry = registryOf({
  tools: [
    { class: Greet, input },
    { class: AskSeats, input: { type: 'object' } },
  ],
  resources: [{ class: Board }],
});
const hello = workflow('hello', [
  call('greeting', 'greet', { name: lit('Ada') }),
  returns(step('greeting', 'text')),
]);
const options = { workflows: [{ graph: hello }], log: () => {} };

/** A server as the documentation of the SDK makes it. */
function shop(): McpServer {
  const mcp = new McpServer({ name: 'shop', version: '1.0.0' });
  mcp.registerTool(
    'stock',
    { description: 'What is in stock', inputSchema: { item: z.string() } },
    ({ item }) => ({ content: [{ type: 'text', text: `3 ${item}` }] }),
  );
  mcp.registerPrompt('advise', { description: 'Advice' }, () => ({
    messages: [{ role: 'user', content: { type: 'text', text: 'Advise me' } }],
  }));
  mcp.registerResource('prices', 'shop://prices', {}, (uri) => ({
    contents: [{ uri: uri.href, text: '1 EUR' }],
  }));
  return mcp;
}

async function clientOf(server: { connect(transport: never): Promise<unknown> }): Promise<Client> {
  const [toServer, toClient] = InMemoryTransport.createLinkedPair();
  await server.connect(toClient as never);
  const client = new Client(
    { name: 'test', version: '1.0.0' },
    { capabilities: { elicitation: { form: {} } } },
  );
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: { seats: 2 } }));
  await client.connect(toServer);
  onTestFinished(() => client.close());
  return client;
}

describe('a registry beside an existing server', () => {
  test('is listed behind what was there, and each is answered by its own', async () => {
    const mcp = shop();
    await attach(mcp, registry, options);
    const client = await clientOf(mcp);
    expect(client.getServerVersion()).toMatchObject({ name: 'shop' });
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name).slice(0, 3)).toEqual(['stock', 'ask-seats', 'greet']);
    expect((await client.listPrompts()).prompts.map(({ name }) => name)).toEqual(['advise', 'hello']);
    expect((await client.listResources()).resources.map(({ uri }) => uri)).toEqual([
      'shop://prices',
      'desk://board',
    ]);

    expect((await callOf(client, 'stock', { item: 'pens' })).content).toEqual([
      { type: 'text', text: '3 pens' },
    ]);
    expect((await callOf(client, 'greet', { name: 'Eve' })).structuredContent).toEqual({ text: 'Hello Eve' });
    expect((await callOf(client, 'ask-seats')).structuredContent).toEqual({
      action: 'accept',
      content: { seats: 2 },
    });
    expect((await client.getPrompt({ name: 'advise' })).messages).toHaveLength(1);
    expect(JSON.stringify((await client.getPrompt({ name: 'hello' })).messages)).toContain('Hello Ada');
    expect((await client.readResource({ uri: 'shop://prices' })).contents).toMatchObject([{ text: '1 EUR' }]);
    expect((await client.readResource({ uri: 'desk://board' })).contents).toMatchObject([{ text: 'Rome' }]);
    // What neither has is for the server that was there.
    expect(await callOf(client, 'nothing')).toMatchObject({ isError: true });
    await expect(client.getPrompt({ name: 'nothing' })).rejects.toMatchObject({ code: -32602 });
  });

  test('has pages of its own behind those of the server', async () => {
    const low = new Server({ name: 'low', version: '1.0.0' }, { capabilities: { tools: {} } });
    const pages = new Map([
      [undefined, { tools: [{ name: 'a', inputSchema: { type: 'object' as const } }], nextCursor: 'two' }],
      ['two', { tools: [{ name: 'b', inputSchema: { type: 'object' as const } }] }],
    ]);
    low.setRequestHandler(
      ListToolsRequestSchema,
      ({ params }) => pages.get(params?.cursor as never) ?? { tools: [] },
    );
    low.setRequestHandler(CallToolRequestSchema, ({ params }) => ({
      content: [{ type: 'text', text: params.name }],
    }));
    await attach(low, registry, { ...options, pageSize: 1, workflows: [] });
    const client = await clientOf(low);
    const seen: string[][] = [];
    let cursor: string | undefined;
    do {
      const page = await client.listTools(cursor === undefined ? {} : { cursor });
      seen.push(page.tools.map(({ name }) => name));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    expect(seen).toEqual([['a'], ['b', 'ask-seats'], ['greet']]);
    expect((await callOf(client, 'b')).content).toEqual([{ type: 'text', text: 'b' }]);
    // The low-level server had no prompts: their list is that of the registry, which knows its cursors.
    await expect(client.listPrompts({ cursor: 'wrong' })).rejects.toMatchObject({ code: -32602 });
  });

  test('tells of its changes', async () => {
    const mcp = shop();
    const server = await attach(mcp, registry, options);
    const client = await clientOf(mcp);
    const updated: string[] = [];
    client.setNotificationHandler(
      ResourceUpdatedNotificationSchema,
      ({ params }) => void updated.push(params.uri),
    );
    await client.subscribeResource({ uri: Board.uri });
    server.resourceUpdated(Board.uri);
    await client.ping();
    expect(updated).toEqual([Board.uri]);
  });

  test('is refused with every name that is in both', async () => {
    const mcp = shop();
    mcp.registerTool('greet', { description: 'Greets as well' }, () => ({ content: [] }));
    mcp.registerPrompt('hello', { description: 'Hello' }, () => ({ messages: [] }));
    mcp.registerResource('other', 'desk://board', {}, () => ({ contents: [] }));
    const refused = attach(mcp, registry, options);
    await expect(refused).rejects.toThrow(AttachError);
    await expect(refused).rejects.toMatchObject({
      problems: [
        expect.stringContaining('tool `greet` is in both'),
        expect.stringContaining('prompt `hello` is in both'),
        expect.stringContaining('resource `desk://board` is in both'),
      ],
    });
    // The server is unchanged.
    const { tools } = await (await clientOf(mcp)).listTools();
    expect(tools.map(({ name }) => name)).toEqual(['stock', 'greet']);
  });

  test('is refused once the server is connected, and for what is no server', async () => {
    const mcp = shop();
    await clientOf(mcp);
    await expect(attach(mcp, registry, options)).rejects.toThrow('call attach before connect');
    await expect(attach({ connect: async () => {} }, registry, options)).rejects.toThrow(
      'this is not a Server or McpServer',
    );
  });
});
