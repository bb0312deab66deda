import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Client, type ClientOptions } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { connect, type StepwrightServer } from 'stepwright/runtime';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { type CompiledPrograms, compilePrograms } from '../../compiled-programs.js';
import { nightlyTest } from '../../nightly.js';
import { desk } from '../composite/fixture/registry.js';
import { asTasks } from '../tasks/tasks.js';
import { envelope, REVISION } from './client.js';

const source = fileURLToPath(new URL('../composite/fixture/program.ts', import.meta.url));

let programs: CompiledPrograms;

beforeAll(async () => {
  programs = await compilePrograms({ program: source });
}, 120_000);

afterAll(() => programs.remove());

const PIN = { versionNegotiation: { mode: { pin: REVISION } } } as const;

/** A client of the later era with a user who books a holiday to Rome, and its process. */
async function started(options: ClientOptions = PIN, asks = true) {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [programs.file('program')],
    stderr: 'pipe',
  });
  const client = new Client(
    { name: 'new', version: '1.0.0' },
    { ...options, ...(asks ? { capabilities: { elicitation: { form: {} } } } : {}) },
  );
  if (asks)
    client.setRequestHandler('elicitation/create', ({ params: { message } }) => ({
      action: 'accept',
      content: message === 'Book Rome?' ? { confirmed: true } : { input: 'Holiday' },
    }));
  await client.connect(transport);
  onTestFinished(() => client.close());
  return { client, child: Reflect.get(transport, '_process') as ChildProcess };
}

