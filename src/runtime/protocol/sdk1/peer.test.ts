import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { Protocol } from '@modelcontextprotocol/sdk/shared/protocol.js';
import type {
  JSONRPCMessage,
  Notification,
  Request,
  Result,
  ServerCapabilities,
} from '@modelcontextprotocol/sdk/types.js';
import { JSONRPCMessageSchema } from '@modelcontextprotocol/sdk/types.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkMessage } from './adapter.js';
import { ProtocolServer } from './peer.js';

const INFO = { name: 'shop', version: '1.0.0' };
const CLIENT = { name: 'client', version: '2.0.0', title: 'Client' };

/** Sends messages to a server, and returns those that it sends, up to the answer to the last one. */
async function exchange(
  server: Protocol<Request, Notification, Result>,
  ...messages: readonly object[]
): Promise<readonly JSONRPCMessage[]> {
  const [client, ours] = InMemoryTransport.createLinkedPair();
  await server.connect(ours);
  const received: JSONRPCMessage[] = [];
  const last = new Promise<void>((resolve) => {
    const onmessage = (message: JSONRPCMessage): void => {
      received.push(message);
      if ('id' in message && message.id === messages.length) resolve();
    };
    client.onmessage = onmessage;
  });
  await client.start();
  for (const [index, message] of messages.entries())
    await client.send({ jsonrpc: '2.0', id: index + 1, ...message } as JSONRPCMessage);
  await last;
  await server.close();
  return received;
}

const initialize = (protocolVersion: string) => ({
  method: 'initialize',
  params: { protocolVersion, capabilities: { sampling: {} }, clientInfo: CLIENT },
});

describe('the protocol of a server', () => {
  test.each(['2024-11-05', '2025-06-18', '2025-11-25', '1999-01-01', ''])(
    'answers a client of version "%s" as the server of the SDK does',
    async (version) => {
      const capabilities = { tools: {}, logging: {} };
      for (const instructions of [undefined, '', 'Read first.']) {
        const more = instructions === undefined ? {} : { instructions };
        const ours = new ProtocolServer({ info: INFO, capabilities, ...more });
        const theirs = new Server(INFO, { capabilities, ...more });
        const messages = [initialize(version), { method: 'ping' }];
        const answers = await exchange(ours, ...messages);
        expect(answers).toHaveLength(2);
        expect(answers).toEqual(await exchange(theirs, ...messages));
      }
    },
  );

  test('says what is wrong with the params of `initialize`, without the list of the SDK', async () => {
    const server = new ProtocolServer({ info: INFO, capabilities: {} });
    const [answer] = await exchange(server, { method: 'initialize', params: { capabilities: {} } });
    const message = expect.stringMatching(/^Invalid params of initialize: protocolVersion: .*; clientInfo: /);
    expect(answer).toEqual({ jsonrpc: '2.0', id: 1, error: { code: -32602, message } });
    expect(server.getClientVersion()).toBeUndefined();
  });

  test('knows its client once that has introduced itself', async () => {
    const server = new ProtocolServer({ info: INFO, capabilities: {} });
    expect([server.getClientCapabilities(), server.getClientVersion()]).toEqual([undefined, undefined]);
    await exchange(server, initialize('2025-06-18'));
    expect(server.getClientCapabilities()).toEqual({ sampling: {} });
    expect(server.getClientVersion()).toEqual(CLIENT);
  });

  test.each<[ServerCapabilities, number]>([
    [{ logging: {} }, 1],
    [{}, 0],
  ])('with capabilities %j sends %i log messages', async (capabilities, count) => {
    const server = new ProtocolServer({ info: INFO, capabilities });
    const [client, ours] = InMemoryTransport.createLinkedPair();
    const received: JSONRPCMessage[] = [];
    const onmessage = (message: JSONRPCMessage): void => void received.push(message);
    client.onmessage = onmessage;
    await server.connect(ours);
    await client.start();
    const sent = server.notification({
      method: 'notifications/message',
      params: { level: 'info', data: 'text' },
    });
    await (count === 0 ? expect(sent).rejects.toThrow('did not offer to log') : sent);
    expect(received).toHaveLength(count);
    await server.close();
  });

  test('lets a handler answer a request that asks for a task', async () => {
    const server = new ProtocolServer({ info: INFO, capabilities: { tools: {} } });
    server.fallbackRequestHandler = async () => ({ content: [] });
    const call = { method: 'tools/call', params: { name: 'a', arguments: {}, task: { ttl: 1 } } };
    const [, answer] = await exchange(server, initialize('2025-06-18'), call);
    expect(answer).toEqual({ jsonrpc: '2.0', id: 2, result: { content: [] } });
  });
});

/** Messages, and what resembles them. */
const meta = fc.record(
  {
    progressToken: fc.constantFrom('a', 1, 1.5, null),
    'io.modelcontextprotocol/related-task': fc.constantFrom({ taskId: 'a' }, { taskId: 1 }, 'a'),
    other: fc.constant(1),
  },
  { requiredKeys: [] },
);
const body = fc.oneof(
  fc.record({ _meta: fc.oneof(meta, fc.constantFrom(null, [])), name: fc.jsonValue() }, { requiredKeys: [] }),
  fc.constantFrom<unknown>(null, [], 'a'),
);
const like = fc.record(
  {
    jsonrpc: fc.constantFrom('2.0', '2.0', '2.0', '1.0'),
    id: fc.constantFrom<unknown>('a', '', 1, -1, 1.5, 2 ** 53, null),
    method: fc.constantFrom<unknown>('ping', '', 1),
    params: body,
    result: body,
    error: fc.oneof(
      fc.record(
        {
          code: fc.constantFrom<unknown>(1, 1.5, '1'),
          message: fc.constantFrom<unknown>('a', 1),
          data: fc.jsonValue(),
        },
        { requiredKeys: [] },
      ),
      fc.constantFrom<unknown>(null, 'a'),
    ),
    more: fc.constant(1),
  },
  { requiredKeys: [] },
);

/** Mostly with the members of one kind of message. */
const members = fc.constantFrom<readonly string[]>(
  ['jsonrpc', 'id', 'method', 'params'],
  ['jsonrpc', 'method', 'params'],
  ['jsonrpc', 'id', 'result'],
  ['jsonrpc', 'id', 'error'],
  ['jsonrpc', 'id', 'method', 'params', 'result', 'error', 'more'],
);

test('the messages that are taken are those of the SDK', () => {
  fc.assert(
    fc.property(like, members, (all, names) => {
      const value = Object.fromEntries(Object.entries(all).filter(([name]) => names.includes(name)));
      expect(checkMessage(value).ok).toBe(JSONRPCMessageSchema.safeParse(value).success);
    }),
    { numRuns: 500 },
  );
});
