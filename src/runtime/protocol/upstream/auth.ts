import { createPrivateKey, type KeyObject, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import {
  auth as authorize,
  ClientCredentialsProvider,
  createPrivateKeyJwtAuth,
  type DpopKeyPair,
  DpopSession,
  discoverOAuthServerInfo,
  extractWWWAuthenticateParams,
  type FetchLike,
  fetchToken,
  generateDpopKeyPair,
  type OAuthClientInformationContext,
  type OAuthClientMetadata,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  requestJwtAuthorizationGrant,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
  selectResourceURL,
  withDpop,
} from '@modelcontextprotocol/client';
import { defined } from '../../../graph/defined.js';
import type { ClientCredentials, HttpUpstream, SignIn } from '../../upstream/config.js';
import { reasonOf, UpstreamError } from '../../upstream/port.js';
import type { ConnectionSecrets } from '../../upstream/servers.js';
import { Callback, callbackAt, SignInFile, type StoredKey } from '../../upstream/sign-in.js';

/** How long each request for a token may take. */
const TOKEN_TIMEOUT_MS = 30_000;

/** Thrown where there is no token for a request, which was not handled then. */
export class NoTokenError extends Error {
  override readonly name = 'NoTokenError';
}

/** Where the tokens for a server are from. */
interface TokenSource {
  /** The last one, which may have expired. */
  readonly token: string | undefined;
  /** Signs requests with the token, where it is bound to a key (DPoP, RFC 9449). */
  proofs(): Promise<DpopSession | undefined> | undefined;
  /** Gets another one, after a request was refused. */
  renew(refusal: Response): Promise<void>;
}

/**
 * Sends the requests for an upstream server with tokens. One is asked for when the server asks for it, and again when it has
 * expired.
 *
 * The transport of the SDK could do so by itself. It would refuse a call whose token expires while another call has got a
 * new one, and would send the headers of the server to its authorization server.
 *
 * @throws NoTokenError from what it returns
 */
export function fetchWithTokens(
  { name, server, root }: { readonly name: string; readonly server: HttpUpstream; readonly root: string },
  secrets: ConnectionSecrets,
): FetchLike {
  const { auth } = server;
  if (auth === undefined) return fetch;
  const source =
    'signIn' in auth
      ? new SignedIn(name, server, auth)
      : new GrantedToCredentials(name, server, auth, { root, secrets });
  const send = withDpop(
    () => source.proofs(),
    () => source.token,
  )(fetch);
  let renewal: Promise<void> | undefined;
  if (source.token !== undefined) secrets.addToken(source.token);
  const renew = async (refusal: Response): Promise<void> => {
    try {
      await source.renew(refusal);
    } catch (error) {
      // With the cause, its text would be shown twice.
      throw new NoTokenError(reasonOf(error));
    }
    if (source.token !== undefined) secrets.addToken(source.token);
  };
  const authorized = (init: RequestInit = {}): RequestInit => {
    const headers = new Headers(init.headers);
    if (source.token !== undefined) headers.set('authorization', `Bearer ${source.token}`);
    return { ...init, headers };
  };
  return async (url, init) => {
    const { token } = source;
    const response = await send(url, authorized(init));
    if (response.status !== 401) return response;
    await response.body?.cancel();
    // Another request may have got one in the meantime.
    if (source.token === token) {
      renewal ??= renew(response).finally(() => {
        renewal = undefined;
      });
      await renewal;
    }
    return send(url, authorized(init));
  };
}

/** Sends requests of a sign-in. The server itself gets its headers, also where it says which authorization server it trusts. */
function fetchForTokens(server: HttpUpstream): FetchLike {
  const { origin } = new URL(server.url);
  return (url, init = {}) => {
    const headers = new Headers(new URL(url).origin === origin ? server.headers : {});
    for (const [name, value] of new Headers(init.headers)) headers.set(name, value);
    return fetch(url, { ...init, headers, signal: AbortSignal.timeout(TOKEN_TIMEOUT_MS) });
  };
}

/** The algorithms of keys (RFC 7518, section 3.1) by their curves. */
const ALGORITHMS: Readonly<Record<string, string>> = {
  prime256v1: 'ES256',
  secp384r1: 'ES384',
  secp521r1: 'ES512',
};

/** @throws UpstreamError (`E_UPSTREAM_CONFIG`) for a text that is not a private key of a kind that can sign. */
function signingKeyOf(name: string, pem: string): { readonly privateKey: string; readonly alg: string } {
  let key: KeyObject | undefined;
  try {
    key = createPrivateKey(pem);
  } catch {
    // Its message has parts of the key.
  }
  const alg =
    key?.asymmetricKeyType === 'rsa' ? 'RS256' : ALGORITHMS[key?.asymmetricKeyDetails?.namedCurve ?? ''];
  if (key === undefined || alg === undefined)
    throw new UpstreamError(
      'E_UPSTREAM_CONFIG',
      `\`auth.privateKey\` of the upstream server '${name}' is not a private key in PEM, of RSA or of the curve P-256, P-384 or P-521`,
    );
  return { privateKey: key.export({ type: 'pkcs8', format: 'pem' }).toString(), alg };
}

/** Whether tokens are bound to a key. */
function areBound(tokens: { readonly token_type: string } | undefined): boolean {
  return tokens?.token_type.toLowerCase() === 'dpop';
}

/**
 * Tokens by the credentials of the program, kept in memory for one connection: by its secret or key (RFC 6749, section 4.4), or by
 * an assertion that its platform or an identity provider has signed (RFC 7523).
 */
class GrantedToCredentials implements TokenSource {
  readonly #server: HttpUpstream;
  readonly #auth: ClientCredentials;
  readonly #root: string;
  readonly #secrets: ConnectionSecrets;
  readonly #provider: Omit<OAuthClientProvider, 'tokens'> & Pick<ClientCredentialsProvider, 'tokens'>;
  readonly #session: Promise<DpopSession> | undefined;
  /** Of the request for a token that is being made. */
  #resource: URL;

  constructor(
    name: string,
    server: HttpUpstream,
    auth: ClientCredentials,
    { root, secrets }: { readonly root: string; readonly secrets: ConnectionSecrets },
  ) {
    this.#server = server;
    this.#auth = auth;
    this.#root = root;
    this.#secrets = secrets;
    this.#resource = new URL(server.url);
    const { issuer, clientId, clientSecret, privateKey, assertionFile, scope, dpop } = auth;
    const session = dpop === true ? DpopSession.create() : undefined;
    this.#session = session;
    const provider = new ClientCredentialsProvider({
      ...{ clientId, clientName: CLIENT_NAME, expectedIssuer: issuer },
      // A client without a secret is a public one.
      clientSecret: clientSecret as string,
      ...defined({ scope }),
    });
    const key = privateKey === undefined ? undefined : signingKeyOf(name, privateKey);
    const signed = key && createPrivateKeyJwtAuth({ issuer: clientId, subject: clientId, ...key });
    this.#provider = Object.assign(
      provider,
      defined({ addClientAuthentication: signed, dpop: session && (() => session) }),
      assertionFile === undefined
        ? {}
        : { prepareTokenRequest: (asked?: string) => this.#grant(assertionFile, asked) },
    );
  }

  get token(): string | undefined {
    return this.#provider.tokens()?.access_token;
  }

  proofs(): Promise<DpopSession> | undefined {
    return areBound(this.#provider.tokens()) ? this.#session : undefined;
  }

  async renew(refusal: Response): Promise<void> {
    const { url } = this.#server;
    const fetchFn = fetchForTokens(this.#server);
    const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(refusal);
    const { authorizationServerUrl, authorizationServerMetadata, resourceMetadata } =
      await discoverOAuthServerInfo(url, { ...defined({ resourceMetadataUrl }), fetchFn });
    const resource = await selectResourceURL(url, this.#provider, resourceMetadata);
    this.#resource = resource ?? new URL(url);
    const tokens = await fetchToken(this.#provider, authorizationServerUrl, {
      ...defined({
        metadata: authorizationServerMetadata,
        resource,
        scope: this.#provider.clientMetadata.scope ?? scope,
      }),
      fetchFn,
    });
    await this.#provider.saveTokens(tokens);
  }

  /** The parameters of a request by an assertion, for an authorization server that is the one of the configuration. */
  async #grant(file: string, scope?: string): Promise<URLSearchParams> {
    // It is replaced before it expires, by what runs the program.
    const idToken = readFileSync(path.resolve(this.#root, file), 'utf8').trim();
    this.#secrets.addToken(idToken);
    const { issuer, identityProvider } = this.#auth;
    let assertion = idToken;
    if (identityProvider !== undefined) {
      const { jwtAuthGrant } = await requestJwtAuthorizationGrant({
        ...{ ...identityProvider, idToken, audience: issuer, resource: this.#resource },
        ...defined({ scope }),
        fetchFn: fetchForTokens(this.#server),
      });
      assertion = jwtAuthGrant;
      this.#secrets.addToken(assertion);
    }
    const grant = { grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion };
    return new URLSearchParams({ ...grant, ...defined({ scope }) });
  }
}

const CLIENT_NAME = 'stepwright';

/** A client of the authorization code grant, with its registration and tokens in a file. */
class SignInProvider implements OAuthClientProvider {
  /** A client id that is an address is that of a metadata document. */
  readonly clientMetadataUrl?: string;
  readonly #auth: SignIn;
  readonly #file: SignInFile;
  readonly #state = randomUUID();
  #verifier = '';
  /** Those that were used last. */
  #tokens: StoredOAuthTokens | undefined;
  #discovery: OAuthDiscoveryState | undefined;
  #session: Promise<DpopSession> | undefined;

  constructor(
    auth: SignIn,
    file: SignInFile,
    readonly redirectUrl: string,
    readonly redirectToAuthorization: (url: URL) => void,
  ) {
    this.#auth = auth;
    this.#file = file;
    const { clientId, clientSecret } = auth;
    if (clientSecret === undefined && clientId?.startsWith('https://')) this.clientMetadataUrl = clientId;
  }

  /** The key that tokens are bound to, which is kept with them. */
  async dpop(): Promise<DpopSession | undefined> {
    if (this.#auth.dpop !== true) return undefined;
    this.#session ??= this.#sessionOfFile();
    return this.#session;
  }

  async #sessionOfFile(): Promise<DpopSession> {
    const { key } = this.#file.read();
    if (key !== undefined) return DpopSession.create({ keyPair: await importedKeys(key) });
    const keyPair = await generateDpopKeyPair({ extractable: true });
    const { privateKey, thumbprint } = keyPair;
    this.#file.change({ key: { jwk: await crypto.subtle.exportKey('jwk', privateKey), thumbprint } });
    return DpopSession.create({ keyPair });
  }

  get clientMetadata(): OAuthClientMetadata {
    return {
      client_name: CLIENT_NAME,
      redirect_uris: [this.redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      application_type: 'native',
      ...defined({ scope: this.#auth.scope }),
    };
  }

  state(): string {
    return this.#state;
  }

  clientInformation({ issuer }: OAuthClientInformationContext = { issuer: '' }) {
    const { issuer: expected, clientId, clientSecret } = this.#auth;
    if (expected !== undefined && expected !== issuer)
      throw new Error(`the server trusts the authorization server ${issuer}, the configuration ${expected}`);
    if (clientId === undefined || this.clientMetadataUrl !== undefined)
      return this.#file.read().clients?.[issuer];
    return { client_id: clientId, issuer, ...defined({ client_secret: clientSecret }) };
  }

  saveClientInformation(
    client: StoredOAuthClientInformation,
    { issuer }: OAuthClientInformationContext = { issuer: '' },
  ): void {
    this.#file.change({ clients: { ...this.#file.read().clients, [issuer]: client } });
  }

  tokens(): StoredOAuthTokens | undefined {
    this.#tokens = this.#file.read().tokens;
    return this.#tokens;
  }

  saveTokens(tokens: StoredOAuthTokens): void {
    this.#file.change({ tokens });
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  codeVerifier(): string {
    return this.#verifier;
  }

  saveDiscoveryState(state: OAuthDiscoveryState): void {
    this.#discovery = state;
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#discovery;
  }

  invalidateCredentials(what: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery'): void {
    if (what === 'verifier' || what === 'discovery') return;
    const { port, key, tokens, clients } = this.#file.read();
    if (what === 'client') this.#file.write(defined({ port, key, tokens }));
    // Another process may have renewed them meanwhile, which made the refresh token of this one invalid.
    else if (tokens?.access_token === this.#tokens?.access_token)
      this.#file.write(defined({ port, key, clients }));
  }
}

/** The kind of the keys that tokens of a person are bound to. */
const CURVE = { name: 'ECDSA', namedCurve: 'P-256' };

async function importedKeys({ jwk, thumbprint }: StoredKey): Promise<DpopKeyPair> {
  const { kty = '', crv = '', x = '', y = '' } = jwk;
  const publicJwk = { kty, crv, x, y };
  return {
    privateKey: await crypto.subtle.importKey('jwk', jwk, CURVE, false, ['sign']),
    publicKey: await crypto.subtle.importKey('jwk', publicJwk, CURVE, true, ['verify']),
    ...{ publicJwk, thumbprint, alg: 'ES256' },
  };
}

/** Tokens of a person who has signed in before, in any process. */
class SignedIn implements TokenSource {
  #tokens: StoredOAuthTokens | undefined;
  readonly #server: HttpUpstream;
  readonly #file: SignInFile;
  readonly #provider: SignInProvider;
  readonly #needed: string;

  constructor(name: string, server: HttpUpstream, auth: SignIn) {
    this.#server = server;
    this.#needed = `a person has to sign in: run \`stepwright sign-in ${name}\``;
    this.#file = new SignInFile(server.url);
    this.#provider = new SignInProvider(auth, this.#file, callbackAt(0), () => {
      throw new Error(this.#needed);
    });
    this.#tokens = this.#file.read().tokens;
  }

  get token(): string | undefined {
    return this.#tokens?.access_token;
  }

  proofs(): Promise<DpopSession | undefined> | undefined {
    return areBound(this.#tokens) ? this.#provider.dpop() : undefined;
  }

  async renew(refusal: Response): Promise<void> {
    const { tokens } = this.#file.read();
    const isNewer = tokens !== undefined && tokens.access_token !== this.token;
    if (!isNewer) {
      if (tokens?.refresh_token === undefined) throw new Error(this.#needed);
      const { resourceMetadataUrl } = extractWWWAuthenticateParams(refusal);
      await authorize(this.#provider, {
        ...{ serverUrl: this.#server.url, fetchFn: fetchForTokens(this.#server) },
        ...defined({ resourceMetadataUrl }),
      });
    }
    this.#tokens = this.#file.read().tokens;
  }
}

/** How a person signs in. */
export interface SignInRequest {
  readonly name: string;
  /** Its variables are filled in. */
  readonly server: HttpUpstream;
  readonly file: SignInFile;
  /** Shows the person the address of the authorization server. */
  readonly open: (url: URL) => void;
  /** Scopes beside those that the server asks for or the configuration has, separated by spaces. */
  readonly scope?: string;
  /** Where the browser is sent to. Default: the port of the last sign-in, or else any. */
  readonly port?: number;
  readonly signal: AbortSignal;
}

/**
 * Signs in at an upstream server by a browser (OAuth 2.1, authorization code with PKCE). The client is the one of the
 * configuration, or is known by its metadata document, or is registered. What it obtains is kept in the file.
 *
 * @throws UpstreamError (`E_UPSTREAM_CONFIG`), or an error that says why there is no token.
 */
export async function signIn({ name, server, file, open, signal, ...asked }: SignInRequest): Promise<void> {
  const { url, auth } = server;
  if (auth === undefined || !('signIn' in auth))
    throw new UpstreamError(
      'E_UPSTREAM_CONFIG',
      `The upstream server '${name}' needs no sign-in: write \`"auth": { "signIn": true }\` into its configuration if a person has to sign in`,
    );
  const fetchFn = fetchForTokens(server);
  const callback = await Callback.listen(asked.port ?? file.read().port);
  try {
    // A client may be registered with one address only.
    if (file.read().port !== callback.port) file.change({ port: callback.port, clients: {} });
    const provider = new SignInProvider(auth, file, callbackAt(callback.port), open);
    const ping = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const refusal = await fetchFn(url, { method: 'POST', headers, body: ping });
    await refusal.body?.cancel();
    const { resourceMetadataUrl, scope: needed } = extractWWWAuthenticateParams(refusal);
    const scopes = [asked.scope, auth.scope ?? needed].filter((scope) => scope !== undefined);
    const scope = scopes.length === 0 ? undefined : [...new Set(scopes.join(' ').split(' '))].join(' ');
    const options = { serverUrl: url, fetchFn, ...defined({ resourceMetadataUrl, scope }) };
    await authorize(provider, { ...options, forceReauthorization: true });
    const { code, iss } = await callback.response(provider.state(), signal);
    await authorize(provider, { ...options, authorizationCode: code, ...defined({ iss }) });
  } finally {
    callback.close();
  }
}
