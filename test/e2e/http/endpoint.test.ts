import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { fetchHandler, type HttpHandler, type HttpSettings } from 'stepwright/runtime';
import { describe, expect, onTestFinished, test } from 'vitest';
import { callOf, clientWith } from '../composite/client.js';
import { desk } from '../composite/fixture/registry.js';
import { listening, sessionOf, tokenOf } from '../composite/http.js';

const JSON_HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
};

interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: {
    readonly id?: unknown;
    readonly result?: unknown;
    readonly error?: { code: number; message: string };
  };
}

/** Answers requests of a new server in this process, without a network. */
function handlerOf(settings: HttpSettings = {}, log: string[] = []): HttpHandler {
  const handler = fetchHandler(desk().server, { log: (text) => log.push(text), ...settings });
  onTestFinished(() => handler.close());
  return handler;
}

async function send(
  handler: HttpHandler,
  body: unknown,
  headers: Record<string, string> = {},
  url = 'http://localhost/mcp',
): Promise<Reply> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const request = new Request(url, { method: 'POST', headers: { ...JSON_HEADERS, ...headers }, body: text });
  const response = await handler(request, { remoteAddress: '192.0.2.1' });
  const answer = await response.text();
  const { status } = response;
  const [data = answer] = /(?<=^data: )\{.*$/m.exec(answer) ?? [];
  return { status, headers: response.headers, body: data === '' ? {} : JSON.parse(data) };
}

const rpc = (method: string, params: object = {}, id: unknown = 1) => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
});
const initialize = (capabilities: object = {}) =>
  rpc('initialize', {
    protocolVersion: '2025-11-25',
    capabilities,
    clientInfo: { name: 'test', version: '1.0.0' },
  });

describe('without a session', () => {
  test('every request is answered by itself, as JSON', async () => {
    const handler = handlerOf();
    const begun = await send(handler, initialize());
    expect(begun.headers.get('mcp-session-id')).toBeNull();
    expect(begun.body.result).toMatchObject({ serverInfo: { name: 'stepwright' } });
    const listed = await send(handler, rpc('tools/list'));
    expect(listed.headers.get('content-type')).toBe('application/json');
    expect(listed.body.result).toMatchObject({ tools: expect.any(Array) });
    const note = await send(handler, { jsonrpc: '2.0', method: 'notifications/initialized' });
    expect(note.status).toBe(202);
  });

  test('progress is sent before the answer', async () => {
    const made = desk();
    const url = await listening(made.server, { sessions: 'auto' });
    const transport = new StreamableHTTPClientTransport(url);
    const client = new Client({ name: 'test', version: '1.0.0' });
    await client.connect(transport as Transport);
    onTestFinished(() => client.close());
    expect(transport.sessionId).toBeUndefined();
    const progress: unknown[] = [];
    const answer = client.callTool({ name: 'slow-work', arguments: {} }, undefined, {
      onprogress: (report) => {
        progress.push(report);
        made.desk.finish({ done: true });
      },
    });
    expect(await answer).toMatchObject({ structuredContent: { done: true } });
    expect(progress).toEqual([{ progress: 1, total: 2, message: 'half' }]);
  });

  test('a message with a key that is written twice is refused', async () => {
    const twice = '{"jsonrpc":"2.0","id":5,"method":"ping","method":"tools/list"}';
    const refused = await send(handlerOf(), twice);
    expect(refused.status).toBe(400);
    expect(refused.body).toMatchObject({
      id: 5,
      error: { code: -32600, message: expect.stringContaining("the key 'method' is written twice") },
    });
  });

  test('a web page reads responses where its origin is configured, and no other one', async () => {
    const ask = (origin: string, settings: HttpSettings = {}, method = 'POST') => {
      const headers = { ...JSON_HEADERS, origin, host: 'localhost:3000' };
      const body = method === 'POST' ? JSON.stringify(rpc('tools/list')) : null;
      return handlerOf(settings)(new Request('http://localhost:3000/mcp', { method, headers, body }));
    };
    for (const method of ['POST', 'OPTIONS']) {
      const other = await ask('http://localhost:9', {}, method);
      expect(other.status).toBe(403);
      expect(other.headers.get('access-control-allow-origin')).toBeNull();
      const own = await ask('http://localhost:3000', {}, method);
      expect(own.ok).toBe(true);
      const listed = await ask('http://localhost:9', { allowedOrigins: ['http://localhost:9'] }, method);
      expect(listed.ok).toBe(true);
      expect(listed.headers.get('access-control-allow-origin')).toBe('http://localhost:9');
    }
  });

  test('a client that leaves aborts its call', async () => {
    const made = desk();
    const url = await listening(made.server, { sessions: 'never' });
    const controller = new AbortController();
    const body = JSON.stringify(rpc('tools/call', { name: 'slow-work', arguments: {} }));
    const left = fetch(url, { method: 'POST', headers: JSON_HEADERS, body, signal: controller.signal });
    const signal = await made.desk.begun;
    const aborted = new Promise((resolve) => signal.addEventListener('abort', resolve));
    controller.abort();
    await expect(left).rejects.toThrow();
    await aborted;
  });

  test('there is no stream to open and no session to end', async () => {
    const handler = handlerOf();
    for (const method of ['GET', 'DELETE', 'PUT']) {
      const response = await handler(new Request('http://localhost/mcp', { method, headers: JSON_HEADERS }));
      expect(response.status).toBe(405);
      expect(response.headers.get('allow')).toBe('POST');
      expect(await response.text()).toContain(`Method not allowed: ${method}`);
    }
  });
});

