import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { connect, createServer } from 'stepwright/runtime';
import { describe, expect, onTestFinished, test } from 'vitest';
import { factories, registry } from './fixture/registry.js';
import { Probe } from './fixture/tools.js';

interface Bare {
  readonly send: (message: object) => Promise<void>;
  readonly answers: JSONRPCMessage[];
  readonly log: string[];
  readonly probe: Probe;
  readonly connection: Awaited<ReturnType<typeof connect>>;
}

/** A connection without a client of the SDK. */
async function bare(): Promise<Bare> {
  const probe = new Probe();
  const server = createServer(registry, { tools: factories(probe) });
  const [near, far] = InMemoryTransport.createLinkedPair();
  const answers: JSONRPCMessage[] = [];
  near.onmessage = (message) => void answers.push(message);
  const log: string[] = [];
  const connection = await connect(server, far, { log: (text) => log.push(text) });
  onTestFinished(() => connection.close());
  const send = (message: object) => near.send({ jsonrpc: '2.0', ...message } as JSONRPCMessage);
  return { send, answers, log, probe, connection };
}

const call = (id: number, name: string, args: object = {}) => ({
  id,
  method: 'tools/call',
  params: { name, arguments: args },
});

describe('the end of a connection with a grace', () => {
  test('waits for the answers of requests in flight', async () => {
    const { send, answers, log, probe, connection } = await bare();
    await send(call(1, 'meet', { text: 'a' }));
    const ended = connection.close({ graceMs: 10_000 });
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    expect(answers).toStrictEqual([]);
    void probe.meet();
    await ended;
    expect(answers).toMatchObject([{ id: 1, result: { structuredContent: { text: 'a' } } }]);
    expect(log).toStrictEqual([]);
  });

  test('answers requests that arrived just before', async () => {
    const { send, answers, connection } = await bare();
    await send({ id: 1, method: 'ping' });
    await send(call(2, 'echo', { text: 'hi' }));
    await connection.close({ graceMs: 10_000 });
    expect(answers.map((answer) => 'id' in answer && answer.id)).toStrictEqual([1, 2]);
  });

  test('aborts what takes longer, and says so', async () => {
    const { send, answers, log, probe, connection } = await bare();
    await send(call(1, 'hang'));
    await probe.reached;
    await connection.close({ graceMs: 1 });
    await probe.aborted;
    expect(answers).toStrictEqual([]);
    expect(log).toStrictEqual(['the client hung up: 1 request was still in flight and aborted']);
  });
});

test('progress comes before its answer even where a turn of messages arrives in one chunk', async () => {
  const server = createServer(registry, { tools: factories(new Probe()) });
  const [near, far] = InMemoryTransport.createLinkedPair();
  const deliver = far.send.bind(far);
  let chunk: JSONRPCMessage[] = [];
  far.send = async (message) => {
    chunk.push(message);
    if (chunk.length > 1) return;
    setImmediate(() => {
      const messages = chunk;
      chunk = [];
      for (const each of messages) void deliver(each);
    });
  };
  const connection = await connect(server, far);
  const client = new Client({ name: 'test', version: '1.0.0' });
  const complaints: Error[] = [];
  client.onerror = (error) => complaints.push(error);
  await client.connect(near);
  onTestFinished(async () => {
    await client.close();
    await connection.closed;
  });
  const seen: unknown[] = [];
  await client.callTool({ name: 'report' }, undefined, { onprogress: (progress) => seen.push(progress) });
  expect(complaints).toStrictEqual([]);
  expect(seen).toHaveLength(2);
});

test('a malformed notification is reported in one line', async () => {
  const { send, log } = await bare();
  await send({ method: 'notifications/cancelled', params: { requestId: {} } });
  await new Promise((resolve) => setImmediate(resolve));
  expect(log).toStrictEqual(['a message of the client was ignored: Uncaught error in notification handler']);
});
