import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import {
  connect,
  constants,
  createSecureServer,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from '@temporalio/worker';
import { afterAll, beforeAll, expect, inject, onTestFinished, test, vi } from 'vitest';
import { call, chain, done, graph, step } from '../../src/runtime/engine/graph.fixture.js';
import { ada, envelopeIn, ok } from '../../src/runtime/runs/store.fixture.js';
import { TLS, TLS_AUTHORITY } from '../../src/runtime/server/specs/tls.fixture.js';
import { startOrExit, untypedServer } from '../../src/runtime/transports/start-server.js';
import { interpreter } from '../../src/temporal/bundle.js';
import { startWorker, type TemporalOptions, temporal } from '../../src/temporal/index.js';
import { resolveOptions } from '../../src/temporal/options.js';
import { unreachableStore } from '../../src/temporal/run-client.js';
import { registryOf } from '../e2e/server/fixture/registry-of.js';
import { describeTemporal, TemporalHost } from './host.js';
import { opened } from './lanes.js';

/** `UNAUTHENTICATED` of gRPC. */
const UNAUTHENTICATED = '16';

test('options that are unknown or have another type are refused, all at once', () => {
  const options = { taskqueue: 'x', address: 5, maxEvents: 0, worker: 'no', tls: undefined };
  expect(() => temporal(options as unknown as TemporalOptions)).toThrow(
    /no option 'taskqueue': write 'taskQueue'; 'address' has to be a text; 'maxEvents' has to be a whole number of at least 20; 'worker' has to be true, false or an object/,
  );
  expect(resolveOptions({ address: undefined, taskQueue: 'x' } as unknown as TemporalOptions)).toMatchObject({
    address: 'localhost:7233',
    taskQueue: 'x',
  });
});

test.each([undefined, {}, { store: { open: () => ({}) } }])(
  'a worker with the options %j is refused',
  async (options) => {
    const start = startWorker as (registry: object, options?: object) => Promise<unknown>;
    await expect(start(registryOf({ tools: [] }), options)).rejects.toThrow(
      "a worker needs the option 'store': temporal://localhost:7233/default",
    );
  },
);

describeTemporal('a Temporal server behind TLS that takes an API key', () => {
  const requests: IncomingHttpHeaders[] = [];
  const proxy = createSecureServer(TLS);
  const host = new TemporalHost({ 'tool-a': () => ok('a') });
  const options = (): TemporalOptions => ({
    ...{ address: `127.0.0.1:${(proxy.address() as AddressInfo).port}`, taskQueue: host.taskQueue },
    ...{ bundlePath: inject('temporalBundle'), apiKey: 'the-key', metadata: { team: 'payments' } },
    tls: { serverRootCACertificate: Buffer.from(TLS_AUTHORITY), serverNameOverride: 'spec.example.com' },
  });
  beforeAll(async () => {
    const frontend = connect(`http://${inject('temporalAddress')}`);
    proxy.on('stream', (stream: ServerHttp2Stream, headers) => {
      if (headers.authorization !== 'Bearer the-key') {
        const refusal = { 'grpc-status': UNAUTHENTICATED, 'grpc-message': 'the key is unknown' };
        stream.respond({ 'content-type': 'application/grpc', ...refusal }, { endStream: true });
        return;
      }
      requests.push(headers);
      const { ':scheme': _, ':authority': __, ...rest } = headers;
      const request = frontend.request(rest);
      let trailers = {};
      request.on('trailers', (received) => {
        trailers = received;
      });
      request.on('response', (received, flags) => {
        // An error of gRPC has no trailers: it is in the headers.
        if ((flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0) {
          stream.respond(received, { endStream: true });
          return;
        }
        stream.once('wantTrailers', () => stream.sendTrailers(trailers));
        stream.respond(received, { waitForTrailers: true });
        request.pipe(stream);
      });
      request.on('error', () => stream.close());
      stream.on('error', () => {}).on('close', () => request.close());
      stream.pipe(request);
    });
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    afterAll(() => {
      frontend.destroy();
      proxy.close();
    });
  });

  test('has runs started and executed by a server with both', async () => {
    const store = temporal(options()).open(host.options);
    const create = vi.spyOn(Worker, 'create');
    await opened(store);
    // On a busy machine 5 s pass in the midst of a task, and Node 20 ends the process.
    expect(create).toHaveBeenCalledWith(expect.objectContaining({ isolateExecutionTimeout: 60_000 }));
    create.mockRestore();
    const run = { owner: ada, graph: graph(chain(call('a'), done('out', step('a')))), input: {} };
    expect(envelopeIn(await store.start(run, host.waiter()))).toMatchObject({ result: 'a' });
    await store.close?.();
    const paths = requests.map(({ ':path': path = '', team }) => [path.split('/').at(-1), team]);
    for (const method of ['ExecuteMultiOperation', 'PollWorkflowTaskQueue', 'PollActivityTaskQueue'])
      expect(paths).toContainEqual([method, 'payments']);
  }, 60_000);

  test.each([
    ['another key', { apiKey: 'other' }, 'the key is unknown'],
    ['another namespace', { namespace: 'other' }, 'Namespace other is not found.'],
  ])(
    'cannot be reached with %s',
    async (_what, wrong, why) => {
      const store = temporal({ ...options(), ...wrong, worker: false }).open(host.options);
      await expect(store.open?.()).rejects.toThrow(why);
    },
    60_000,
  );

  const serverRootCACertificate = Buffer.from(TLS_AUTHORITY);
  test.each<[string, () => TemporalOptions, RegExp]>([
    [
      'without the authority of its certificate',
      () => ({ ...options(), tls: true }),
      /not signed by .*serverRootCA/,
    ],
    [
      'by a name that its certificate does not have',
      () => ({ ...options(), tls: { serverRootCACertificate } }),
      /is for DNS:spec\.example\.com.*, and not for '127\.0\.0\.1'.*tls\.serverNameOverride/,
    ],
    ['without TLS', () => ({ ...options(), tls: false }), /expects TLS: set 'tls' to true/],
    [
      'by TLS at a port without it',
      () => ({ address: inject('temporalAddress') ?? '', tls: true }),
      /does not speak TLS \(.+\): set 'tls' to false, or correct the port/,
    ],
    [
      'at a port without a server',
      () => ({ address: '127.0.0.1:1' }),
      /127\.0\.0\.1:1 fails with ECONNREFUSED/,
    ],
    ['for a reason that is not in its connection', options, /cannot be reached \(the SDK says this\)/],
  ])('says why it cannot be reached %s', async (_where, wrong, why) => {
    const { message } = await unreachableStore(resolveOptions(wrong()), new Error('the SDK says this'));
    expect(message).toMatch(why);
  });

  test.each([
    ['is missing', undefined, /cannot be used \(ENOENT/],
    ['is of another version', '// stepwright 0.0.9\n', /it is not of stepwright \d/],
  ])('is not used with a bundle that %s', async (_what, text, why) => {
    const folder = mkdtempSync(join(tmpdir(), 'stepwright-bundle-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const bundlePath = join(folder, 'interpreter.js');
    if (text !== undefined) writeFileSync(bundlePath, text);
    const store = temporal({ ...options(), bundlePath }).open(host.options);
    await expect(opened(store)).rejects.toThrow(why);
    await expect(store.list(ada)).rejects.toThrow(why);
    expect(host.log.at(-1)).toMatch(why);
  });

  test('ends the program of a server that cannot execute runs, after it has started', async () => {
    const exit = vi.spyOn(process, 'exit').mockReturnValue(undefined as never);
    onTestFinished(() => exit.mockRestore());
    const store = temporal({ ...options(), bundlePath: '/missing/interpreter.js' });
    const log: string[] = [];
    const server = untypedServer(registryOf({ tools: [] }), { store, log: (line: string) => log.push(line) });
    await startOrExit(server);
    await expect.poll(() => exit.mock.calls).toEqual([[1]]);
    expect(log.join()).toMatch(/its worker cannot start: the interpreter in '\/missing\/interpreter\.js'/);
    await server.stop();
  });

  test('is not used with a bundle without the converters of its data converter', async () => {
    const dataConverter = { payloadConverterPath: '/converters.cjs' };
    await expect(
      interpreter({ bundlePath: inject('temporalBundle'), dataConverter }, new AbortController().signal),
    ).rejects.toThrow(/it is not of stepwright \S+, @temporalio\/worker \S+, and converters of a program/);
  });
});

test('a worker that is stopped does not wait for its interpreter to be bundled', async () => {
  const stopping = new AbortController();
  const bundled = interpreter({}, stopping.signal);
  stopping.abort(new Error('it is closed'));
  await expect(bundled).rejects.toThrow('it is closed');
});

test.each([
  ['temporal://localhost:7233/%zz', /its namespace '%zz' has a '%' that .*: write temporal:\/\/localhost/],
  ['temporal://localhost:7233/%ff', /its namespace '%ff' has a '%'/],
  ['temporal://u:secret@host/x', /'temporal:\/\/…@host\/x' .* it has a user/],
  ['temporal://u:se@cret@host/x', /'temporal:\/\/…@host\/x' .* it has a user/],
  ['temporal://u:secret@ho st/x', /'temporal:\/\/…@ho st\/x' .* it has no host/],
])('the name %s is refused with what to write, and without its password', (name, why) => {
  const refusal = () => temporal(name);
  expect(refusal).toThrow(expect.objectContaining({ name: 'StoreError', problem: 'name' }));
  expect(refusal).toThrow(why);
  expect(refusal).not.toThrow(/cret/);
});
