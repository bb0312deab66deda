import { clip } from '../../../graph/printable-text.js';

/** Under which names a server is reached over HTTP, and from which web pages. */
export interface HostValidationOptions {
  /**
   * Host names that requests may be sent to: `mcp.example.com` for any port, `mcp.example.com:8443` for one.
   * Default: `localhost`, `127.0.0.1` and `[::1]`.
   */
  readonly allowedHosts?: readonly string[];
  /**
   * Origins of web pages that may send requests, such as `https://app.example.com`, besides pages of the server itself.
   * Default: []. Requests without an `Origin`, as all clients but browsers send them, are always allowed.
   */
  readonly allowedOrigins?: readonly string[];
}

/** The headers of an HTTP request, by lower-case name: `request.headers` of `node:http`. */
export type HttpHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** A response to a request that goes no further. */
export interface HttpRefusal {
  readonly status: 403;
  readonly headers: Readonly<Record<string, string>>;
  /** A JSON-RPC error that says what was refused and what the operator can allow. */
  readonly body: string;
}

/** An address or a name as URLs have it. */
export function urlHost(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

export const LOCAL_HOSTS = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Makes the check that protects an HTTP server from DNS rebinding: a web page that has made its own name point to this
 * machine sends requests with that name as `Host`, and with its own `Origin`.
 *
 * @returns what checks the headers of one request: a refusal to send; undefined for an allowed request.
 * @throws RangeError for an allowed host or origin that is malformed.
 * @example
 * ```ts
 * const refusalOf = hostValidation({ allowedHosts: ['mcp.example.com'] });
 * const refusal = refusalOf(request.headers);
 * if (refusal !== undefined) return response.writeHead(refusal.status, refusal.headers).end(refusal.body);
 * ```
 */
export function hostValidation({
  allowedHosts = LOCAL_HOSTS,
  allowedOrigins = [],
}: HostValidationOptions = {}): (headers: HttpHeaders) => HttpRefusal | undefined {
  const hosts = allowedHosts.map((text) => {
    const host = readHost(text);
    if (host !== undefined) return host;
    throw new RangeError(
      `\`allowedHosts\` lists '${clip(text)}', which is not a host: write \`example.com\` or \`example.com:8443\``,
    );
  });
  const origins = allowedOrigins.map((text) => {
    if (/^[a-z][a-z0-9+.-]*:\/\/[^/?#]+$/i.test(text)) return originOf(text);
    throw new RangeError(
      `\`allowedOrigins\` lists '${clip(text)}', which is not an origin: write \`https://example.com\``,
    );
  });
  /** Nearly all requests are sent to one name: it is read once. */
  let allowed: string | undefined;
  const isAllowedHost = (text: string): boolean => {
    if (text === allowed) return true;
    const host = readHost(text);
    const isListed = hosts.some(
      ({ name, port }) => name === host?.name && (port === '' || port === host.port),
    );
    if (isListed) allowed = text;
    return isListed;
  };
  // A proxy that adds TLS changes the scheme, and not the host.
  const isOwn = (origin: string, host: string): boolean => {
    const [, scheme, authority] = /^(https?:)\/\/(.*)$/i.exec(origin) ?? [];
    return authority !== undefined && originOf(origin) === originOf(`${scheme}//${host}`);
  };
  return (headers) => {
    const host = single(headers.host ?? headers[':authority']);
    if (host === undefined || !isAllowedHost(host)) {
      const fault =
        host === undefined
          ? 'the request has no Host header'
          : `this server is not served as '${clip(host)}'`;
      return refusal(`${fault}. Its operator lists its names in \`allowedHosts\`.`);
    }
    const origin = headers.origin;
    if (origin === undefined) return undefined;
    const isText = typeof origin === 'string';
    if (isText && (isOwn(origin, host) || origins.includes(originOf(origin)))) return undefined;
    return refusal(
      `pages of '${clip(String(origin))}' must not call this server. Its operator lists those that may in \`allowedOrigins\`.`,
    );
  };
}

interface Host {
  readonly name: string;
  /** Empty where it is not named. */
  readonly port: string;
}

/** Nothing for a text that is not a host with an optional port. */
function readHost(text: string): Host | undefined {
  const [, name, port = ''] = /^(\[[0-9a-f:.]+\]|[^\s:/?#@*[\]\\]+)(?::(\d+))?$/i.exec(text) ?? [];
  if (name === undefined || !URL.canParse(`http://${name}`)) return undefined;
  return { name: new URL(`http://${name}`).hostname.replace(/\.$/, ''), port };
}

/** Equal for two writings of one origin. */
function originOf(text: string): string {
  return /^https?:/i.test(text) && URL.canParse(text) ? new URL(text).origin : text.toLowerCase();
}

function single(header: string | readonly string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : undefined;
}

function refusal(why: string): HttpRefusal {
  const error = { code: -32_000, message: `Forbidden: ${why}` };
  return {
    status: 403,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', error, id: null }),
  };
}
