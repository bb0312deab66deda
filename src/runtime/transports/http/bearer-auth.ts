import type { AuthInfo } from '../../../decorators/context.js';
import { isRole } from '../../../graph/answerers.js';
import { defined } from '../../../graph/defined.js';
import { isJsonObject } from '../../../graph/json.js';
import { SCOPE } from '../../../graph/names.js';
import { clip } from '../../../graph/printable-text.js';
import { thrownReport } from '../../tools/exceptions.js';
import type { Log } from '../../tools/log.js';

/** Who may call a server over HTTP: callers with a bearer token (RFC 6750) that the operator knows. */
export interface BearerAuth {
  /**
   * Says whom a token belongs to; undefined for a token that is unknown or revoked. It verifies the signature, the
   * issuer and what else the operator asks of a token. What it throws is logged, and the request is refused with 500.
   */
  readonly verify: (
    token: string,
    request: Request,
  ) => VerifiedToken | undefined | Promise<VerifiedToken | undefined>;
  /** The address of this server in tokens (RFC 8707) and in its metadata. Default: the address that is requested. */
  readonly resource?: string | URL;
  /** The issuers where clients get tokens, for the metadata of this server (RFC 9728). Default: none. */
  readonly authorizationServers?: readonly string[];
  /** The scopes that each request needs. Default: none. */
  readonly requiredScopes?: readonly string[];
  /** The scopes that clients may ask for, for the metadata. Default: `requiredScopes`. */
  readonly scopesSupported?: readonly string[];
  /** Whether a request without a token is answered, as that of an anonymous caller. Default: false. */
  readonly allowAnonymous?: boolean;
}

/**
 * Whom a token belongs to. `AuthInfo` of `@modelcontextprotocol/sdk` fits; `extra.sub` and `extra.iss` name the user, and
 * `roles` say which questions it may answer.
 */
export interface VerifiedToken extends Omit<AuthInfo, 'subject' | 'extra'> {
  readonly subject?: string | number | undefined;
  /** Further claims; JSON. */
  readonly extra?: Readonly<Record<string, unknown>> | undefined;
  /** When the token expires, in seconds since the epoch. Default: never. */
  readonly expiresAt?: number | undefined;
  /** The server the token was issued for. One that is not this server's `resource` is refused. Default: any. */
  readonly audience?: string | URL | readonly string[] | undefined;
}

/** A caller as requests have it: the token itself stays behind. */
export function authInfoOf({ clientId, scopes, roles, subject, extra }: VerifiedToken): AuthInfo {
  const claims = subject === undefined ? extra : { sub: subject, ...extra };
  return {
    clientId,
    scopes: [...scopes],
    ...defined({ roles: roles && [...roles], extra: claims && { ...claims } }),
  } as AuthInfo;
}

/** How the authentication of a request ended. */
export type Authentication =
  | { readonly ok: true; readonly auth?: VerifiedToken }
  | { readonly ok: false; readonly response: Response };

/** Where the metadata of a protected resource is, before the path of the resource (RFC 9728). */
const METADATA_PATH = '/.well-known/oauth-protected-resource';

const NO_TOKEN = 'This server needs a bearer token';

/** Checks the tokens of requests, and tells clients where to get one. */
export class Bearer {
  readonly #resource: URL | undefined;

  /** @throws RangeError for an address or a scope that cannot be written in a header. */
  constructor(
    readonly options: BearerAuth,
    readonly path: string,
    readonly log: Log,
  ) {
    const { resource, authorizationServers = [], requiredScopes = [], scopesSupported = [] } = options;
    if (resource !== undefined) {
      const text = String(resource);
      if (!URL.canParse(text) || text.includes('#'))
        throw new RangeError(`auth.resource must be an absolute URL without fragment, not '${clip(text)}'`);
      this.#resource = new URL(text);
    }
    for (const text of authorizationServers) {
      if (!/^https?:\/\//i.test(text) || !URL.canParse(text))
        throw new RangeError(
          `auth.authorizationServers lists '${clip(text)}', which is not an absolute http(s) URL`,
        );
    }
    for (const scope of [...requiredScopes, ...scopesSupported]) {
      if (SCOPE.test(scope)) continue;
      throw new RangeError(
        `auth lists the scope '${clip(scope)}': a scope has no spaces, quotes or backslashes`,
      );
    }
  }

  /** The metadata of this server, if the request asks for it. */
  metadata(url: URL): Response | undefined {
    if (url.pathname !== METADATA_PATH && url.pathname !== `${METADATA_PATH}${this.path}`) return undefined;
    const { authorizationServers = [], requiredScopes = [], scopesSupported = requiredScopes } = this.options;
    return Response.json({
      resource: this.#resourceOf(url),
      authorization_servers: authorizationServers,
      ...(scopesSupported.length === 0 ? {} : { scopes_supported: scopesSupported }),
      bearer_methods_supported: ['header'],
    });
  }

  async check(request: Request, url: URL): Promise<Authentication> {
    const header = request.headers.get('authorization');
    if (header === null) {
      if (this.options.allowAnonymous === true) return { ok: true };
      return this.#refuse(url, 401, undefined, NO_TOKEN);
    }
    const [, token] = /^Bearer +([\w.~+/-]+=*) *$/i.exec(header) ?? [];
    if (token === undefined)
      return this.#refuse(url, 401, 'invalid_token', 'The Authorization header must be `Bearer` and a token');
    let verified: VerifiedToken | undefined;
    try {
      verified = await this.options.verify(token, request);
    } catch (error) {
      return this.#fail(`auth.verify threw: ${thrownReport(error)}`);
    }
    if (verified === undefined)
      return this.#refuse(url, 401, 'invalid_token', 'The token is unknown, or was revoked');
    const text = 'auth.verify must return { clientId, scopes } or undefined, but returned';
    if (!isJsonObject(verified))
      return this.#fail(
        `${text} ${verified === null ? 'null' : `a ${typeof verified}`}: the request was refused`,
      );
    const fault = faultOf(verified);
    if (fault === undefined) return this.#admit(url, verified);
    // Members are claims of the token: one that is malformed proves nothing.
    this.log(`${text} ${fault}: the token was refused`, { event: 'auth.fault' });
    return this.#refuse(url, 401, 'invalid_token', 'The token has malformed claims');
  }

