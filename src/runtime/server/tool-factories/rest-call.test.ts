import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ToolContext } from '../../../decorators/context.js';
import { CallMask } from '../../secrets/call-mask.js';
import { toolContextOf } from '../../tools/tool-context.js';
import type { RestService } from '../../upstream/config.js';
import { RestCall, type RestRequest } from './rest-call.js';

process.env.REST_TEST_TOKEN = 'abc';

/** Answers with what it was asked, or as the path says. */
const http: Server = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const { method, url, headers } = request;
  if (url?.startsWith('/v2/empty')) response.writeHead(204).end();
  else if (url?.startsWith('/v2/text')) response.writeHead(200, { 'content-type': 'text/plain' }).end('hi');
  else if (url?.startsWith('/v2/busy'))
    response.writeHead(503, { 'retry-after': '2' }).end('too  many\nrequests');
  else if (url?.startsWith('/v2/moved')) response.writeHead(302, { location: '/v2/text' }).end();
  else if (url?.startsWith('/v2/cut')) request.socket.destroy();
  else {
    const body = Buffer.concat(chunks).toString('utf8');
    const { authorization, 'idempotency-key': key, 'content-type': type } = headers;
    response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' });
    response.end(JSON.stringify({ method, url, body, authorization, key, type }));
  }
});
let service: RestService;
beforeAll(async () => {
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const { port } = http.address() as AddressInfo;
  service = {
    baseUrl: `http://127.0.0.1:${port}/v2/`,
    headers: { Authorization: `Bearer $\{REST_TEST_TOKEN}` },
  };
});
afterAll(() => {
  http.close();
  http.closeAllConnections();
});

const context = (more: object = {}): ToolContext => {
  const { signal } = new AbortController();
  return toolContextOf({ signal, requestId: '1', progress() {}, ...more }, () => new CallMask());
};
const ask = (request: RestRequest, input: object = {}, more: object = {}) =>
  new RestCall<object, unknown>(service, request).execute(input, context(more));

describe('a request of a service', () => {
  test('has its inputs in the path and the query', async () => {
    const input = { id: 'a/b ü', tags: ['x', 'y'], page: 2, filter: { a: 1 }, none: null };
    expect(await ask({ path: '/customers/{id}' }, input)).toEqual({
      method: 'GET',
      url: '/v2/customers/a%2Fb%20%C3%BC?tags=x&tags=y&page=2&filter=%7B%22a%22%3A1%7D',
      body: '',
      authorization: 'Bearer abc',
    });
  });

  test('has its inputs in the body, and the idempotency key', async () => {
    const request = { method: 'POST', path: '/customers/{id}/notes' } as const;
    expect(await ask(request, { id: '7', text: 'hi' }, { idempotencyKey: 'k1' })).toEqual({
      method: 'POST',
      url: '/v2/customers/7/notes',
      body: '{"text":"hi"}',
      authorization: 'Bearer abc',
      key: 'k1',
      type: 'application/json',
    });
  });

  test('gives the text of another response, and null for none', async () => {
    expect(await ask({ path: '/text' })).toBe('hi');
    expect(await ask({ path: '/empty' })).toBeNull();
  });

  test('fails with the status, and the delay that the service asks for', async () => {
    await expect(ask({ path: '/busy' })).rejects.toMatchObject({
      code: 'E_REST',
      message: 'GET /v2/busy was answered with 503: too many requests',
      retryAfterMs: 2_000,
    });
    await expect(ask({ path: '/moved' })).rejects.toMatchObject({ message: expect.stringContaining('302') });
  });

  test('leaves the outcome unknown where it may have taken effect', async () => {
    const failures = await Promise.all(
      (['GET', 'POST'] as const).map((method) =>
        ask({ method, path: '/cut' }).catch((error: unknown) => error),
      ),
    );
    expect(failures).toMatchObject([{ code: 'E_REST' }, { code: 'E_REST', outcomeUnknown: true }]);
    expect(failures[0]).not.toHaveProperty('outcomeUnknown');
  });

  test.each(['', '.', '..'])('cannot climb by %j in its path', async (id) => {
    await expect(ask({ path: '/customers/{id}' }, { id })).rejects.toMatchObject({ code: 'E_REST' });
  });

  test('is cancelled with its call', async () => {
    const stop = AbortSignal.abort(new Error('stopped'));
    await expect(ask({ path: '/text' }, {}, { signal: stop })).rejects.toThrow('stopped');
  });

  test('needs the variables of its service', async () => {
    const other = new RestCall<object, unknown>({ baseUrl: `$\{REST_TEST_NOTHING}` }, { path: '/' });
    await expect(other.execute({}, context())).rejects.toMatchObject({ code: 'E_UPSTREAM_CONFIG' });
  });
});
