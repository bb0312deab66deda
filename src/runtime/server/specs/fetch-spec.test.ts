import { createServer as createHttpServer, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { setTimeout as later } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { RemoteSpecs } from '../options.js';
import { type FetchOptions, fetchSpec, type HostAddress } from './spec-loader.js';
import { TLS } from './tls.fixture.js';
import { UrlRules } from './url-rules.js';

const LOCAL: HostAddress = { address: '127.0.0.1', family: 4 };
const SPEC = 'workflows: {}\n';

interface Site {
  readonly port: number;
  readonly paths: string[];
  /** Headers of the requests. */
  readonly headers: Record<string, unknown>[];
}

/** A web server of this machine, until the test ends. */
async function site(answer: RequestListener, isTls = false): Promise<Site> {
  const paths: string[] = [];
  const headers: Record<string, unknown>[] = [];
  const listener: RequestListener = (request, response) => {
    paths.push(request.url ?? '');
    headers.push(request.headers);
    answer(request, response);
  };
  const server = isTls ? createTlsServer(TLS, listener) : createHttpServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, paths, headers };
}

function send(response: ServerResponse, body: string | Buffer = SPEC, headers: object = {}): void {
  response.writeHead(200, { 'content-type': 'application/yaml', ...headers });
  response.end(body);
}

function redirect(response: ServerResponse, location: string, status = 302): void {
  response.writeHead(status, { location });
  response.end();
}

function read(url: string, remote: RemoteSpecs, options: Omit<Partial<FetchOptions>, 'rules'> = {}) {
  const rules = new UrlRules(remote);
  return fetchSpec(rules.check(url), { rules, ...options });
}

/** Reads from a site over HTTP. */
function readFrom({ port }: Site, path = '/a.yaml', options: Omit<Partial<FetchOptions>, 'rules'> = {}) {
  const origin = `http://127.0.0.1:${port}`;
  return read(`${origin}${path}`, { allow: [origin] }, options);
}

describe('a response', () => {
  test('gives its text and its format', async () => {
    const web = await site((_request, response) => send(response));
    expect(await readFrom(web)).toEqual({ text: SPEC, format: 'yaml' });
    expect(web.headers[0]).toMatchObject({ 'accept-encoding': 'identity' });
  });

  test.each([
    ['application/json; charset=utf-8', '/a', 'json'],
    ['text/xml', '/a', 'xml'],
    ['TEXT/Plain', '/a.yml', 'yaml'],
  ])('of %s at %s is %s', async (type, path, format) => {
    const web = await site((_request, response) => send(response, SPEC, { 'content-type': type }));
    expect(await readFrom(web, path)).toMatchObject({ format });
  });

  test.each([
    ['text/html', '/a.yaml', /content type is 'text\/html'/],
    ['text/plain', '/a', /content type is 'text\/plain'/],
    ['', '/a.yaml', /content type is ''/],
  ])('of %s at %s is refused', async (type, path, message) => {
    const web = await site((_request, response) => send(response, SPEC, { 'content-type': type }));
    await expect(readFrom(web, path)).rejects.toThrow(message);
  });

  test.each([204, 404, 500])('with the status %i is refused', async (status) => {
    const web = await site((_request, response) => {
      response.writeHead(status);
      response.end();
    });
    await expect(readFrom(web)).rejects.toThrow(`status ${status}`);
  });

  test('that is compressed is refused, so that it cannot grow', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000, 'a'));
    const web = await site((_request, response) => send(response, bomb, { 'content-encoding': 'gzip' }));
    await expect(readFrom(web)).rejects.toThrow(/compressed \(gzip\)/);
  });

  test('that is too long is refused', async () => {
    const web = await site((_request, response) => send(response, 'a'.repeat(262_145)));
    await expect(readFrom(web)).rejects.toThrow(/more than 262144 bytes/);
  });

  test('without end is refused, and its connection ended', async () => {
    let end: () => void = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const web = await site((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/yaml' });
      const more = (): void => {
        while (!response.destroyed && response.write('# more\n'.repeat(1_000)));
      };
      response.on('drain', more);
      response.once('close', end);
      more();
    });
    await expect(readFrom(web)).rejects.toThrow(/more than 262144 bytes/);
    await ended;
  });

  test('that is slow is refused, whatever has come', async () => {
    const web = await site(async (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/yaml' });
      while (!response.destroyed) {
        response.write('#');
        await later(5);
      }
    });
    await expect(readFrom(web, '/a.yaml', { limits: { totalMs: 60 } })).rejects.toThrow(/within 60 ms/);
  });

  test('that never comes is refused', async () => {
    const web = await site(() => {});
    await expect(readFrom(web, '/a.yaml', { limits: { totalMs: 60 } })).rejects.toThrow(/within 60 ms/);
  });

  test('that is cut off is refused', async () => {
    const web = await site((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/yaml', 'content-length': '100' });
      response.write('a', () => response.destroy());
    });
    await expect(readFrom(web)).rejects.toThrow(/the connection failed/);
  });

  test('that is not UTF-8 is refused', async () => {
    const web = await site((_request, response) => send(response, Buffer.from([0x61, 0xff])));
    await expect(readFrom(web)).rejects.toThrow(/not UTF-8/);
  });
});

