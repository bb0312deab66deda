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
import { describe, expect, test } from 'vitest';
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
