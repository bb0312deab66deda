import { createHash } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Protection } from './http.fixture.js';

/** An authorization server with one client, which registers others for people. */
export interface AuthorizationFixture extends Protection {
  /** The requests for tokens: whether the client was known, and the parameters. */
  readonly requests: readonly { readonly isKnown: boolean; readonly params: Record<string, string> }[];
  readonly tokens: readonly string[];
  /** The DPoP proofs of requests for tokens. */
  readonly proofs: readonly string[];
  /** The headers of all requests. */
  readonly headers: readonly IncomingHttpHeaders[];
  /** Breaks the connections of all further requests. */
  fail(): void;
  /** Ends all tokens that were given so far. `refresh`: those too that get others. */
  expire(how?: 'refresh'): void;
  close(): Promise<void>;
}

/**
 * @param isAlsoKnown who else is known, by the parameters of a request for a token. It is an identity provider too, which exchanges
 *   every token that is known.
 */
export async function authorizationFixture(
  clientId: string,
  clientSecret: string,
  isAlsoKnown: (params: Readonly<Record<string, string>>) => boolean = () => false,
): Promise<AuthorizationFixture> {
  const requests: { isKnown: boolean; params: Record<string, string> }[] = [];
  const tokens: string[] = [];
  const headers: IncomingHttpHeaders[] = [];
  const proofs: string[] = [];
  let fails = false;
  const valid = new Set<string>();
  /** The code challenges of codes. */
  const codes = new Map<string, string>();
  const refreshTokens = new Set<string>();
  const credentials = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;
  const http = createServer(async (request, response) => {
    const answer = (status: number, body: object): void =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    headers.push(request.headers);
    if (fails) return void request.socket.destroy();
    const issuer = `http://${request.headers.host}`;
    const { pathname, searchParams } = new URL(request.url ?? '/', issuer);
    if (request.url === '/.well-known/oauth-authorization-server')
      return answer(200, {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        registration_endpoint: `${issuer}/register`,
        code_challenge_methods_supported: ['S256'],
        authorization_response_iss_parameter_supported: true,
        response_types_supported: ['code'],
        grant_types_supported: ['client_credentials', 'authorization_code', 'refresh_token'],
        token_endpoint_auth_methods_supported: ['client_secret_basic', 'none'],
      });
    if (pathname === '/authorize') {
      const code = `code-${codes.size + 1}`;
      codes.set(code, searchParams.get('code_challenge') ?? '');
      const back = new URL(searchParams.get('redirect_uri') ?? '');
      const answered = searchParams.get('scope') === 'refused' ? { error: 'access_denied' } : { code };
      back.search = `${new URLSearchParams({ ...answered, state: searchParams.get('state') ?? '', iss: issuer })}`;
      return void response.writeHead(302, { location: back.href }).end();
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString('utf8');
    if (pathname === '/register')
      return answer(201, {
        ...JSON.parse(body),
        client_id: 'registered',
        token_endpoint_auth_method: 'none',
      });
    if (pathname !== '/token') return answer(404, {});
    const params = Object.fromEntries(new URLSearchParams(body));
    const {
      grant_type: grant,
      code = '',
      code_verifier: verifier = '',
      refresh_token: refresh = '',
    } = params;
    const isOfPerson = grant === 'authorization_code' || grant === 'refresh_token';
    if (grant === 'refresh_token' && !refreshTokens.delete(refresh))
      return answer(400, { error: 'invalid_grant', error_description: 'the sign-in has ended' });
    const isKnown = isOfPerson
      ? params.client_id === 'registered' &&
        (grant === 'refresh_token' ||
          createHash('sha256').update(verifier).digest('base64url') === codes.get(code))
      : request.headers.authorization === credentials || isAlsoKnown(params);
    requests.push({ isKnown, params });
    if (!isKnown)
      return answer(401, { error: 'invalid_client', error_description: 'the client is not known' });
    if (grant === 'urn:ietf:params:oauth:grant-type:token-exchange') {
      const issued_token_type = 'urn:ietf:params:oauth:token-type:id-jag';
      return answer(200, {
        access_token: `exchanged-${params.subject_token}`,
        issued_token_type,
        token_type: 'N_A',
      });
    }
    const token = `granted-token-${tokens.length + 1}`;
    tokens.push(token);
    const { dpop: proof } = request.headers;
    const scheme = proof === undefined ? 'Bearer' : 'DPoP';
    if (proof !== undefined) proofs.push(String(proof));
    valid.add(`${scheme} ${token}`);
    const more = isOfPerson ? { refresh_token: `refresh-token-${tokens.length}` } : {};
    if (isOfPerson) refreshTokens.add(`refresh-token-${tokens.length}`);
    answer(200, { access_token: token, token_type: scheme, expires_in: 3600, ...more });
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const { port } = http.address() as AddressInfo;
  return {
    issuer: `http://127.0.0.1:${port}`,
    accepts: (authorization) => authorization !== undefined && valid.has(authorization),
    requests,
    tokens,
    proofs,
    headers,
    fail: () => {
      fails = true;
    },
    expire: (how) => {
      valid.clear();
      if (how === 'refresh') refreshTokens.clear();
    },
    close: () =>
      new Promise((resolve) => {
        http.close(() => resolve());
        http.closeAllConnections();
      }),
  };
}