describe('a redirect', () => {
  test('to an allowed address is followed', async () => {
    const web = await site((request, response) =>
      request.url === '/b.yaml' ? send(response) : redirect(response, 'b.yaml', 307),
    );
    expect(await readFrom(web)).toMatchObject({ text: SPEC });
    expect(web.paths).toEqual(['/a.yaml', '/b.yaml']);
  });

  test.each([
    'http://169.254.169.254/latest/meta-data',
    'https://10.0.0.1/a.yaml',
    'file:///etc/passwd',
    'http://user:password@127.0.0.1/a.yaml',
  ])('to %s is refused', async (location) => {
    const web = await site((_request, response) => redirect(response, location));
    await expect(readFrom(web)).rejects.toThrow(/which is not among the addresses/);
    expect(web.paths).toHaveLength(1);
  });

  test('out of the allowed path is refused', async () => {
    const web = await site((_request, response) => redirect(response, '/flows/../secret.yaml'));
    const origin = `http://127.0.0.1:${web.port}`;
    await expect(read(`${origin}/flows/a.yaml`, { allow: [`${origin}/flows/`] })).rejects.toThrow(
      /redirected to .*\/secret\.yaml/,
    );
    expect(web.paths).toEqual(['/flows/a.yaml']);
  });

  test('is followed three times at most', async () => {
    const web = await site((request, response) => redirect(response, `${request.url}x`));
    await expect(readFrom(web, '/a')).rejects.toThrow(/more than 3 times/);
    expect(web.paths).toEqual(['/a', '/ax', '/axx', '/axxx']);
  });

  test('without an address is refused', async () => {
    const web = await site((_request, response) => {
      response.writeHead(302);
      response.end();
    });
    await expect(readFrom(web)).rejects.toThrow(/comes without an address/);
  });
});

