import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { type StdioServer, StdioSession } from './dev-stdio.js';

/** Both ends of a pipe. A test reads its messages in turn. */
class Pipe {
  readonly stream = new PassThrough();
  readonly #lines: string[] = [];
  #rest = '';

  send(message: object): void {
    this.stream.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  /** The messages since the last look. */
  async read(): Promise<object[]> {
    await new Promise((resolve) => setTimeout(resolve, 20));
    this.#rest += String(this.stream.read() ?? '');
    const lines = this.#rest.split('\n');
    this.#rest = lines.pop() ?? '';
    this.#lines.push(...lines);
    return this.#lines.splice(0).map((line) => {
      const { jsonrpc, ...message } = JSON.parse(line) as { readonly jsonrpc: string };
      return message;
    });
  }
}

function session() {
  const [input, output] = [new Pipe(), new Pipe()];
  const stray: string[] = [];
  return {
    client: { send: (message: object) => input.send(message), read: () => output.read() },
    stray,
    session: new StdioSession(input.stream, output.stream, (line) => stray.push(line)),
  };
}

function server() {
  const [input, output] = [new Pipe(), new Pipe()];
  const pipes: StdioServer = { stdin: input.stream, stdout: output.stream };
  return { pipes, output, send: (message: object) => output.send(message), read: () => input.read() };
}

const INITIALIZE = { id: 0, method: 'initialize', params: { protocolVersion: '2025-11-25' } };
const CAPABILITIES = { tools: { listChanged: true }, prompts: { listChanged: true }, logging: {} };
const SUBSCRIBE = { id: 1, method: 'resources/subscribe', params: { uri: 'a://b' } };

test('a second server is set up as the first one, and the client hears that lists changed', async () => {
  const { client, session: one } = session();
  const [first, second] = [server(), server()];
  client.send(INITIALIZE);
  await one.attach(first.pipes);
  expect(await first.read()).toEqual([INITIALIZE]);
  first.send({ id: 0, result: { capabilities: CAPABILITIES } });
  client.send({ method: 'notifications/initialized' });
  client.send(SUBSCRIBE);
  client.send({ id: 2, method: 'resources/subscribe', params: { uri: 'c://d' } });
  client.send({ id: 3, method: 'resources/unsubscribe', params: { uri: 'c://d' } });
  for (const id of [1, 2, 3]) first.send({ id, result: {} });
  expect((await client.read()).length).toBe(4);

  await one.detach();
  client.send({ id: 4, method: 'tools/list' });
  const attached = one.attach(second.pipes);
  expect(await second.read()).toEqual([{ ...INITIALIZE, id: 'dev-setup-0' }]);
  second.send({ id: 'dev-setup-0', result: { capabilities: CAPABILITIES } });
  expect(await second.read()).toEqual([
    { method: 'notifications/initialized' },
    { ...SUBSCRIBE, id: 'dev-setup-2' },
  ]);
  second.send({ id: 'dev-setup-2', result: {} });
  await attached;
  expect(await second.read()).toEqual([{ id: 4, method: 'tools/list' }]);
  second.send({ id: 4, result: { tools: [] } });
  expect(await client.read()).toEqual([
    { method: 'notifications/tools/list_changed' },
    { method: 'notifications/prompts/list_changed' },
    { id: 4, result: { tools: [] } },
  ]);
});

test('a server that is replaced may answer soon; what it does not answer is an error, and its questions end', async () => {
  const { client, session: one } = session();
  const [first, second] = [server(), server()];
  await one.attach(first.pipes);
  client.send({ id: 1, method: 'tools/call' });
  client.send({ id: 2, method: 'tools/call' });
  first.send({ id: 7, method: 'elicitation/create' });
  expect(await client.read()).toEqual([{ id: 'dev-1-7', method: 'elicitation/create' }]);
  const detached = one.detach();
  first.send({ id: 1, result: {} });
  await detached;
  first.send({ id: 2, result: { late: true } });
  const message = 'The server was replaced after a change of its sources: repeat the request';
  expect(await client.read()).toEqual([
    { id: 1, result: {} },
    { id: 2, error: { code: -32_603, message } },
    { method: 'notifications/cancelled', params: { requestId: 'dev-1-7' } },
  ]);

  await one.attach(second.pipes);
  second.send({ id: 7, method: 'elicitation/create' });
  expect(await client.read()).toEqual([{ id: 'dev-2-7', method: 'elicitation/create' }]);
  client.send({ id: 'dev-1-7', result: { action: 'cancel' } });
  client.send({ id: 'dev-2-7', result: { action: 'accept' } });
  expect(await second.read()).toEqual([{ id: 7, result: { action: 'accept' } }]);
});

test('requests end with their server, and the next one gets those that follow', async () => {
  const { client, session: one } = session();
  const [first, second] = [server(), server()];
  await one.attach(first.pipes);
  client.send({ id: 1, method: 'tools/call' });
  expect(await first.read()).toHaveLength(1);
  first.output.stream.destroy();
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  expect(await client.read()).toMatchObject([{ id: 1, error: { code: -32_603 } }]);
  client.send({ id: 2, method: 'tools/call' });
  await one.attach(second.pipes);
  expect(await second.read()).toEqual([{ id: 2, method: 'tools/call' }]);
});

test('what a module prints is reported', async () => {
  const { client, stray, session: one } = session();
  const first = server();
  await one.attach(first.pipes);
  first.output.stream.write('{ "a": 1 }\nloaded\n');
  first.send({ method: 'notifications/progress', params: { message: 'a\u2028b' } });
  expect(await client.read()).toEqual([
    { method: 'notifications/progress', params: { message: 'a\u2028b' } },
  ]);
  expect(stray).toEqual(['{ "a": 1 }', 'loaded']);
});
