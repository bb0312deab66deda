import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { InMemoryTransport as FirstTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import {
  ElicitRequestSchema,
  LoggingMessageNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import {
  createMcpHandler,
  fromJsonSchema,
  InMemoryServerEventBus,
  inputRequired,
  McpServer,
  Server,
  type ServerOptions,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { Tool, type ToolContext } from 'stepwright';
import { AttachError, type AttachOptions, attach } from 'stepwright/runtime';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ask, call, lit, returns, step, workflow } from '../composite/fixture/workflows.js';
import { registryOf } from '../server/fixture/registry-of.js';
import { envelope, post, statelessClient } from './client.js';

// A registry beside servers of version 2 of the SDK, which makes one for each request or connection.

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

@Tool({ name: 'who', description: 'Says who calls' })
class Who {
  execute(_input: object, { auth }: ToolContext) {
    return { client: auth?.clientId ?? 'nobody known' };
  }
}

@Tool({ name: 'note', description: 'Logs' })
class Note {
  execute(_input: object, { log }: ToolContext) {
    log('info', 'begins');
    log('warning', 'is late');
    return { ok: true };
  }
}

const name = { type: 'string', 'x-mcp-header': 'Name' };
const registry = registryOf({
  tools: [
    { class: Greet, input: { type: 'object', properties: { name } } },
    { class: AskSeats, input: { type: 'object' } },
    { class: Who, input: { type: 'object' } },
    { class: Note, input: { type: 'object' } },
  ],
});
const sure = workflow('sure', [ask('yes'), returns(step('yes', 'confirmed'))]);
const hello = workflow('hello', [
  call('greeting', 'greet', { name: lit('Ada') }),
  returns(step('greeting', 'text')),
]);
const options: AttachOptions = { workflows: [{ graph: sure }, { graph: hello }], log: () => {} };
const asTasks: AttachOptions = { ...options, workflows: [{ graph: { ...sure, taskSupport: 'optional' } }] };

/** A server as the documentation of the SDK makes it, with a state of its own in its questions. */
function shop({ tool = 'stock', ...more }: ServerOptions & { tool?: string } = {}): McpServer {
  const mcp = new McpServer({ name: 'shop', version: '1.0.0' }, more);
  const item = { type: 'object', properties: { item: { type: 'string' } } } as const;
  mcp.registerTool(tool, { inputSchema: fromJsonSchema<{ item: string }>(item) }, ({ item }) => ({
    content: [{ type: 'text', text: `3 ${item}` }],
  }));
  mcp.registerTool('order', {}, ({ mcpReq }) => {
    if (mcpReq.requestState() === 'theirs') return { content: [{ type: 'text', text: 'ordered' }] };
    const requestedSchema = { type: 'object', properties: { ok: { type: 'boolean' } } } as const;
    const inputRequests = { ok: inputRequired.elicit({ message: 'Order?', requestedSchema }) };
    return inputRequired({ inputRequests, requestState: 'theirs' });
  });
  mcp.registerPrompt('advise', { description: 'Advice' }, () => ({
    messages: [{ role: 'user', content: { type: 'text', text: 'Advise me' } }],
  }));
  mcp.registerResource('prices', 'shop://prices', {}, (uri) => ({
    contents: [{ uri: uri.href, text: '1 EUR' }],
  }));
  return mcp;
}

const ANSWERS: Readonly<Record<string, object>> = { 'Seats?': { seats: 2 }, 'Order?': { ok: true } };
const answerTo = (message: string) => ({
  action: 'accept' as const,
  content: { ...(ANSWERS[message] ?? { confirmed: true }) },
});

type Handler = Pick<ReturnType<typeof createMcpHandler>, 'fetch'>;

const URL_OF_SHOP = new URL('http://shop.test/mcp');

/** Sends requests to a handler without a socket. */
const fetchFrom = (handler: Handler, clientId?: string) => async (url: string | URL, init?: RequestInit) =>
  handler.fetch(
    new Request(url, init),
    clientId === undefined ? {} : { authInfo: { token: 'secret', clientId, scopes: [] } },
  );

/** A client of 2026-07-28 over HTTP, with a user who answers. */
async function modernClient(handler: Handler, clientId?: string) {
  const fetch = fetchFrom(handler, clientId);
  const capabilities = { elicitation: { form: {} } };
  const client = await statelessClient(URL_OF_SHOP, { capabilities }, {}, fetch);
  client.setRequestHandler('elicitation/create', ({ params }) => answerTo(params.message));
  return client;
}

/** A client of 2025-11-25 on a connection to a server, or to what serves a factory. */
async function sessionClient(connect: (transport: FirstTransport) => unknown): Promise<FirstClient> {
  const [toServer, toClient] = FirstTransport.createLinkedPair();
  await connect(toClient);
  const client = new FirstClient(
    { name: 'test', version: '1.0.0' },
    { capabilities: { elicitation: { form: {} } } },
  );
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => answerTo(params.message));
  await client.connect(toServer);
  onTestFinished(() => client.close());
  return client;
}

interface Calls {
  listTools(): Promise<{ readonly tools: readonly { readonly name: string }[] }>;
  callTool(params: { name: string; arguments?: Record<string, unknown> }): Promise<object>;
  getPrompt(params: { name: string }): Promise<{ readonly messages: readonly object[] }>;
}

/** What both eras have to do in the same way. */
async function expectBoth(client: Calls): Promise<void> {
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['stock', 'order', 'greet', 'ask-seats', 'w_sure', 'w_hello']),
  );
  expect(tools[0]?.name).toBe('stock');
  const call = (name: string, args: Record<string, unknown> = {}) =>
    client.callTool({ name, arguments: args });
  expect(await call('stock', { item: 'pens' })).toMatchObject({ content: [{ text: '3 pens' }] });
  expect(await call('order')).toMatchObject({ content: [{ text: 'ordered' }] });
  expect(await call('greet', { name: 'Eve' })).toMatchObject({ structuredContent: { text: 'Hello Eve' } });
  expect(await call('ask-seats')).toMatchObject({ structuredContent: { content: { seats: 2 } } });
  expect(await call('w_sure')).toMatchObject({ structuredContent: { result: true } });
  expect((await client.getPrompt({ name: 'advise' })).messages).toHaveLength(1);
  expect(JSON.stringify((await client.getPrompt({ name: 'hello' })).messages)).toContain('Hello Ada');
}

