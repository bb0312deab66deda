import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { Tool, type ToolContext } from 'stepwright';
import { AttachError, attach, importTools, type RequestContext } from 'stepwright/runtime';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { callOf } from '../composite/client.js';
import { call, lit, returns, step, workflow } from '../composite/fixture/workflows.js';
import { registryOf } from '../server/fixture/registry-of.js';

/** As `stepwright pull shop` writes it. */
@Tool({ name: 'shop_reserve', description: 'Reserves', upstream: { server: 'shop', tool: 'reserve' } })
class ShopReserve {
  execute(input: { readonly product: string }, context: ToolContext): Promise<{ readonly left: number }> {
    return context.callUpstream(input);
  }
}

const registry = registryOf({
  tools: [
    {
      class: ShopReserve,
      input: { type: 'object', properties: { product: { type: 'string' } }, required: ['product'] },
      output: { type: 'object', properties: { left: { type: 'number' } }, required: ['left'] },
    },
  ],
});

const order = workflow('order', [
  call('first', 'shop_reserve', { product: lit('pen') }),
  call('second', 'shop_reserve', { product: lit('pen') }),
  returns(step('second', 'left')),
]);

/** A server with a memory of its own. */
function shop() {
  const stock = new Map([['pen', 5]]);
  const clients: (string | undefined)[] = [];
  const mcp = new McpServer({ name: 'shop', version: '1.0.0' });
  mcp.registerTool(
    'reserve',
    {
      description: 'Reserves one',
      inputSchema: { product: z.string() },
      outputSchema: { left: z.number() },
    },
    ({ product }, { authInfo }) => {
      clients.push(authInfo?.clientId);
      const left = (stock.get(product) ?? 0) - 1;
      if (left < 0) throw new Error(`there is no ${product}`);
      stock.set(product, left);
      return { content: [], structuredContent: { left } };
    },
  );
  return { mcp, stock, clients };
}

async function attached() {
  const { mcp, ...world } = shop();
  const upstream = importTools({ shop: mcp });
  const server = await attach(mcp, registry, { upstream, workflows: [{ graph: order }], log: () => {} });
  const [toServer, toClient] = InMemoryTransport.createLinkedPair();
  await mcp.connect(toServer);
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(toClient);
  onTestFinished(() => client.close());
  return { client, server, ...world };
}

const context = { signal: new AbortController().signal, requestId: '1', progress: () => {} };

describe('importTools', () => {
  test('runs steps on the tools of the server itself, which share its memory', async () => {
    const { client, stock } = await attached();
    expect(await callOf(client, 'reserve', { product: 'pen' })).toMatchObject({
      structuredContent: { left: 4 },
    });
    expect(await callOf(client, 'w_order')).toMatchObject({ structuredContent: { result: 2 } });
    expect(stock.get('pen')).toBe(2);
  });

  test('hands on the caller, and the failure of a tool', async () => {
    const { server, stock, clients } = await attached();
    const request: RequestContext = { ...context, auth: { clientId: 'till', scopes: [] } };
    await server.callTool('w_order', {}, request);
    expect(clients).toEqual(['till', 'till']);
    stock.set('pen', 1);
    const failed = await server.callTool('w_order', {}, request);
    expect(failed).toMatchObject({ isError: true });
    expect(JSON.stringify(failed)).toContain('there is no pen');
  });

  test('lists the tools of the server without those of the registry', async () => {
    const { mcp } = shop();
    const upstream = importTools({ shop: mcp });
    await attach(mcp, registry, { upstream, workflows: [{ graph: order }], log: () => {} });
    const { tools } = await upstream.list('shop', context.signal);
    expect(tools.map(({ name }) => name)).toEqual(['reserve']);
  });

  test('leaves a server as it is while its tools are recorded', async () => {
    process.env.STEPWRIGHT_PULL = '1';
    onTestFinished(() => {
      delete process.env.STEPWRIGHT_PULL;
    });
    const { client } = await attached();
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['reserve']);
  });

  test('says what is wrong', async () => {
    expect(() => importTools({ shop: { connect: async () => {} } })).toThrow(AttachError);
    const upstream = importTools({ shop: shop().mcp });
    const call = { signal: context.signal, progress: () => {} };
    await expect(upstream.call({ server: 'shop', tool: 'sell' }, {}, call)).resolves.toMatchObject({
      isError: true,
    });
    await expect(upstream.call({ server: 'shp', tool: 'sell' }, {}, call)).rejects.toMatchObject({
      code: 'E_UPSTREAM_CONFIG',
    });
    const empty = importTools({ shop: new McpServer({ name: 'empty', version: '1.0.0' }) });
    await expect(empty.list('shop', context.signal)).rejects.toMatchObject({ code: 'E_UPSTREAM_REFUSED' });
  });
});
