import { auth, extractWWWAuthenticateParams } from '@modelcontextprotocol/sdk/client/auth.js';
import { ClientCredentialsProvider } from '@modelcontextprotocol/sdk/client/auth-extensions.js';
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import { defined } from '../../../graph/defined.js';
import type { HttpUpstream } from '../../upstream/config.js';
import { reasonOf } from '../../upstream/port.js';
import type { ConnectionSecrets } from '../../upstream/servers.js';

/** How long each request for a token may take. */
const TOKEN_TIMEOUT_MS = 30_000;

/** Thrown where there is no token for a request, which was not handled then. */
export class NoTokenError extends Error {
  override readonly name = 'NoTokenError';
}

/**
 * Sends the requests for an upstream server with tokens, by the grant for client credentials (RFC 6749, section 4.4). One
 * is asked for when the server asks for it, and again when it has expired. Tokens are kept in memory, for one connection.
 *
 * The transport of the SDK could do so by itself. It would refuse a call whose token expires while another call has got a
 * new one, and would send the headers of the server to its authorization server.
 */
export class ClientCredentials {
  readonly #server: HttpUpstream;
  readonly #provider: ClientCredentialsProvider;
  readonly #secrets: ConnectionSecrets;
  #renewal: Promise<void> | undefined;

  constructor(
    server: HttpUpstream,
    { issuer, clientId, clientSecret, scope }: NonNullable<HttpUpstream['auth']>,
    secrets: ConnectionSecrets,
  ) {
    this.#server = server;
    this.#secrets = secrets;
    this.#provider = new ClientCredentialsProvider({
      clientId,
      clientSecret,
      clientName: 'stepwright',
      expectedIssuer: issuer,
      ...defined({ scope }),
    });
  }

  /** @throws NoTokenError */
  readonly fetch: FetchLike = async (url, init) => {
    const token = this.#token;
    const response = await fetch(url, this.#authorized(init));
    if (response.status !== 401) return response;
    await response.body?.cancel();
    // Another request may have got one in the meantime.
    if (this.#token === token) {
      this.#renewal ??= this.#renew(response).finally(() => {
        this.#renewal = undefined;
      });
      await this.#renewal;
    }
    return fetch(url, this.#authorized(init));
  };

  get #token(): string | undefined {
    return this.#provider.tokens()?.access_token;
  }

  #authorized(init: RequestInit = {}): RequestInit {
    const headers = new Headers(init.headers);
    if (this.#token !== undefined) headers.set('authorization', `Bearer ${this.#token}`);
    return { ...init, headers };
  }

  async #renew(refusal: Response): Promise<void> {
    try {
      const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(refusal);
      await auth(this.#provider, {
        serverUrl: this.#server.url,
        ...defined({ resourceMetadataUrl, scope }),
        fetchFn: this.#fetchForToken,
      });
    } catch (error) {
      throw new NoTokenError(reasonOf(error), { cause: error });
    }
    if (this.#token !== undefined) this.#secrets.addToken(this.#token);
  }

  /** The server itself gets its headers, also where it says which authorization server it trusts. */
  readonly #fetchForToken: FetchLike = (url, init = {}) => {
    const { origin } = new URL(this.#server.url);
    const headers = new Headers(new URL(url).origin === origin ? this.#server.headers : {});
    for (const [name, value] of new Headers(init.headers)) headers.set(name, value);
    return fetch(url, { ...init, headers, signal: AbortSignal.timeout(TOKEN_TIMEOUT_MS) });
  };
}