describe('a session', () => {
  test.each([
    ['auto', {}, false],
    ['auto', { elicitation: {} }, true],
    ['auto', { sampling: {} }, true],
    ['auto', { roots: {} }, true],
    ['auto', { experimental: {} }, false],
    ['always', {}, true],
    ['never', { elicitation: {} }, false],
  ] as const)('sessions %s, capabilities %j: %s', async (sessions, capabilities, isAssigned) => {
    const { headers, status } = await send(handlerOf({ sessions }), initialize(capabilities));
    expect(status).toBe(200);
    expect(headers.has('mcp-session-id')).toBe(isAssigned);
  });

  test('ends with DELETE, and is unknown then', async () => {
    const handler = handlerOf({ sessions: 'always' });
    const id = (await send(handler, initialize())).headers.get('mcp-session-id') ?? '';
    const headers = { 'mcp-session-id': id };
    expect((await send(handler, rpc('tools/list'), headers)).status).toBe(200);
    const ended = await handler(new Request('http://localhost/mcp', { method: 'DELETE', headers }), {
      remoteAddress: '192.0.2.1',
    });
    expect(ended.status).toBe(200);
    const after = await send(handler, rpc('tools/list'), headers);
    expect(after.status).toBe(404);
    expect(after.body.error?.message).toContain('Send `initialize` to begin another one');
  });

  test("is found by its caller only, and one that never was looks the same as another's", async () => {
    const { server } = desk();
    const url = await listening(server, { sessions: 'always' });
    const ask = async (token: string, session?: string): Promise<readonly [number, string]> => {
      const headers = {
        ...JSON_HEADERS,
        authorization: `Bearer ${token}`,
        ...(session === undefined ? {} : { 'mcp-session-id': session }),
      };
      const body = JSON.stringify(session === undefined ? initialize() : rpc('tools/list'));
      const response = await fetch(url, { method: 'POST', headers, body });
      const text = await response.text();
      return [response.status, session === undefined ? (response.headers.get('mcp-session-id') ?? '') : text];
    };
    const ada = tokenOf('desktop', { sub: 'ada' });
    const [, id] = await ask(ada);
    expect((await ask(ada, id))[0]).toBe(200);
    expect((await ask(tokenOf('phone', { sub: 'ada' }), id))[0]).toBe(200);
    const foreign = await ask(tokenOf('desktop', { sub: 'eve' }), id);
    expect(foreign[0]).toBe(404);
    expect(await ask(ada, 'nonsense')).toEqual(foreign);
  });

  test('beyond the number of a caller, initialize is refused and no client at its address loses a session', async () => {
    const handler = handlerOf({ sessions: 'always', limits: { sessionsPerOwner: 2 } });
    const open = async () => (await send(handler, initialize())).headers.get('mcp-session-id') ?? '';
    const use = async (id: string) =>
      (await send(handler, rpc('tools/list'), { 'mcp-session-id': id })).status;
    const [first, second] = [await open(), await open()];
    for (let more = 0; more < 3; more += 1) {
      const refused = await send(handler, initialize());
      expect(refused.status).toBe(429);
      expect(refused.headers.get('retry-after')).toBe('1');
      expect(refused.body.error?.message).toContain('this caller has 2 of them');
    }
    expect([await use(first), await use(second)]).toEqual([200, 200]);
  });

  test('beyond the number of the server, initialize is refused and nobody loses a session', async () => {
    const handler = handlerOf({ sessions: 'always', limits: { sessions: 1 } });
    const id = (await send(handler, initialize())).headers.get('mcp-session-id') ?? '';
    const refused = await send(handler, initialize());
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toBe('5');
    expect(refused.body).toMatchObject({ id: 1, error: { code: -32005 } });
    expect((await send(handler, rpc('tools/list'), { 'mcp-session-id': id })).status).toBe(200);
  });

  test('a client whose stream broke gets what it missed', async () => {
    const made = desk();
    const url = await listening(made.server, { sessions: 'always' });
    const opened = await fetch(url, {
      method: 'POST',
      headers: JSON_HEADERS,
      body: JSON.stringify(initialize()),
    });
    const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' };
    await opened.text();
    const controller = new AbortController();
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...JSON_HEADERS, ...session, 'mcp-protocol-version': '2025-11-25' },
      body: JSON.stringify(rpc('tools/call', { name: 'slow-work', arguments: {} }, 7)),
      signal: controller.signal,
    });
    const reader = response.body?.getReader();
    const { value } = (await reader?.read()) ?? {};
    const [, lastEvent = ''] = /^id: (\S+)$/m.exec(Buffer.from(value ?? []).toString()) ?? [];
    const signal = await made.desk.begun;
    controller.abort();
    await expect(reader?.read()).rejects.toThrow();
    made.desk.finish({ done: true });
    // The connection broke; the call was not cancelled.
    expect(signal.aborted).toBe(false);
    const headers = { accept: 'text/event-stream', 'last-event-id': lastEvent, ...session };
    const resumed = await fetch(url, { headers });
    const missed = resumed.body?.getReader();
    let text = '';
    while (!text.includes('"id":7')) text += Buffer.from((await missed?.read())?.value ?? []).toString();
    expect(text).toContain('"structuredContent":{"done":true}');
    await missed?.cancel();
  });

  test('a question reaches the user of the client', async () => {
    const url = await listening(desk().server, { sessions: 'auto' });
    const messages: string[] = [];
    const client = clientWith(({ message }) => {
      messages.push(message);
      return {
        action: 'accept',
        content: messages.length === 1 ? { confirmed: true } : { input: 'holiday' },
      };
    });
    const transport = new StreamableHTTPClientTransport(url);
    await client.connect(transport as Transport);
    onTestFinished(() => client.close());
    expect(transport.sessionId).toBeDefined();
    const answer = await callOf(client, 'w_careful', { city: 'Rome' });
    expect(messages).toEqual(['Book Rome?', 'What shall it be called?']);
    expect(answer.structuredContent).toEqual({ result: 'holiday' });
  });
});

