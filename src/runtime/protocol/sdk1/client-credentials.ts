import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { ClientCredentialsProvider } from '@modelcontextprotocol/sdk/client/auth-extensions.js';
import { OAuthError } from '@modelcontextprotocol/sdk/server/auth/errors.js';
import type { OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';
import type { HttpUpstream } from '../../upstream/config.js';

/**
 * Gets tokens for an upstream server by the grant for client credentials (RFC 6749, section 4.4), when the server asks
 * for one, and again when one has expired. Tokens are kept in memory, for one connection.
 */
export class ClientCredentials extends ClientCredentialsProvider {
  readonly #secret: (text: string) => void;

  /** @param secret receives tokens, which must not be shown. */
  constructor(
    { issuer, clientId, clientSecret, scope }: NonNullable<HttpUpstream['auth']>,
    secret: (text: string) => void,
  ) {
    super({
      clientId,
      clientSecret,
      clientName: 'stepwright',
      expectedIssuer: issuer,
      ...(scope === undefined ? {} : { scope }),
    });
    this.#secret = secret;
  }

  override saveTokens(tokens: OAuthTokens): void {
    this.#secret(tokens.access_token);
    super.saveTokens(tokens);
  }
}

/** Whether a request was not made because there is no token for it. */
export function isRefusedAuthorization(error: unknown): boolean {
  return error instanceof OAuthError || error instanceof UnauthorizedError;
}
