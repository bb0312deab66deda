import { randomUUID } from 'node:crypto';
import { createServer, type Server as HttpServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { isInitializeRequest } from '@modelcontextprotocol/sdk/types.js';
import { fixtureServer } from './server.fixture.js';

/** The fixture server over HTTP, for callers with a token. */
export interface HttpFixture {
  readonly url: string;
  /** Forgets all sessions, as a server does that was started again. */
  forget(): void;
  close(): Promise<void>;
}

export async function httpFixture(token: string): Promise<HttpFixture> {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const http: HttpServer = createServer(async (request, response) => {
    if (request.headers.authorization !== `Bearer ${token}`) {
      response.writeHead(401).end(`no access with ${request.headers.authorization}`);
      return;
    }
    const body = request.method === 'POST' ? await json(request) : undefined;
    const id = request.headers['mcp-session-id'];
    let transport = sessions.get(String(id));
    if (transport === undefined) {
      if (!isInitializeRequest(body)) {
        response.writeHead(404).end('no such session');
        return;
      }
      const opened: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (session) => void sessions.set(session, opened),
      });
      await fixtureServer().connect(opened as Transport);
      transport = opened;
    }
    await transport.handleRequest(request, response, body);
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const { port } = http.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    forget: () => sessions.clear(),
    close: () =>
      new Promise((resolve) => {
        http.close(() => resolve());
        http.closeAllConnections();
      }),
  };
}

async function json(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString('utf8'));
}