/** A process that is sent lines, and what it writes. */
function raw() {
  const child = spawn(process.execPath, [programs.file('program')], { stdio: 'pipe' });
  onTestFinished(() => void child.kill('SIGKILL'));
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const send = (message: object | string): void =>
    void child.stdin.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`);
  const next = async () => JSON.parse(String((await lines.next()).value));
  const end = async (): Promise<unknown> => {
    child.stdin.end();
    return (await once(child, 'exit'))[0];
  };
  return { send, next, end, stderr: () => stderr };
}

const request = (id: number, method: string, params: object = {}) => ({
  jsonrpc: '2.0',
  id,
  method,
  params: { _meta: envelope(), ...params },
});
const old = (id: number, method: string, params: object = {}) => ({ jsonrpc: '2.0', id, method, params });
const initialize = (id: number) =>
  old(id, 'initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'old', version: '1.0.0' },
  });

describe('over stdio a client of the later era', () => {
  test('calls tools, gets prompts and is asked between two requests', async () => {
    const { client } = await started();
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('w_careful');
    const prompt = { name: 'book', arguments: { city: 'Rome', seats: '2' } };
    expect((await client.getPrompt(prompt)).messages.length).toBeGreaterThan(1);
    const { structuredContent } = await client.callTool({ name: 'w_careful', arguments: { city: 'Rome' } });
    expect(structuredContent).toEqual({ result: 'Holiday' });
  });

  nightlyTest('is the user who started the process: it lists its runs', async () => {
    const { client } = await started(PIN, false);
    await client.callTool({ name: 'w_careful', arguments: { city: 'Rome' } });
    const { structuredContent } = await client.callTool({ name: 'list_workflows', arguments: {} });
    expect(structuredContent).toMatchObject({ runs: [{ status: 'waiting' }] });
  });

  nightlyTest('negotiates the era by itself, and an older client is served as before', async () => {
    const { client } = await started({ versionNegotiation: { mode: 'auto' } });
    expect(client.getProtocolEra()).toBe('modern');
    const { client: older } = await started({ versionNegotiation: { mode: 'legacy' } });
    const call = { name: 'w_careful', arguments: { city: 'Rome' } };
    expect((await older.callTool(call)).structuredContent).toEqual({ result: 'Holiday' });
  });

  nightlyTest('reads progress, cancels a call and ends the process', async () => {
    const { client, child } = await started();
    const seen: unknown[] = [];
    const abort = new AbortController();
    const call = client.callTool(
      { name: 'slow-work', arguments: {} },
      { onprogress: ({ message }) => seen.push(message), signal: abort.signal },
    );
    await vi.waitFor(() => expect(seen).toEqual(['half']), 10_000);
    abort.abort(new Error('enough'));
    await expect(call).rejects.toThrow('enough');
    const exit = once(child, 'exit');
    await client.close();
    expect((await exit)[0]).toBe(0);
  });
});

describe('the first message', () => {
  test('may be garbage: the next one chooses the era', async () => {
    const { send, next, end } = raw();
    send('nonsense');
    expect(await next()).toMatchObject({ id: null, error: { code: -32700 } });
    send(request(1, 'tools/list'));
    expect(await next()).toMatchObject({ id: 1, result: { resultType: 'complete' } });
    expect(await end()).toBe(0);
  });

  nightlyTest.each([
    [
      'of the later era',
      { jsonrpc: '2.0', method: 'notifications/cancelled', params: { _meta: envelope(), requestId: 9 } },
    ],
    ['without an era', { jsonrpc: '2.0', method: 'notifications/initialized' }],
  ])('may be a notification %s', async (_, notification) => {
    const { send, next, end } = raw();
    send(notification);
    send(request(1, 'server/discover'));
    expect(await next()).toMatchObject({ id: 1, result: { supportedVersions: [REVISION] } });
    send(initialize(2));
    expect(await next()).toMatchObject({ id: 2, result: { protocolVersion: '2025-11-25' } });
    expect(await end()).toBe(0);
  });

  nightlyTest('with a revision that does not exist is refused with those that do', async () => {
    const { send, next, end } = raw();
    const _meta = { ...envelope(), 'io.modelcontextprotocol/protocolVersion': '2030-01-01' };
    send(request(1, 'tools/list', { _meta }));
    expect(await next()).toMatchObject({ id: 1, error: { code: -32022, data: { supported: [REVISION] } } });
    send(request(2, 'tools/list', { _meta: { 'io.modelcontextprotocol/protocolVersion': REVISION } }));
    expect(await next()).toMatchObject({ id: 2, error: { code: -32602 } });
    expect(await end()).toBe(0);
  });

  nightlyTest('may be missing', async () => {
    const { end, stderr } = raw();
    expect(await end()).toBe(0);
    expect(stderr()).not.toContain('client');
  });
});

nightlyTest('the end of stdin leaves a call a second for its answer, then aborts it', async () => {
  const { send, next, end, stderr } = raw();
  send(request(1, 'tools/call', { name: 'search', arguments: { city: 'Rome' } }));
  send(request(2, 'tools/call', { name: 'slow-work', arguments: {} }));
  const ended = end();
  expect(await next()).toMatchObject({ id: 1, result: { structuredContent: { flights: ['to Rome'] } } });
  expect(await ended).toBe(0);
  expect(stderr()).toContain('1 request was still in flight');
});

/** A connection as over stdio, in memory: what the client sends and receives. */
async function wired(server: StepwrightServer) {
  const [far, near] = InMemoryTransport.createLinkedPair();
  const messages: Received[] = [];
  far.onmessage = (message) => void messages.push(message as never);
  const connection = await connect(server, near, { local: true });
  await far.start();
  const send = (message: object): Promise<void> => far.send(message as never);
  const answerTo = async (message: { readonly id: number }): Promise<Received> => {
    await send(message);
    return vi.waitFor(() => {
      const answer = messages.find(({ id, method }) => id === message.id && method === undefined);
      if (answer === undefined) throw new Error('no answer yet');
      return answer;
    }, 10_000);
  };
  const received = (method: string) => messages.filter((message) => message.method === method);
  onTestFinished(() => connection.close());
  return { connection, messages, send, answerTo, received };
}

interface Received {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: Readonly<Record<string, unknown>>;
}

const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';

test('each request of one connection is answered in its era, and changes reach its subscriptions alone', async () => {
  const { server } = desk();
  const { connection, messages, send, answerTo, received } = await wired(server);
  expect(await answerTo(request(1, 'tools/list'))).toMatchObject({ result: { resultType: 'complete' } });
  const uri = 'workflow://runs/x';
  await send(request(2, 'subscriptions/listen', { notifications: { resourceSubscriptions: [uri] } }));
  await vi.waitFor(() => expect(messages.at(-1)).toMatchObject({ method: ACKNOWLEDGED }), 10_000);
  server.resourceUpdated(uri);
  server.resourceUpdated('workflow://runs/y');
  await vi.waitFor(
    () =>
      expect(messages.at(-1)).toMatchObject({ method: 'notifications/resources/updated', params: { uri } }),
    10_000,
  );
  expect(received('notifications/resources/updated')).toHaveLength(1);
  expect(await answerTo(initialize(3))).toMatchObject({ result: { protocolVersion: '2025-11-25' } });
  await connection.close();
  await connection.closed;
});

test('the revision of each request is checked', async () => {
  const { answerTo } = await wired(desk().server);
  const of = (id: number, method: string, revision: string) =>
    request(id, method, {
      _meta: { ...envelope(), 'io.modelcontextprotocol/protocolVersion': revision },
    });
  expect(await answerTo(of(1, 'tools/list', REVISION))).toMatchObject({ result: { resultType: 'complete' } });
  const requests = ['tools/list', 'server/discover', 'tools/call'].flatMap((method) =>
    ['2030-01-01', 'x'].map((requested) => ({ method, requested })),
  );
  for (const [index, { method, requested }] of requests.entries())
    expect(await answerTo(of(index + 2, method, requested))).toMatchObject({
      error: { code: -32_022, data: { supported: [REVISION], requested } },
    });
  expect(await answerTo(of(99, 'tools/list', REVISION))).toMatchObject({
    result: { resultType: 'complete' },
  });
});

describe('a subscription to tasks', () => {
  const capabilities = { elicitation: { form: {} }, extensions: { 'io.modelcontextprotocol/tasks': {} } };
  const asHost = (id: number, method: string, params: object = {}) =>
    request(id, method, { _meta: envelope(capabilities), ...params });
  const started = async () => {
    const wire = await wired(desk({ workflows: asTasks() }).server);
    const { result } = await wire.answerTo(
      asHost(1, 'tools/call', { name: 'w_careful', arguments: { city: 'Rome' } }),
    );
    const taskId = String(result?.taskId);
    const answer = async (id: number, content: object): Promise<void> => {
      const { inputRequests } = await vi.waitFor(async () => {
        const { result: task } = await wire.answerTo(asHost(id++, 'tasks/get', { taskId }));
        expect(task).toMatchObject({ status: 'input_required' });
        return task as { readonly inputRequests: object };
      }, 10_000);
      const answers = Object.keys(inputRequests).map((key) => [key, { action: 'accept', content }]);
      const inputResponses = Object.fromEntries(answers);
      await wire.answerTo(asHost(id + 50, 'tasks/update', { taskId, inputResponses }));
    };
    const listen = (id: number, notifications: object) =>
      wire.send(asHost(id, 'subscriptions/listen', { notifications }));
    return { ...wire, taskId, answer, listen };
  };

  test('has each state of its tasks until it is cancelled, beside other subjects', async () => {
    const { taskId, answer, listen, send, received, answerTo } = await started();
    await listen(900, { taskIds: [taskId, 'foreign'], toolsListChanged: true });
    await listen(901, { taskIds: [taskId] });
    await vi.waitFor(() => expect(received(ACKNOWLEDGED)).toHaveLength(2), 10_000);
    expect(received(ACKNOWLEDGED).map(({ params }) => params?.notifications)).toEqual([
      { taskIds: [taskId], toolsListChanged: true },
      { taskIds: [taskId] },
    ]);
    const meta = { _meta: envelope(capabilities) };
    await send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { ...meta, requestId: 901 } });
    await answerTo(asHost(2, 'tools/list'));
    await answer(100, { confirmed: true });
    await answer(300, { input: 'Holiday' });
    const ofSubscription = (id: number) =>
      received('notifications/tasks').filter(({ params }) => {
        const { _meta } = params as { readonly _meta: object };
        return Reflect.get(_meta, 'io.modelcontextprotocol/subscriptionId') === id;
      });
    await vi.waitFor(
      () =>
        expect(ofSubscription(900).at(-1)?.params).toMatchObject({
          taskId,
          status: 'completed',
          result: { structuredContent: { result: 'Holiday' } },
        }),
      10_000,
    );
    expect(ofSubscription(901).filter(({ params }) => params?.status === 'completed')).toEqual([]);
  });

  test('is refused where a part of its filter does not fit', async () => {
    const { answerTo } = await wired(desk().server);
    const filters = [{ taskIds: ['x'], toolsListChanged: 'yes' }, { taskIds: [5] }, { taskIds: 'x' }];
    for (const [id, notifications] of filters.entries())
      expect(await answerTo(asHost(id, 'subscriptions/listen', { notifications }))).toMatchObject({
        error: { code: -32_602 },
      });
  });

  test('is refused where the client has no tasks', async () => {
    const { answerTo } = await wired(desk().server);
    const listen = request(1, 'subscriptions/listen', { notifications: { taskIds: ['x'] } });
    expect(await answerTo(listen)).toMatchObject({
      error: {
        code: -32_021,
        data: { requiredCapabilities: { extensions: { 'io.modelcontextprotocol/tasks': {} } } },
      },
    });
  });
});