describe('a registry beside the servers of a factory', { timeout: 120_000 }, () => {
  test('is served in both eras, each name by its own, over HTTP and stdio', async () => {
    // Of what the registry asks, the server's own check of states must not know.
    const verified: string[] = [];
    const verify = (state: string) => {
      if (state !== 'theirs') throw new Error('not mine');
      verified.push(state);
    };
    const factory = await attach(() => shop({ requestState: { verify } }), registry, options);
    const handler = createMcpHandler(factory);
    const client = await modernClient(handler);
    await expectBoth(client);
    expect(verified).toEqual(['theirs']);
    expect(client.getServerVersion()).toMatchObject({ name: 'shop' });
    expect(client.getServerCapabilities()).toMatchObject({
      extensions: { 'io.modelcontextprotocol/tasks': {} },
    });
    const { contents } = await client.readResource({ uri: 'shop://prices' });
    expect(contents).toMatchObject([{ text: '1 EUR' }]);
    const asked = await client.getPrompt({ name: 'sure' });
    expect(asked._meta).toMatchObject({ status: 'succeeded', result: true });
    await expectBoth(await sessionClient((transport) => serveStdio(factory, { transport })));
  });

  test('is served to clients of 2025-11-25 over HTTP, each request by itself', async () => {
    const fetch = fetchFrom(createMcpHandler(await attach(() => shop(), registry, options)));
    const client = new FirstClient({ name: 'test', version: '1.0.0' });
    await client.connect(new StreamableHTTPClientTransport(URL_OF_SHOP, { fetch }) as never);
    onTestFinished(() => client.close());
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['stock', 'greet', 'w_sure']),
    );
    const call = (name: string, args = {}) => client.callTool({ name, arguments: args });
    expect(await call('stock', { item: 'pens' })).toMatchObject({ content: [{ text: '3 pens' }] });
    expect(await call('greet', { name: 'Eve' })).toMatchObject({ structuredContent: { text: 'Hello Eve' } });
    // Without a session there is no client to ask.
    expect(await call('w_sure')).toMatchObject({ structuredContent: { status: 'waiting' } });
  });

  test('answers requests at the same time, each for its own caller', async () => {
    const factory = await attach(() => shop(), registry, options);
    const handler = createMcpHandler(factory);
    const callers = await Promise.all(['ada', 'bob'].map((id) => modernClient(handler, id)));
    const who = await Promise.all(
      callers.map(async (client) => [
        await client.callTool({ name: 'who', arguments: {} }),
        await client.callTool({ name: 'w_sure', arguments: {} }),
      ]),
    );
    expect(who).toMatchObject([
      [{ structuredContent: { client: 'ada' } }, { structuredContent: { result: true } }],
      [{ structuredContent: { client: 'bob' } }, { structuredContent: { result: true } }],
    ]);
  });

  test('has its calls as tasks, and checks the headers of its inputs', async () => {
    const fetch = fetchFrom(createMcpHandler(await attach(() => shop(), registry, asTasks)));
    const extensions = { 'io.modelcontextprotocol/tasks': {} };
    const send = async (method: string, params: object, headers: Record<string, string>) =>
      (await post(URL_OF_SHOP, method, {
        params: { ...params, _meta: envelope({ extensions }) },
        headers,
        fetch,
      }).then((response) => response.json())) as { result?: Record<string, unknown>; error?: object };
    const started = await send('tools/call', { name: 'w_sure' }, { 'mcp-name': 'w_sure' });
    expect(started.result).toMatchObject({ resultType: 'task', taskId: expect.any(String) });
    expect(started.result).not.toHaveProperty('content');
    const taskId = String(started.result?.taskId);
    expect((await send('tasks/get', { taskId }, { 'mcp-name': taskId })).result).toMatchObject({ taskId });
    expect(await send('tasks/update', { taskId }, { 'mcp-name': taskId })).toMatchObject({
      error: { code: -32_602, message: expect.stringContaining('inputResponses') },
    });
    const greet = { name: 'greet', arguments: { name: 'Eve' } };
    expect(await send('tools/call', greet, { 'mcp-name': 'greet' })).toMatchObject({
      error: { code: -32_020 },
    });
    const right = await send('tools/call', greet, { 'mcp-name': 'greet', 'mcp-param-name': 'Eve' });
    expect(right.result).toMatchObject({ structuredContent: { text: 'Hello Eve' } });
  });

  test('refuses malformed states and answers as a server of its own does', async () => {
    const log: string[] = [];
    const settings = { ...options, log: (line: string) => void log.push(line) };
    const fetch = fetchFrom(createMcpHandler(await attach(() => shop(), registry, settings)));
    const capabilities = { elicitation: { form: {} } };
    const send = async (more: object) =>
      (await post(URL_OF_SHOP, 'tools/call', {
        params: { name: 'w_sure', _meta: envelope(capabilities), ...more },
        headers: { 'mcp-name': 'w_sure' },
        fetch,
      }).then((response) => response.json())) as { result?: { requestState?: string }; error?: object };
    for (const requestState of [7, null, {}, true])
      expect(await send({ requestState })).toMatchObject({
        error: { code: -32_602, message: 'Invalid or expired requestState' },
      });
    const requestState = (await send({})).result?.requestState;
    for (const response of [{}, { action: 'maybe' }, null])
      expect(await send({ requestState, inputResponses: { 'yes#1': response } })).toMatchObject({
        error: { code: -32_602, message: expect.stringContaining("'yes#1'") },
      });
    expect(log.filter((line) => line.includes('Error'))).toEqual([]);
  });

  test('tells of its changes: by the bus of the handler, and on connections', async () => {
    const bus = new InMemoryServerEventBus();
    const events: object[] = [];
    bus.subscribe((event) => events.push(event));
    const factory = await attach(() => shop(), registry, { ...options, bus });
    const client = await sessionClient((transport) => serveStdio(factory, { transport }));
    const changed = new Promise<void>((resolve) =>
      client.setNotificationHandler(ToolListChangedNotificationSchema, () => resolve()),
    );
    factory.server.listChanged('tools');
    await changed;
    expect(events).toEqual([{ kind: 'tools_list_changed' }]);
  });

  test('is refused with names that are in both, and where the factory throws', async () => {
    const taken = attach(() => shop({ tool: 'greet' }), registry, options);
    await expect(taken).rejects.toThrow(AttachError);
    await expect(taken).rejects.toThrow('tool `greet` is in both');
    const thrown = attach(
      () => {
        throw new Error('no database');
      },
      registry,
      options,
    );
    await expect(thrown).rejects.toThrow('the factory threw: no database');
    // Later it is the request that fails.
    let count = 0;
    const factory = await attach(
      () => {
        count += 1;
        if (count > 1) throw new Error('no database');
        return shop();
      },
      registry,
      options,
    );
    const response = await post(URL_OF_SHOP, 'tools/list', { fetch: fetchFrom(createMcpHandler(factory)) });
    expect(response.status).toBe(500);
  });

  test('hides a tool of its name that a server registers later, and says so', async () => {
    const log: string[] = [];
    let tool = 'stock';
    const settings = { ...options, log: (line: string) => void log.push(line) };
    const factory = await attach(() => shop({ tool }), registry, settings);
    tool = 'greet';
    const client = await modernClient(createMcpHandler(factory));
    for (let n = 0; n < 2; n += 1) {
      const { tools } = await client.listTools();
      expect(tools.filter(({ name }) => name === 'greet')).toMatchObject([{ description: 'Greets' }]);
      expect(tools[0]?.name).toBe('order');
    }
    expect(log.filter((line) => line.includes('hidden'))).toEqual([
      'the tool `greet` of the server is hidden by that of the registry: rename one of them',
    ]);
  });
});