describe('refuses', () => {
  test.each<[string, string, number, number, unknown]>([
    ['no JSON', '{', 400, -32700, null],
    ['an empty body', '', 400, -32700, null],
    ['a batch', JSON.stringify([rpc('ping')]), 400, -32600, null],
    ['a text', '"ping"', 400, -32600, null],
    ['another version of JSON-RPC', JSON.stringify({ ...rpc('ping'), jsonrpc: '1.0' }), 400, -32600, 1],
    ['params that are a list', JSON.stringify({ ...rpc('ping'), params: [] }), 400, -32600, 1],
    [
      'initialize without params',
      JSON.stringify({ jsonrpc: '2.0', id: 3, method: 'initialize' }),
      400,
      -32602,
      3,
    ],
    ['a call without a name', JSON.stringify(rpc('tools/call', { arguments: {} })), 200, -32602, 1],
    ['an unknown method', JSON.stringify(rpc('tools/destroy')), 200, -32601, 1],
  ])('%s', async (_name, body, status, code, id) => {
    const reply = await send(handlerOf(), body);
    expect(reply.status).toBe(status);
    expect(reply.body).toMatchObject({ jsonrpc: '2.0', id, error: { code } });
  });

  test('a body beyond the limit, whatever its length says', async () => {
    const handler = handlerOf({ limits: { bodyBytes: 100 } });
    const long = JSON.stringify(rpc('ping', { text: 'x'.repeat(100) }));
    expect((await send(handler, long)).status).toBe(413);
    const stream = new ReadableStream({
      pull: (controller) => controller.enqueue(Buffer.from('x'.repeat(60))),
    });
    const request = new Request('http://localhost/mcp', {
      method: 'POST',
      headers: JSON_HEADERS,
      body: stream,
      duplex: 'half',
    } as RequestInit);
    const response = await handler(request);
    expect(response.status).toBe(413);
    expect(await response.text()).toContain('a body must not exceed 100 bytes');
    expect((await send(handler, rpc('ping'))).status).toBe(200);
  });

  test.each([
    ['another media type', { 'content-type': 'text/plain' }, 415],
    ['no accepted answer', { accept: 'text/html' }, 406],
    ['an unknown version of the protocol', { 'mcp-protocol-version': '1999-01-01' }, 400],
    ['a session that never was', { 'mcp-session-id': 'nonsense' }, 404],
    ['another host', { host: 'rebound.example' }, 403],
    ['a page of another origin', { origin: 'https://evil.example' }, 403],
  ])('%s', async (_name, headers, status) => {
    const reply = await send(handlerOf(), rpc('ping'), headers as Record<string, string>);
    expect(reply.status).toBe(status);
    expect(reply.body.error?.message).toMatch(/\w/);
  });

  test('another path, and says which one it is', async () => {
    const reply = await send(handlerOf({ path: '/tools' }), rpc('ping'));
    expect(reply.status).toBe(404);
    expect(reply.body.error?.message).toBe('Not found: /mcp. This server answers MCP at /tools');
    expect(
      (await send(handlerOf({ path: '/tools' }), rpc('ping'), {}, 'http://localhost/tools')).status,
    ).toBe(200);
  });

  test.each<[HttpSettings, string]>([
    [{ path: 'mcp' }, 'path must begin with "/"'],
    [{ path: '/mcp?a' }, 'path must begin with "/"'],
    [{ sessions: 'some' as never }, "sessions must be 'auto', 'always' or 'never'"],
    [{ limits: { bodyBytes: 0 } }, 'limits.bodyBytes must be a whole number'],
    [{ limits: { concurrent: 1.5 } }, 'limits.concurrent must be a whole number'],
    [{ allowedHosts: ['a b'] }, '`allowedHosts` lists'],
    [{ trustProxy: -1 }, 'trustProxy must be the number of proxies'],
    [{ trustProxy: true as never }, 'trustProxy must be the number of proxies'],
  ])('the setting %j', (settings, message) => {
    expect(() => handlerOf(settings)).toThrow(message);
  });
});

