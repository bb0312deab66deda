import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { inputRequired, McpServer as McpServer2 } from '@modelcontextprotocol/server';
import { Tool, type ToolContext } from 'stepwright';
import { AttachError, attach, createServer, importTools, type RequestContext } from 'stepwright/runtime';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { nightlyTest } from '../../nightly.js';
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

/** The same server by version 2 of the SDK. */
function shopOfVersion2() {
  const clients: (string | undefined)[] = [];
  const mcp = new McpServer2({ name: 'shop', version: '1.0.0' });
  mcp.registerTool(
    'reserve',
    {
      description: 'Reserves one',
      inputSchema: z.object({ product: z.string() }),
      outputSchema: z.object({ left: z.number() }),
    },
    async ({ product }, ctx) => {
      clients.push(ctx.http?.authInfo?.clientId);
      await ctx.mcpReq.notify({
        method: 'notifications/progress',
        params: { progressToken: 0, progress: 1 },
      });
      if (product === 'book') await ctx.mcpReq.elicitInput({ message: 'Which?', requestedSchema: NO_FIELDS });
      if (product === 'ink') return inputRequired({ inputRequests: { which: QUESTION } });
      return { content: [], structuredContent: { left: 3 } };
    },
  );
  return { mcp, clients };
}

const NO_FIELDS = { type: 'object', properties: {} } as const;
const QUESTION = {
  method: 'elicitation/create',
  params: { mode: 'form', message: 'Which?', requestedSchema: NO_FIELDS },
} as const;

/** As `fastmcp` makes a server of version 1 for each client, which is ready when it has introduced itself. */
class FastShop {
  readonly sessions = new Set<Server>();

  addTool(): void {}

  async connect(transport: Transport, auth?: { readonly clientId: string }) {
    const server = new Server({ name: 'shop', version: '1.0.0' }, { capabilities: { tools: {} } });
    server.setRequestHandler(ListToolsRequestSchema, () => ({
      tools: [{ name: 'reserve', inputSchema: { type: 'object' } }],
    }));
    server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal }) => {
      await server.ping();
      if (params.arguments?.product !== 'pen') throw new Error('there is no such product');
      return { content: [], structuredContent: { left: auth?.clientId === 'till' ? 2 : 1 }, signal };
    });
    await server.connect(transport);
    if (server.getClientCapabilities() === undefined) throw new Error('no client has introduced itself');
    this.sessions.add(server);
    server.onclose = () => this.sessions.delete(server);
    return { server, close: () => server.close() };
  }
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

  test.each(['of version 2, which has no client', 'of version 2, which serves 2026-07-28'])(
    'runs steps on the tools of a server %s',
    async (kind) => {
      const { mcp, clients } = shopOfVersion2();
      if (kind.endsWith('28')) Reflect.set(mcp.server, '_negotiatedProtocolVersion', '2026-07-28');
      const upstream = importTools({ shop: mcp });
      const server = createServer(registry, { upstream, workflows: [{ graph: order }], log: () => {} });
      onTestFinished(() => server.stop());
      const request: RequestContext = { ...context, auth: { clientId: 'till', scopes: [] } };
      expect(await server.callTool('w_order', {}, request)).toMatchObject({
        structuredContent: { result: 3 },
      });
      expect(clients).toEqual(['till', 'till']);
      const { tools } = await upstream.list('shop', context.signal);
      expect(tools.map(({ name }) => name)).toEqual(['reserve']);
      const progress: unknown[] = [];
      const call = { signal: context.signal, progress: (done: number) => progress.push(done) };
      const buy = (product: string) =>
        upstream.call({ server: 'shop', tool: 'reserve' }, { product }, call).then(
          ({ content }) => content,
          ({ code, message }) => [code, message],
        );
      const why = 'it asks the client, and a step of a workflow has none';
      expect(String(JSON.stringify(await buy('book')))).toContain(why);
      expect(String(JSON.stringify(await buy('ink')))).toContain('input');
      expect(progress).toEqual([1, 1]);
    },
  );

  test('runs steps on the tools of a server that has one for each client', async () => {
    const shop = new FastShop();
    const upstream = importTools({ shop });
    const server = createServer(registry, { upstream, workflows: [{ graph: order }], log: () => {} });
    onTestFinished(() => server.stop());
    const request: RequestContext = { ...context, auth: { clientId: 'till', scopes: [] } };
    expect(await server.callTool('w_order', {}, request)).toMatchObject({ structuredContent: { result: 2 } });
    const { tools } = await upstream.list('shop', context.signal);
    expect(tools.map(({ name }) => name)).toEqual(['reserve']);
    const call = { signal: context.signal, progress: () => {} };
    await expect(
      upstream.call({ server: 'shop', tool: 'reserve' }, { product: 'ink' }, call),
    ).rejects.toMatchObject({
      code: 'E_UPSTREAM_REFUSED',
      message: expect.stringContaining('no such product'),
    });
    expect(shop.sessions.size).toBe(0);
  });

  nightlyTest('runs steps on the tools of `fastmcp`', { timeout: 240_000 }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'fastmcp-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const options = ['--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund', '--silent'];
    execFileSync('npm', ['install', ...options, 'fastmcp@4.20.16'], { stdio: 'inherit' });
    const { FastMCP } = await import(
      pathToFileURL(join(folder, 'node_modules/fastmcp/dist/FastMCP.js')).href
    );
    const shop = new FastMCP({ name: 'shop', version: '1.0.0' });
    const signals: AbortSignal[] = [];
    shop.addTool({
      name: 'reserve',
      parameters: z.object({ product: z.string() }),
      outputSchema: z.object({ left: z.number() }),
      execute: async (
        _: object,
        { session, signal }: { session?: { clientId: string }; signal: AbortSignal },
      ) => {
        signals.push(signal);
        return { left: session?.clientId === 'till' ? 2 : 1 };
      },
    });
    const upstream = importTools({ shop });
    const server = createServer(registry, { upstream, workflows: [{ graph: order }], log: () => {} });
    onTestFinished(() => server.stop());
    const request: RequestContext = { ...context, auth: { clientId: 'till', scopes: [] } };
    expect(await server.callTool('w_order', {}, request)).toMatchObject({ structuredContent: { result: 2 } });
    const { tools } = await upstream.list('shop', context.signal);
    expect(tools).toMatchObject([{ name: 'reserve', outputSchema: { type: 'object' } }]);
    expect(shop.sessions).toEqual([]);
  });

  test('says what is wrong', async () => {
    for (const shop of [{ connect: async () => {} }, undefined, null, 1, 'server'])
      expect(() => importTools({ shop: shop as never })).toThrow(
        /`shop` is not a Server or McpServer .* FastMCP/,
      );
    expect(() => importTools(undefined as never)).toThrow(AttachError);
    await expect(attach(new FastShop(), registry)).rejects.toThrow('importTools({ NAME: server })');
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
