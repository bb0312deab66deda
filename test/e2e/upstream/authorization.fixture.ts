import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Protection } from './http.fixture.js';

/** An authorization server with one client. */
export interface AuthorizationFixture extends Protection {
  /** The requests for tokens: whether the client was known, and the parameters. */
  readonly requests: readonly { readonly isKnown: boolean; readonly params: Record<string, string> }[];
  readonly tokens: readonly string[];
  /** The headers of all requests. */
  readonly headers: readonly IncomingHttpHeaders[];
  /** Breaks the connections of all further requests. */
  fail(): void;
  /** Ends all tokens that were given so far. */
  expire(): void;
  close(): Promise<void>;
}

export async function authorizationFixture(
  clientId: string,
  clientSecret: string,
): Promise<AuthorizationFixture> {
  const requests: { isKnown: boolean; params: Record<string, string> }[] = [];
  const tokens: string[] = [];
  const headers: IncomingHttpHeaders[] = [];
  let fails = false;
  const valid = new Set<string>();
  const credentials = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;
  const http = createServer(async (request, response) => {
    const answer = (status: number, body: object): void =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    headers.push(request.headers);
    if (fails) return void request.socket.destroy();
    const issuer = `http://${request.headers.host}`;
    if (request.url === '/.well-known/oauth-authorization-server')
      return answer(200, {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        response_types_supported: ['code'],
        grant_types_supported: ['client_credentials'],
        token_endpoint_auth_methods_supported: ['client_secret_basic'],
      });
    if (request.url !== '/token') return answer(404, {});
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const params = Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString('utf8')));
    const isKnown = request.headers.authorization === credentials;
    requests.push({ isKnown, params });
    if (!isKnown)
      return answer(401, { error: 'invalid_client', error_description: 'the client is not known' });
    const token = `granted-token-${tokens.length + 1}`;
    tokens.push(token);
    valid.add(`Bearer ${token}`);
    answer(200, { access_token: token, token_type: 'bearer', expires_in: 3600 });
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const { port } = http.address() as AddressInfo;
  return {
    issuer: `http://127.0.0.1:${port}`,
    accepts: (authorization) => authorization !== undefined && valid.has(authorization),
    requests,
    tokens,
    headers,
    fail: () => {
      fails = true;
    },
    expire: () => valid.clear(),
    close: () =>
      new Promise((resolve) => {
        http.close(() => resolve());
        http.closeAllConnections();
      }),
  };
}