test.each([
  [{}, 'Invalid params of tools/call: name: is missing'],
  [{ name: 7 }, 'Invalid params of tools/call: name: must be a string'],
  [{ name: 'search', arguments: [] }, 'Invalid params of tools/call: arguments: expected an object'],
])('says what is wrong with %j', async (params, message) => {
  const { body } = await send(handlerOf(), rpc('tools/call', params));
  expect(body.error).toEqual({ code: -32602, message });
});

describe('a client behind a proxy', () => {
  /** The status of a request in a session that a client began, each with a header of its own. */
  async function inSession(settings: HttpSettings, begun: string, asked: string): Promise<number> {
    const handler = handlerOf({ sessions: 'always', ...settings });
    const first = await send(handler, initialize(), { 'x-forwarded-for': begun });
    const session = { 'mcp-session-id': first.headers.get('mcp-session-id') ?? '' };
    return (await send(handler, rpc('ping'), { ...session, 'x-forwarded-for': asked })).status;
  }

  const [one, other] = ['203.0.113.1', '203.0.113.2'];
  const isProxy = (address: string | undefined): boolean => address === '192.0.2.1';
  test.each<[string, HttpSettings, string, string, number]>([
    ['is not told from others without `trustProxy`', {}, one, other, 200],
    ['has its own address', { trustProxy: 1 }, one, other, 404],
    ['keeps its address', { trustProxy: 1 }, one, `${one}:4711`, 200],
    ['cannot send the address of another one', { trustProxy: 1 }, one, `${one}, ${other}`, 404],
    ['does not get another address by what it sends', { trustProxy: 1 }, one, `${other}, ${one}`, 200],
    ['passes the proxies of a function', { trustProxy: isProxy }, one, other, 404],
    ['passes no other proxies', { trustProxy: () => false }, one, other, 200],
    ['is the proxy where the header is malformed', { trustProxy: 1 }, 'unknown', '<b>', 200],
    ['is not the proxy where the header is malformed later', { trustProxy: 1 }, one, 'unknown', 404],
  ])('%s', async (_, settings, begun, asked, status) => {
    expect(await inSession(settings, begun, asked)).toBe(status);
  });

  test('has runs of its own to begin', async () => {
    const { server } = desk({ runs: { maxOpenRuns: 1 } });
    const handler = fetchHandler(server, { trustProxy: 1, log: () => {} });
    onTestFinished(() => handler.close());
    const begin = async (address: string): Promise<string> => {
      const call = rpc('tools/call', { name: 'w_careful', arguments: { city: 'Rome' } });
      return JSON.stringify((await send(handler, call, { 'x-forwarded-for': address })).body);
    };
    expect(await begin(one)).toContain('"status":"waiting"');
    expect(await begin(`${other}, ${one}`)).toContain('RESOURCE_EXHAUSTED');
    expect(await begin(other)).toContain('"status":"waiting"');
  });
});

