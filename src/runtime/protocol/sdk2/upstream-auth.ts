import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { homedir } from 'node:os';
import path from 'node:path';
import {
  auth as authorize,
  ClientCredentialsProvider,
  discoverOAuthServerInfo,
  extractWWWAuthenticateParams,
  type FetchLike,
  fetchToken,
  type OAuthClientInformationContext,
  type OAuthClientMetadata,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
  selectResourceURL,
} from '@modelcontextprotocol/client';
import { defined } from '../../../graph/defined.js';
import { clip } from '../../../graph/printable-text.js';
import { sha256Hex } from '../../../graph/sha256.js';
import type { ClientCredentials, Environment, HttpUpstream, SignIn } from '../../upstream/config.js';
import { reasonOf, UpstreamError } from '../../upstream/port.js';
import type { ConnectionSecrets } from '../../upstream/servers.js';

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
export function fetchWithTokens(name: string, server: HttpUpstream, secrets: ConnectionSecrets): FetchLike {
  const { auth } = server;
  if (auth === undefined) return fetch;
  const source = 'signIn' in auth ? new SignedIn(name, server, auth) : new GrantedToCredentials(server, auth);
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
    const response = await fetch(url, authorized(init));
    if (response.status !== 401) return response;
    await response.body?.cancel();
    // Another request may have got one in the meantime.
    if (source.token === token) {
      renewal ??= renew(response).finally(() => {
        renewal = undefined;
      });
      await renewal;
    }
    return fetch(url, authorized(init));
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

/** Tokens by the grant for client credentials (RFC 6749, section 4.4), kept in memory for one connection. */
class GrantedToCredentials implements TokenSource {
  readonly #server: HttpUpstream;
  readonly #provider: ClientCredentialsProvider;

  constructor(server: HttpUpstream, { issuer, clientId, clientSecret, scope }: ClientCredentials) {
    this.#server = server;
    this.#provider = new ClientCredentialsProvider({
      ...{ clientId, clientSecret, clientName: CLIENT_NAME, expectedIssuer: issuer },
      ...defined({ scope }),
    });
  }

  get token(): string | undefined {
    return this.#provider.tokens()?.access_token;
  }

  async renew(refusal: Response): Promise<void> {
    const { url } = this.#server;
    const fetchFn = fetchForTokens(this.#server);
    const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(refusal);
    const { authorizationServerUrl, authorizationServerMetadata, resourceMetadata } =
      await discoverOAuthServerInfo(url, { ...defined({ resourceMetadataUrl }), fetchFn });
    const tokens = await fetchToken(this.#provider, authorizationServerUrl, {
      ...defined({
        metadata: authorizationServerMetadata,
        resource: await selectResourceURL(url, this.#provider, resourceMetadata),
        scope: this.#provider.clientMetadata.scope ?? scope,
      }),
      fetchFn,
    });
    this.#provider.saveTokens(tokens);
  }
}

const CLIENT_NAME = 'stepwright';

/** What a person's sign-in obtained. */
interface SignInRecord {
  /** The port that the authorization server sends the browser to, which clients are registered with. */
  readonly port?: number;
  /** Clients by the authorization servers that have registered them. */
  readonly clients?: Readonly<Record<string, StoredOAuthClientInformation>>;
  readonly tokens?: StoredOAuthTokens;
}

/** The file of the sign-in at a server, which its owner alone can read. */
export class SignInFile {
  readonly path: string;

  /** @param env has `STEPWRIGHT_SIGN_INS`, the folder of these files, if it is not that of the user's settings. */
  constructor(url: string, env: Environment = process.env) {
    const settings = env.XDG_CONFIG_HOME ?? path.join(homedir(), '.config');
    const folder = env.STEPWRIGHT_SIGN_INS ?? path.join(settings, 'stepwright', 'sign-ins');
    this.path = path.join(folder, `${sha256Hex(url).slice(0, 32)}.json`);
  }

  /** @throws Error for a file that was damaged. */
  read(): SignInRecord {
    let text: string;
    try {
      text = readFileSync(this.path, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
      throw error;
    }
    try {
      return JSON.parse(text) as SignInRecord;
    } catch {
      throw new Error(`${this.path} is damaged: remove it, and sign in again`);
    }
  }

  /** Replaces parts of it at once: other processes read it at any time. */
  change(part: SignInRecord): void {
    this.write({ ...this.read(), ...part });
  }

  write(record: SignInRecord): void {
    const folder = path.dirname(this.path);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    chmodSync(folder, 0o700);
    const partial = `${this.path}.${process.pid}`;
    writeFileSync(partial, JSON.stringify(record), { mode: 0o600 });
    renameSync(partial, this.path);
  }

  /** Also one that was damaged. Returns whether there was one. */
  remove(): boolean {
    const existed = existsSync(this.path);
    rmSync(this.path, { force: true });
    return existed;
  }
}

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
    const { port, tokens, clients } = this.#file.read();
    if (what === 'client') this.#file.write(defined({ port, tokens }));
    // Another process may have renewed them meanwhile, which made the refresh token of this one invalid.
    else if (tokens?.access_token === this.#tokens?.access_token)
      this.#file.write(defined({ port, clients }));
  }
}

/** Tokens of a person who has signed in before, in any process. */
class SignedIn implements TokenSource {
  token: string | undefined;
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
    this.token = this.#file.read().tokens?.access_token;
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
    this.token = this.#file.read().tokens?.access_token;
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

/** RFC 8252, section 7.3. */
function callbackAt(port: number): string {
  return `http://127.0.0.1:${port}/callback`;
}

/** Where the authorization server sends the browser to. */
class Callback {
  readonly port: number;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
  }

  /** @param port is one that others may have taken. */
  static async listen(port = 0): Promise<Callback> {
    const server = createServer();
    try {
      await once(server.listen(port, '127.0.0.1'), 'listening');
    } catch (error) {
      if (port === 0) throw error;
      return Callback.listen();
    }
    return new Callback(server);
  }

  /** Resolves with what the authorization server answers. Requests with another state are refused. */
  response(state: string, signal: AbortSignal): Promise<{ readonly code: string; readonly iss?: string }> {
    return new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('there was no sign-in before the limit')), {
        once: true,
      });
      this.#server.on('request', ({ url = '/' }, response) => {
        const { pathname, searchParams } = new URL(url, callbackAt(this.port));
        const isExpected = pathname === '/callback' && searchParams.get('state') === state;
        const code = searchParams.get('code');
        const text = !isExpected
          ? 'This is not the sign-in that is waited for.'
          : code === null
            ? 'You are not signed in. The command line says why.'
            : 'The sign-in is complete. You can close this page.';
        response
          .writeHead(isExpected ? 200 : 400, {
            'content-type': 'text/plain; charset=utf-8',
            connection: 'close',
          })
          .end(`${text}\n`);
        if (!isExpected) return;
        if (code !== null) resolve({ code, ...defined({ iss: searchParams.get('iss') ?? undefined }) });
        else
          reject(
            new Error(
              `the authorization server refuses: ${clip(searchParams.get('error') ?? 'it gives no code')}`,
            ),
          );
      });
    });
  }

  close(): void {
    this.#server.close();
  }
}
