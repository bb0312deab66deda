import { createServer as createHttpServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { AuthInfo } from '@modelcontextprotocol/sdk/server/auth/types.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { connect } from 'stepwright/runtime';
import { describe, expect, onTestFinished, test } from 'vitest';
import { callOf, clientWith, failureIn, runIn, type User } from './client.js';
import { desk } from './fixture/registry.js';

/** A server over HTTP: one transport for each session, and whoever brings a token is its client. */
async function listening(): Promise<{ url: URL }> {
  const { server } = desk();
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const http: Server = createHttpServer(async (request: IncomingMessage & { auth?: AuthInfo }, response) => {
    const [, token] = request.headers.authorization?.split(' ') ?? [];
    if (token !== undefined) request.auth = { token, clientId: token, scopes: [] };
    const session = sessions.get(String(request.headers['mcp-session-id'] ?? ''));
    if (session !== undefined) return session.handleRequest(request, response);
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (id) => void sessions.set(id, transport),
    });
    await connect(server, transport as Transport, { log: () => {} });
    return transport.handleRequest(request, response);
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    http.closeAllConnections();
    http.close();
  });
  const { port } = http.address() as AddressInfo;
  return { url: new URL(`http://127.0.0.1:${port}/mcp`) };
}

async function session(url: URL, token?: string, user?: User): Promise<Client> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const transport = new StreamableHTTPClientTransport(url, { requestInit: { headers } });
  const client = clientWith(user);
  await client.connect(transport as Transport);
  onTestFinished(() => client.close());
  await client.listTools();
  return client;
}

describe('over HTTP', () => {
  test('a run belongs to the client that was authenticated, in any session of it', async () => {
    const { url } = await listening();
    const ada = await session(url, 'ada');
    const workflow_id = runIn(await callOf(ada, 'w_careful', { city: 'Rome' }));
    const eve = await session(url, 'eve');
    const nobody = await session(url);
    const made = await callOf(eve, 'submit_result', { workflow_id: '0'.repeat(32), result: true });
    for (const other of [eve, nobody]) {
      const refused = await callOf(other, 'submit_result', { workflow_id, result: true });
      const { message } = failureIn(made) ?? {};
      // Word for word what an id that never was is told.
      expect(failureIn(refused)).toEqual({
        ...failureIn(made),
        message: String(message).replace('0'.repeat(32), workflow_id),
      });
      expect((await callOf(other, 'list_workflows')).structuredContent?.runs).toEqual([]);
    }
    const elsewhere = await session(url, 'ada');
    const next = await callOf(elsewhere, 'submit_result', { workflow_id, result: true });
    expect(next.structuredContent).toMatchObject({ status: 'waiting', action: { step_id: 'label' } });
  });

  test('two sessions of one client answer at once: one answer is consumed', async () => {
    const { url } = await listening();
    const [here, there] = [await session(url, 'ada'), await session(url, 'ada')];
    const workflow_id = runIn(await callOf(here, 'w_careful', { city: 'Rome' }));
    const answers = await Promise.all([
      callOf(here, 'submit_result', { workflow_id, action_id: 'sure#1', result: true }),
      callOf(there, 'submit_result', { workflow_id, action_id: 'sure#1', result: false }),
    ]);
    expect(
      answers.filter(({ isError }) => isError === true).map((answer) => failureIn(answer)?.code),
    ).toEqual(['ALREADY_SUBMITTED']);
  });

  test('a question is put to the user of the client that called', async () => {
    const { url } = await listening();
    const ada = await session(url, 'ada', ({ message }) => ({
      action: 'accept',
      content: message === 'Book Rome?' ? { confirmed: true } : { input: 'Holiday' },
    }));
    expect((await callOf(ada, 'w_careful', { city: 'Rome' })).structuredContent).toEqual({
      result: 'Holiday',
    });
  });
});