describe('many requests', () => {
  test('of one caller wait for each other, another caller does not wait for them', async () => {
    const made = desk();
    const limits = { concurrentPerOwner: 1, queuedPerOwner: 1 };
    const url = await listening(made.server, { sessions: 'never', limits });
    const post = (address: string, name: string, args = {}) =>
      fetch(url, {
        method: 'POST',
        headers: { ...JSON_HEADERS, 'x-address': address },
        body: JSON.stringify(rpc('tools/call', { name, arguments: args })),
      });
    const first = post('192.0.2.1', 'slow-work');
    await made.desk.begun;
    const second = post('192.0.2.1', 'search', { city: 'Rome' });
    expect((await post('192.0.2.2', 'search', { city: 'Oslo' })).status).toBe(200);
    const third = await post('192.0.2.1', 'search', { city: 'Bern' });
    expect(third.status).toBe(429);
    expect(third.headers.get('retry-after')).toBe('1');
    expect(await third.text()).toContain('1 requests of this caller are waiting already');
    made.desk.finish({ done: true });
    expect((await first).status).toBe(200);
    expect(await (await second).json()).toMatchObject({
      result: { structuredContent: { flights: ['to Rome'] } },
    });
  });
});

describe('a page of an allowed origin', () => {
  const settings = { allowedOrigins: ['https://app.example'] };
  const origin = 'https://app.example';

  test('may ask first, and read the answer', async () => {
    const handler = handlerOf(settings);
    const preflight = await handler(
      new Request('http://localhost/mcp', { method: 'OPTIONS', headers: { origin } }),
    );
    expect(preflight.status).toBe(204);
    expect(Object.fromEntries(preflight.headers)).toMatchObject({
      'access-control-allow-origin': origin,
      'access-control-allow-methods': 'GET, POST, DELETE, OPTIONS',
      'access-control-allow-headers': expect.stringContaining('Mcp-Session-Id'),
      vary: 'Origin',
    });
    const { headers } = await send(handler, rpc('ping'), { origin });
    expect(headers.get('access-control-allow-origin')).toBe(origin);
    expect(headers.get('access-control-expose-headers')).toContain('Mcp-Session-Id');
  });

  test('reads refusals as well', async () => {
    const auth = { verify: () => undefined };
    const { status, headers } = await send(handlerOf({ ...settings, auth }), rpc('ping'), { origin });
    expect(status).toBe(401);
    expect(headers.get('access-control-allow-origin')).toBe(origin);
  });
});