describe('a registry beside one server of version 2', { timeout: 120_000 }, () => {
  test('is served on the connection of that server, with what it registers later', async () => {
    const mcp = shop();
    const server = await attach(mcp, registry, options);
    mcp.registerTool('late', {}, () => ({ content: [] }));
    const client = await sessionClient((transport) => mcp.connect(transport as never));
    await expectBoth(client);
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('late');
    await expect(attach(mcp, registry, options)).rejects.toThrow('call attach before connect');
    await server.drain();
  });

  test('sends what its tools log to its clients, from the level on that they want', async () => {
    const mcp = shop();
    await attach(mcp, registry, options);
    const client = await sessionClient((transport) => mcp.connect(transport as never));
    const logged: unknown[] = [];
    client.setNotificationHandler(
      LoggingMessageNotificationSchema,
      ({ params }) => void logged.push(params.data),
    );
    await client.setLoggingLevel('warning');
    await client.callTool({ name: 'note', arguments: {} });
    expect(logged).toEqual(['is late']);
  });

  test('is served by a low-level server without handlers', async () => {
    const low = new Server({ name: 'low', version: '1.0.0' });
    await attach(low, registry, options);
    const client = await sessionClient((transport) => low.connect(transport as never));
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('w_sure');
    expect(await client.callTool({ name: 'w_hello', arguments: {} })).toMatchObject({
      structuredContent: { result: 'Hello Ada' },
    });
  });
});