  /** Refuses a request for a fault of the operator. */
  #fail(fault: string): Authentication {
    this.log(fault, { event: 'auth.fault' });
    const text = 'Internal error; the log of the server has the details';
    return { ok: false, response: errorResponse(500, 'server_error', text) };
  }

  #admit(url: URL, verified: VerifiedToken): Authentication {
    const { expiresAt, audience, scopes } = verified;
    if (expiresAt !== undefined && !(expiresAt * 1_000 > Date.now()))
      return this.#refuse(url, 401, 'invalid_token', 'The token has expired');
    if (audience !== undefined && !audiencesOf(audience).includes(sameAddress(this.#resourceOf(url))))
      return this.#refuse(url, 401, 'invalid_token', 'The token was issued for another server');
    const missing = (this.options.requiredScopes ?? []).filter((scope) => !scopes.includes(scope));
    return missing.length === 0
      ? { ok: true, auth: verified }
      : { ok: false, response: this.lacking(url, missing) };
  }

  /**
   * The refusal of a request that lacks scopes: its client may ask for another token.
   * @param hasToken whether it had one.
   */
  lacking(url: URL, scopes: readonly string[], hasToken = true): Response {
    if (!hasToken) return this.#refusal(url, 401, undefined, NO_TOKEN, scopes);
    return this.#refusal(
      url,
      403,
      'insufficient_scope',
      `The token lacks the scopes ${scopes.join(' ')}`,
      scopes,
    );
  }

  #refuse(url: URL, status: number, error: string | undefined, description: string): Authentication {
    return {
      ok: false,
      response: this.#refusal(url, status, error, description, this.options.requiredScopes),
    };
  }

  #refusal(
    url: URL,
    status: number,
    error: string | undefined,
    description: string,
    scopes: readonly string[] = [],
  ): Response {
    const resource = new URL(this.#resourceOf(url));
    const path = resource.pathname === '/' ? '' : resource.pathname;
    const challenge = [
      ...(error === undefined ? [] : [`error="${error}"`, `error_description="${description}"`]),
      ...(scopes.length === 0 ? [] : [`scope="${scopes.join(' ')}"`]),
      `resource_metadata="${resource.origin}${METADATA_PATH}${path}"`,
    ];
    const response = errorResponse(status, error ?? 'invalid_request', description);
    response.headers.set('www-authenticate', `Bearer ${challenge.join(', ')}`);
    return response;
  }

  #resourceOf(url: URL): string {
    return (this.#resource ?? new URL(this.path, url.origin)).href;
  }
}

/** The form of OAuth: clients read it before they know that this is a server of MCP. */
function errorResponse(status: number, error: string, description: string): Response {
  return Response.json({ error, error_description: description }, { status });
}

function audiencesOf(audience: NonNullable<VerifiedToken['audience']>): readonly string[] {
  return addressesIn(audience).map((text) => sameAddress(String(text)));
}

function addressesIn(audience: unknown): readonly unknown[] {
  return Array.isArray(audience) ? audience : [audience];
}

/** Equal for two writings of one address. */
function sameAddress(text: string): string {
  return URL.canParse(text) ? new URL(text).href.replace(/\/$/, '') : text;
}

/** What is wrong with what `verify` returned; programs in JavaScript may return anything. */
function faultOf(verified: Readonly<Record<string, unknown>>): string | undefined {
  if (typeof verified.clientId !== 'string' || verified.clientId === '') return 'no text as `clientId`';
  const { scopes, roles, audience, expiresAt } = verified;
  if (!Array.isArray(scopes) || !scopes.every((scope) => typeof scope === 'string'))
    return 'no list of texts as `scopes`';
  if (roles !== undefined && !(Array.isArray(roles) && roles.every(isRole)))
    return 'no list of roles as `roles`: each is 1 to 128 printable characters without quotes';
  if (
    audience !== undefined &&
    !addressesIn(audience).every((each) => typeof each === 'string' || each instanceof URL)
  )
    return 'no address as `audience`';
  return expiresAt === undefined || typeof expiresAt === 'number' ? undefined : 'no number as `expiresAt`';
}
