import { Tool } from 'stepwright';
import { createServer, upstreamServers } from 'stepwright/runtime';
import { describe, expect, test } from 'vitest';
import { desk } from '../composite/fixture/registry.js';
import { listening, sessionOf } from '../composite/http.js';
import { registryOf } from '../server/fixture/registry-of.js';
import { post, REVISION, statelessClient } from './client.js';

describe('one address answers both eras', () => {
  test('with the same lists and results', async () => {
    const url = await listening(desk().server);
    const client = await statelessClient(url);
    const { client: old } = await sessionOf(url, {});
    expect((await client.listTools()).tools).toEqual((await old.listTools()).tools);
    expect((await client.listPrompts()).prompts).toEqual((await old.listPrompts()).prompts);
    expect((await client.listResources()).resources).toEqual((await old.listResources()).resources);
    const call = { name: 'create-booking', arguments: { city: 'Rome', seats: 2 } };
    const [result, oldResult] = [await client.callTool(call), await old.callTool(call)];
    expect(result.structuredContent).toMatchObject({ city: 'Rome', seats: 2 });
    expect(Object.keys(result)).toEqual(expect.arrayContaining(Object.keys(oldResult)));
    const prompt = { name: 'book', arguments: { city: 'Rome', seats: '2' } };
    const { messages } = await client.getPrompt(prompt);
    expect(messages.length).toBeGreaterThan(1);
    expect(messages.map(({ role }) => role)).toEqual(
      (await old.getPrompt(prompt)).messages.map(({ role }) => role),
    );
  });

  test('and says which revision it has', async () => {
    const url = await listening(desk().server);
    const response = await post(url, 'server/discover');
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({
      result: { supportedVersions: [REVISION], capabilities: { tools: {}, prompts: {}, resources: {} } },
    });
  });

  test('and reports progress of a call', async () => {
    const url = await listening(desk().server);
    const client = await statelessClient(url);
    const seen: number[] = [];
    const onprogress = ({ progress }: { readonly progress: number }): void => void seen.push(progress);
    const call = { name: 'w_book', arguments: { city: 'Rome', seats: 2 } };
    expect((await client.callTool(call, { onprogress })).isError).not.toBe(true);
    expect(seen.length).toBeGreaterThan(0);
  });
});

@Tool({ name: 'route', description: 'Has its input in a header as well' })
class Route {
  execute({ region }: { region: string }) {
    return { region };
  }
}

test('a call repeats in headers what the schema of its tool says', async () => {
  const region = { type: 'string', 'x-mcp-header': 'Region' };
  const input = { type: 'object', properties: { region } };
  const url = await listening(createServer(registryOf({ tools: [{ class: Route, input }] })));
  const routed = async (headers: Record<string, string>) => {
    const params = { name: 'route', arguments: { region: 'eu' } };
    const response = await post(url, 'tools/call', { params, headers: { 'mcp-name': 'route', ...headers } });
    return [response.status, await response.json()];
  };
  expect(await routed({ 'mcp-param-region': 'eu' })).toMatchObject([
    200,
    { result: { resultType: 'complete' } },
  ]);
  for (const headers of [{}, { 'mcp-param-region': 'us' }] as const)
    expect(await routed(headers)).toMatchObject([400, { error: { code: -32_020 } }]);
  const upstream = upstreamServers({ routes: { url: String(url) } });
  const { signal } = new AbortController();
  // The first call does not know the schema of its tool yet.
  for (const region of ['eu', 'Zürich'])
    expect(
      await upstream.call({ server: 'routes', tool: 'route' }, { region }, { signal, progress: () => {} }),
    ).toMatchObject({ isError: false, structuredContent: { region } });
  await upstream.close();
});

describe('a request of the era without connections is refused', () => {
  const call = { name: 'create-booking', arguments: {} };

  test.each([
    ['of a method that it does not have', 'resources/subscribe', { params: { uri: 'a:b' } }, 404, -32_601],
    ['of a method that was removed', 'initialize', {}, 404, -32_601],
    ['with a malformed `_meta`', 'tools/call', { params: { ...call, _meta: {} } }, 400, -32_602],
    [
      'of a later revision',
      'tools/list',
      { headers: { 'mcp-protocol-version': '2030-01-01' } },
      400,
      undefined,
    ],
  ])('%s', async (_, method, more, status, code) => {
    const response = await post(await listening(desk().server), method, more);
    expect(response.status).toBe(status);
    const { error } = (await response.json()) as { readonly error: { readonly code: number } };
    if (code !== undefined) expect(error.code).toBe(code);
    else expect(error.code).toBeLessThan(0);
  });

  const one = (problem: string): string => `Invalid params of METHOD: ${problem}`;

  test.each([
    ['prompts/get', { name: 'book', arguments: { city: 5 } }, "argument 'city'"],
    ['prompts/get', {}, one('name: is missing')],
    ['resources/read', {}, one('uri: is missing')],
    ['resources/read', { uri: 5 }, one('uri: must be a string')],
    ['tools/list', { cursor: 5 }, one('cursor: must be a string')],
    ['completion/complete', {}, one('ref: expected { type: "ref/prompt", name }')],
    ['tools/call', { name: 5 }, one('name: must be a string')],
    ['tools/call', { ...call, inputResponses: 5 }, one('inputResponses: expected an object')],
  ])('with params of another type: %s %j', async (method, params, problem) => {
    const { name, uri } = params as Readonly<Record<string, unknown>>;
    const headers = { 'mcp-name': String(name ?? uri ?? 'x') };
    const response = await post(await listening(desk().server), method, { params, headers });
    const message = expect.stringContaining(problem.replace('METHOD', method));
    expect(await response.json()).toMatchObject({ error: { code: -32_602, message } });
  });

  test('with params that name what is not there', async () => {
    const url = await listening(desk().server);
    const response = await post(url, 'tools/call', {
      params: { name: 'no-such-tool' },
      headers: { 'mcp-name': 'no-such-tool' },
    });
    expect(await response.json()).toMatchObject({
      error: { code: -32_602, message: expect.stringContaining('no-such-tool') },
    });
  });

  test('from a page of another origin, and without a token that it needs', async () => {
    const url = await listening(desk().server, { auth: { verify: () => undefined } });
    expect((await post(url, 'tools/list', { headers: { origin: 'http://elsewhere.test' } })).status).toBe(
      403,
    );
    expect((await post(url, 'tools/list')).status).toBe(401);
  });
});
