import { randomUUID } from 'node:crypto';
import { createServer, type Server as HttpServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { isInitializeRequest } from '@modelcontextprotocol/sdk/types.js';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { fixtureServer, modernServer } from './server.fixture.js';

/** The fixture server over HTTP. */
export interface HttpFixture {
  readonly url: string;
  /** The methods of all requests, in their order. */
  readonly methods: readonly string[];
  /** How many streams of messages were asked for. */
  readonly streams: number;
  /** Forgets all sessions, as a server does that was started again. */
  forget(): void;
  /** Says to subscriptions of 2026-07-28 that the tools have changed. */
  announce(): void;
  /** Ends all connections, and takes new ones. */
  drop(): void;
  close(): Promise<void>;
}

/** Who may call the fixture server, as an authorization server decides. */
export interface Protection {
  /** The address of the authorization server. */
  readonly issuer: string;
  accepts(authorization: string | undefined): boolean | Promise<boolean>;
}

/**
 * @param access the token that callers have to send, or who decides; without it all are served.
 * @param isModern whether it serves revision 2026-07-28 alone, and not those before it.
 */
export async function httpFixture(access?: string | Protection, isModern = false): Promise<HttpFixture> {
  const modern = createMcpHandler(modernServer, { legacy: 'reject' });
  const answerModern = getRequestListener((request) => modern.fetch(request), {
    overrideGlobalObjects: false,
  });
  const methods: string[] = [];
  let streams = 0;
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const http: HttpServer = createServer(async (request, response) => {
    const { authorization } = request.headers;
    if (typeof access === 'object' && request.url?.startsWith('/.well-known/oauth-protected-resource')) {
      const resource = `http://${request.headers.host}/mcp`;
      const known = { resource, authorization_servers: [access.issuer], scopes_supported: ['read', 'write'] };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(known));
      return;
    }
    const isAllowed =
      typeof access === 'object'
        ? await access.accepts(authorization)
        : access === undefined || authorization === `Bearer ${access}`;
    if (!isAllowed) {
      response.writeHead(401).end(`no access with ${authorization}`);
      return;
    }
    if (request.method === 'GET') streams += 1;
    if (isModern) return void answerModern(request, response);
    const body = request.method === 'POST' ? await json(request) : undefined;
    if (typeof body === 'object' && body !== null && 'method' in body) methods.push(String(body.method));
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
    methods,
    get streams() {
      return streams;
    },
    forget: () => sessions.clear(),
    drop: () => http.closeAllConnections(),
    announce: () => modern.notify.toolsChanged(),
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