test('health and readiness need no caller and no host', async () => {
  const { server } = desk();
  const handler = fetchHandler(server, { auth: { verify: () => undefined }, log: () => {} });
  const get = async (path: string) => (await handler(new Request(`http://10.0.0.9${path}`))).status;
  expect([await get('/health'), await get('/ready')]).toEqual([200, 200]);
  await server.drain();
  expect([await get('/health'), await get('/ready')]).toEqual([200, 503]);
});

test('a session whose client is gone ends after a while, one with an open stream does not', async () => {
  const handler = handlerOf({ sessions: 'always', limits: { sessionIdleMs: 20 } });
  const id = (await send(handler, initialize())).headers.get('mcp-session-id') ?? '';
  const headers = { accept: 'text/event-stream', 'mcp-session-id': id };
  const source = { remoteAddress: '192.0.2.1' };
  const stream = await handler(new Request('http://localhost/mcp', { headers }), source);
  expect(stream.status).toBe(200);
  const reader = stream.body?.getReader();
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect((await send(handler, rpc('ping'), headers)).status).not.toBe(404);
  await reader?.cancel();
  const ended = async () =>
    (await send(handler, rpc('ping'), { ...headers, ...JSON_HEADERS })).status === 404;
  await expect.poll(ended, { interval: 50, timeout: 10_000 }).toBe(true);
});

test('the clients of the SDK work with and without a session', async () => {
  for (const sessions of ['always', 'never'] as const) {
    const url = await listening(desk().server, { sessions });
    if (sessions === 'always') {
      const { client, end } = await sessionOf(url);
      expect((await callOf(client, 'search', { city: 'Rome' })).structuredContent).toEqual({
        flights: ['to Rome'],
      });
      await end();
      continue;
    }
    const client = new Client({ name: 'test', version: '1.0.0' });
    await client.connect(new StreamableHTTPClientTransport(url) as Transport);
    expect((await callOf(client, 'search', { city: 'Rome' })).structuredContent).toEqual({
      flights: ['to Rome'],
    });
    await client.close();
  }
});

test.each([undefined, '*/*', 'application/json', 'application/json;q=0.9, text/html'])(
  'a request without a session that accepts %s is answered with JSON',
  async (accept) => {
    const handler = handlerOf();
    const headers = { 'content-type': 'application/json', ...(accept === undefined ? {} : { accept }) };
    const params = accept === 'application/json' ? { _meta: { progressToken: 1 } } : {};
    const body = JSON.stringify(rpc('tools/list', params));
    const response = await handler(new Request('http://localhost/mcp', { method: 'POST', headers, body }), {
      remoteAddress: '192.0.2.1',
    });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json']);
    expect(await response.json()).toMatchObject({ id: 1, result: { tools: expect.any(Array) } });
  },
);
