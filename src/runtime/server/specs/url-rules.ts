import ipaddr from 'ipaddr.js';
import { clip } from '../../../graph/printable-text.js';
import type { RemoteSpecs } from '../options.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

interface AllowedPrefix {
  readonly origin: string;
  /** Begins with `/`. */
  readonly path: string;
}

/** The hosts of `http:` addresses, for development. */
const LOOPBACK_HOSTS: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/** The addresses of IPv6 that are assigned to the public internet. */
const GLOBAL_IPV6 = ipaddr.parseCIDR('2000::/3');

/** Says which addresses a server may read, and which hosts it may connect to. */
export class UrlRules {
  readonly #allowed: readonly AllowedPrefix[];
  readonly #networks: readonly [Address, number][];
  readonly #headers: ReadonlyMap<string, Readonly<Record<string, string>>>;

  /** @throws RangeError for a malformed entry. */
  constructor({ allow, allowAddresses = [], headers = {} }: RemoteSpecs = { allow: [] }) {
    if (!Array.isArray(allow)) throw new RangeError('specs.remote.allow must be a list of texts');
    this.#allowed = allow.map(prefixOf);
    this.#networks = allowAddresses.map((entry) => {
      if (!ipaddr.isValidCIDR(entry))
        throw new RangeError(
          `specs.remote.allowAddresses lists '${clip(entry)}', which is not a network such as '10.20.0.0/16'`,
        );
      return ipaddr.parseCIDR(entry);
    });
    this.#headers = headersOf(
      headers,
      this.#allowed.map(({ origin }) => origin),
    );
  }

  /**
   * Reads an address that may be read.
   *
   * @throws SpecError
   */
  check(text: string): URL {
    if (!URL.canParse(text))
      throw new SpecError('E_SPEC_NOT_ALLOWED', `'${clip(text)}' is not an https address`);
    const url = new URL(text);
    url.hash = '';
    const fault = this.#faultOf(url);
    if (fault === undefined) return url;
    throw new SpecError('E_SPEC_NOT_ALLOWED', `${clip(shownUrl(url))} is not read: ${fault}`);
  }

  /** Why an address may not be read, as the end of a sentence. */
  #faultOf(url: URL): string | undefined {
    if (this.#allowed.length === 0)
      return 'this server reads nothing from other hosts. Its operator may allow it with specs.remote.allow';
    if (hasUser(url))
      return 'it has a user or a password before the host. Leave them out; the operator of the server may send them with specs.remote.headers';
    if (hasEncodedSlash(url)) return "its path has an encoded '/' or '\\'. Write the path as it is";
    if (this.allows(url)) return undefined;
    return 'it is not among the addresses that this server allows. Its operator may add it to specs.remote.allow';
  }

  allows(url: URL): boolean {
    if (hasUser(url) || hasEncodedSlash(url)) return false;
    return this.#allowed.some(({ origin, path }) => {
      if (url.origin !== origin) return false;
      return path.endsWith('/')
        ? url.pathname.startsWith(path)
        : url.pathname === path || url.pathname.startsWith(`${path}/`);
    });
  }

  /** Why a host may not be connected to at this address; nothing where it may. */
  addressFault(url: URL, address: string): string | undefined {
    const host = url.hostname;
    const refuse = (range: string): string =>
      `${host} has the address ${address}, which is ${range}; list its network in specs.remote.allowAddresses if it is meant`;
    if (!ipaddr.isValid(address)) return refuse('malformed');
    const parsed = ipaddr.parse(address);
    const range = parsed.range();
    if (url.protocol === 'http:')
      return range === 'loopback'
        ? undefined
        : `${host} has the address ${address}: http is for loopback addresses alone`;
    if (this.#networks.some((network) => isIn(parsed, network))) return undefined;
    if (range === 'unicast' && (parsed.kind() === 'ipv4' || isIn(parsed, GLOBAL_IPV6))) return undefined;
    return refuse(range === 'unicast' ? 'not assigned' : range);
  }

  /** The headers of requests to the origin of an address. */
  headersFor({ origin }: URL): Readonly<Record<string, string>> {
    return this.#headers.get(origin) ?? {};
  }
}

/** An address as messages show it: a query may hold a secret. */
export function shownUrl({ protocol, host, pathname }: URL): string {
  return `${protocol}//${host}${pathname}`;
}

function hasUser({ username, password }: URL): boolean {
  return username !== '' || password !== '';
}

/** Servers may take an encoded slash for a slash, so that `..%2f` leaves the allowed path. */
function hasEncodedSlash({ pathname }: URL): boolean {
  return /%2f|%5c/i.test(pathname);
}

function isIn(address: Address, [network, bits]: readonly [Address, number]): boolean {
  return address.kind() === network.kind() && address.match([network, bits] as never);
}

function prefixOf(entry: string): AllowedPrefix {
  const url = URL.canParse(entry) ? new URL(entry) : undefined;
  const isPlain = url !== undefined && !hasUser(url) && !/[?#*]/.test(entry) && !hasEncodedSlash(url);
  if (!isPlain || !['https:', 'http:'].includes(url.protocol))
    throw new RangeError(
      `specs.remote.allow lists '${clip(entry)}': write an origin with an optional path, such as 'https://team.example.com/workflows/', without user, '?', '#' or '*'`,
    );
  if (url.protocol === 'http:' && !LOOPBACK_HOSTS.has(url.hostname))
    throw new RangeError(
      `specs.remote.allow lists '${clip(entry)}': use https; http is for localhost, 127.0.0.1 and [::1] alone`,
    );
  return { origin: url.origin, path: url.pathname };
}

function headersOf(
  configured: NonNullable<RemoteSpecs['headers']>,
  origins: readonly string[],
): ReadonlyMap<string, Readonly<Record<string, string>>> {
  return new Map(
    Object.entries(configured).map(([origin, headers]) => {
      const url = URL.canParse(origin) ? new URL(origin) : undefined;
      if (url === undefined || !origins.includes(url.origin) || url.pathname !== '/')
        throw new RangeError(
          `specs.remote.headers has '${clip(origin)}', which is not the origin of an entry of specs.remote.allow`,
        );
      for (const [name, value] of Object.entries(headers)) {
        if (!isHeader(name, value))
          throw new RangeError(
            `specs.remote.headers of ${url.origin}: '${clip(name)}' is not a header with a value of text`,
          );
      }
      return [url.origin, headers];
    }),
  );
}

function isHeader(name: string, value: unknown): boolean {
  return /^[A-Za-z0-9-]+$/.test(name) && typeof value === 'string' && /^[\t\x20-\x7e]*$/.test(value);
}

/** Why a view of a server, or its spec files, cannot be had. */
export type SpecErrorCode =
  | 'E_PROFILE_UNKNOWN'
  | 'E_SPEC_FETCH'
  | 'E_SPEC_HEADER'
  | 'E_SPEC_INVALID'
  | 'E_SPEC_NOT_ALLOWED'
  | 'E_SPEC_OFF';

/**
 * The workflows of files or addresses cannot be used, or what a client asks for with headers or a profile. Thrown by
 * `start` and `view` of a server.
 */
export class SpecError extends Error {
  override readonly name = 'SpecError';

  constructor(
    readonly code: SpecErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
