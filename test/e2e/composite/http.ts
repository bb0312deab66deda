import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { ClientCapabilities } from '@modelcontextprotocol/sdk/types.js';
import {
  fetchHandler,
  type HttpSettings,
  nodeHandler,
  type RequestSource,
  type StepwrightServer,
  type VerifiedToken,
} from 'stepwright/runtime';
import { onTestFinished } from 'vitest';
import { type Answer, callOf, clientWith, type User } from './client.js';

/** A bearer token that contains its principal. */
export function tokenOf(clientId: string, extra?: Record<string, unknown>): string {
  return Buffer.from(JSON.stringify({ clientId, extra })).toString('base64url');
}

function verify(token: string): VerifiedToken {
  return { scopes: [], ...JSON.parse(Buffer.from(token, 'base64url').toString()) };
}

/** Serves over HTTP. Without a token callers are anonymous. `x-address` replaces the remote address. */
export async function listening(server: StepwrightServer, settings: HttpSettings = {}): Promise<URL> {
  const handler = fetchHandler(server, {
    auth: { verify, allowAnonymous: true },
    sessions: 'always',
    log: () => {},
    ...settings,
  });
  const listener = nodeHandler(
    Object.assign(
      (request: Request, source: RequestSource = {}) =>
        handler(request, { ...source, remoteAddress: request.headers.get('x-address') ?? '192.0.2.1' }),
      handler,
    ),
  );
  const http = createHttpServer(listener);
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    await handler.close();
    http.closeAllConnections();
    http.close();
  });
  const { port } = http.address() as AddressInfo;
  return new URL(`http://127.0.0.1:${port}/mcp`);
}

/** The caller of a session: anonymous unless there is a token. */
export interface Visitor {
  readonly token?: string;
  readonly address?: string;
  readonly user?: User;
  /** What its client declares. Default: forms, if there is a user. */
  readonly capabilities?: ClientCapabilities;
  /** Further headers of each request. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A client in a session of its own. The session ends with the test at the latest. */
export async function sessionOf(
  url: URL,
  visitor: Visitor = {},
): Promise<{ client: Client; end: () => Promise<void> }> {
  const { token, address, user } = visitor;
  const headers = {
    ...visitor.headers,
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(address === undefined ? {} : { 'x-address': address }),
  };
  const transport = new StreamableHTTPClientTransport(url, { requestInit: { headers } });
  const client = clientWith(user, visitor.capabilities);
  await client.connect(transport as Transport);
  onTestFinished(() => client.close());
  await client.listTools();
  const end = async (): Promise<void> => {
    await transport.terminateSession();
    await client.close();
  };
  return { client, end };
}

/** Makes one call in a session that is opened for it and ended after it. */
export async function freshCall(
  url: URL,
  name: string,
  args: Record<string, unknown> = {},
  visitor: Visitor = {},
): Promise<Answer> {
  const { client, end } = await sessionOf(url, visitor);
  const answer = await callOf(client, name, args);
  await end();
  return answer;
}