describe('a host', () => {
  beforeEach(() => {
    // The certificate of these tests is signed by itself.
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    return () => vi.unstubAllEnvs();
  });

  const allowAddresses = ['127.0.0.1/32'];

  test('is connected to at the address that was checked, whatever its name resolves to later', async () => {
    const web = await site((_request, response) => send(response), true);
    const lookup = vi
      .fn<NonNullable<FetchOptions['lookup']>>()
      .mockResolvedValueOnce([LOCAL])
      .mockResolvedValue([{ address: '10.0.0.1', family: 4 }]);
    const origin = `https://spec.example.com:${web.port}`;
    const remote = { allow: [origin], allowAddresses };
    expect(await read(`${origin}/a.yaml`, remote, { lookup })).toMatchObject({ text: SPEC });
    expect(lookup.mock.calls).toEqual([['spec.example.com']]);
    // A later look-up is checked again.
    await expect(read(`${origin}/a.yaml`, remote, { lookup })).rejects.toThrow(
      /10\.0\.0\.1, which is private/,
    );
    expect(web.paths).toHaveLength(1);
  });

  test('is resolved and checked again for a redirect', async () => {
    const web = await site((_request, response) => redirect(response, '/b.yaml'), true);
    const lookup = vi
      .fn<NonNullable<FetchOptions['lookup']>>()
      .mockResolvedValueOnce([LOCAL])
      .mockResolvedValue([{ address: '169.254.169.254', family: 4 }]);
    const origin = `https://spec.example.com:${web.port}`;
    await expect(read(`${origin}/a.yaml`, { allow: [origin], allowAddresses }, { lookup })).rejects.toThrow(
      /169\.254\.169\.254, which is linkLocal/,
    );
    expect(web.paths).toHaveLength(1);
  });

  test('with one address that is not allowed is not connected to', async () => {
    const web = await site((_request, response) => send(response), true);
    const lookup = async () => [LOCAL, { address: '::1', family: 6 }];
    const origin = `https://spec.example.com:${web.port}`;
    await expect(read(`${origin}/a.yaml`, { allow: [origin], allowAddresses }, { lookup })).rejects.toThrow(
      /::1, which is loopback; list its network in specs\.remote\.allowAddresses/,
    );
    expect(web.paths).toEqual([]);
  });

  test('that is loopback by name alone gets no http', async () => {
    const web = await site((_request, response) => send(response));
    const origin = `http://localhost:${web.port}`;
    const remote = { allow: [origin] };
    expect(await read(`${origin}/a.yaml`, remote, { lookup: async () => [LOCAL] })).toBeDefined();
    const lookup = async () => [{ address: '192.168.1.1', family: 4 }];
    await expect(read(`${origin}/a.yaml`, remote, { lookup })).rejects.toThrow(/http is for loopback/);
  });

  test('that is not resolved is refused', async () => {
    const lookup = () => Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' }));
    const remote = { allow: ['https://spec.example.com'] };
    const url = 'https://spec.example.com/a.yaml';
    await expect(read(url, remote, { lookup })).rejects.toThrow(/not resolved \(ENOTFOUND\)/);
    await expect(read(url, remote, { lookup: async () => [] })).rejects.toThrow(/not resolved/);
  });

  test('gets the headers of its origin, and no other origin does', async () => {
    const other = await site((_request, response) => send(response), true);
    const web = await site(
      (_request, response) => redirect(response, `https://other.example.com:${other.port}/b.yaml`),
      true,
    );
    const origin = `https://spec.example.com:${web.port}`;
    const remote: RemoteSpecs = {
      allow: [origin, `https://other.example.com:${other.port}`],
      allowAddresses,
      headers: { [origin]: { authorization: 'Bearer secret' } },
    };
    expect(await read(`${origin}/a.yaml`, remote, { lookup: async () => [LOCAL] })).toBeDefined();
    expect(web.headers[0]).toMatchObject({ authorization: 'Bearer secret' });
    expect(other.headers[0]).not.toHaveProperty('authorization');
  });

  test('is not redirected from https to http', async () => {
    const plain = await site((_request, response) => send(response));
    const web = await site(
      (_request, response) => redirect(response, `http://127.0.0.1:${plain.port}/a.yaml`),
      true,
    );
    const origin = `https://spec.example.com:${web.port}`;
    const remote = { allow: [origin, `http://127.0.0.1:${plain.port}`], allowAddresses };
    await expect(read(`${origin}/a.yaml`, remote, { lookup: async () => [LOCAL] })).rejects.toThrow(
      /redirected from https to/,
    );
    expect(plain.paths).toEqual([]);
  });
});
