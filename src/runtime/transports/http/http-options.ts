import ipaddr from 'ipaddr.js';
import { clip } from '../../../graph/printable-text.js';
import { checkLimits } from '../../server/options.js';
import type { TurnLimits } from '../../server/requests/fair-turns.js';
import type { BearerAuth } from './bearer-auth.js';
import type { HostValidationOptions } from './host-validation.js';
import type { ClientHeaders } from './spec-headers.js';

/** Options of a server over HTTP beside those of every server. */
export interface HttpSettings extends HostValidationOptions {
  /** Where MCP is answered. Default: `/mcp`. */
  readonly path?: string;
  /** Who may call. Default: everybody who reaches the server, as anonymous callers. */
  readonly auth?: BearerAuth;
  /**
   * Which clients get a session at `initialize`. `auto`: those that declare elicitation, sampling or roots, since the
   * server may ask them something. Without a session any process that shares the runs may answer a request. Default:
   * `auto`.
   */
  readonly sessions?: 'auto' | 'always' | 'never';
  readonly limits?: Partial<HttpLimits>;
  /** By which headers clients may bring workflows and hints, and which clients. Default: none. */
  readonly headers?: ClientHeaders;
  /**
   * Which proxies before the server are trusted to name the client in `X-Forwarded-For`: how many, or a function that
   * says it of each. Limits of callers without authentication then count the client's address, not the proxy's. Set it
   * only for a server that clients reach through these proxies alone. Default: 0.
   */
  readonly trustProxy?: TrustProxy;
}

/** How much clients may ask of a server over HTTP. */
export interface HttpLimits extends TurnLimits {
  /** The longest body of a request, in bytes. Default: 10 MiB. */
  readonly bodyBytes: number;
  /** Sessions in all. Default: 10 000. */
  readonly sessions: number;
  /** Sessions of one caller; another one is refused with 429. Default: 1 000. */
  readonly sessionsPerOwner: number;
  /** How long a session without requests is kept, in ms. Default: 1 800 000. */
  readonly sessionIdleMs: number;
  /** How much of an answer may wait for a client that does not read, in bytes. Default: 8 MiB. */
  readonly unreadBytes: number;
  /** Requests of all callers that are worked on at once. Default: 256. */
  readonly concurrent: number;
  /** Requests of one caller that are worked on at once; the others wait for their turn. Default: 64. */
  readonly concurrentPerOwner: number;
  /** Requests of one caller that wait; beyond that, it is refused with 429. Default: 256. */
  readonly queuedPerOwner: number;
}

const DEFAULT_LIMITS: HttpLimits = {
  bodyBytes: 10 * 1024 * 1024,
  sessions: 10_000,
  sessionsPerOwner: 1_000,
  sessionIdleMs: 1_800_000,
  unreadBytes: 8 * 1024 * 1024,
  concurrent: 256,
  concurrentPerOwner: 64,
  queuedPerOwner: 256,
};

/** Settings with their defaults. */
export interface ResolvedHttpSettings extends HttpSettings {
  readonly path: string;
  readonly sessions: NonNullable<HttpSettings['sessions']>;
  readonly limits: HttpLimits;
  readonly trustProxy: TrustProxy;
}

/**
 * Fills defaults in.
 *
 * @throws RangeError for a limit that is not a positive whole number, an unknown mode, a malformed path, or proxies that are neither a
 *   number nor a function.
 */
export function resolveHttpSettings(settings: HttpSettings): ResolvedHttpSettings {
  const { path = '/mcp', sessions = 'auto', trustProxy = 0 } = settings;
  if (!/^\/[^?#\s]*$/.test(path))
    throw new RangeError(`path must begin with "/" and have no "?" or "#", and is '${clip(path)}'`);
  if (!['auto', 'always', 'never'].includes(sessions))
    throw new RangeError(`sessions must be 'auto', 'always' or 'never', not '${clip(sessions)}'`);
  if (!isTrustProxy(trustProxy)) {
    const shown = clip(String(trustProxy));
    throw new RangeError(
      `trustProxy must be the number of proxies before the server, a whole number from 0, or a function, not ${shown}`,
    );
  }
  const limits = { ...DEFAULT_LIMITS, ...settings.limits };
  checkLimits(Object.entries(limits).map(([name, limit]) => [`limits.${name}`, limit]));
  return { ...settings, path, sessions, limits, trustProxy };
}

/**
 * Which proxies before the server are trusted to name the client in `X-Forwarded-For`: how many there are, or a function
 * of a proxy's address and its position, 0 for the one that connects to the server. The address is undefined for a
 * connection without one, as over a Unix socket.
 */
export type TrustProxy = number | ((address: string | undefined, hop: number) => boolean);

/** Whether a setting is one that `clientAddress` reads; programs in JavaScript may set anything. */
export function isTrustProxy(trust: unknown): trust is TrustProxy {
  return typeof trust === 'function' || (Number.isSafeInteger(trust) && (trust as number) >= 0);
}

/**
 * The network address of the client of a request.
 *
 * Each proxy adds the address that it is connected to at the right of the header, after what the client sent. So the
 * header is read from the right, up to the first address that is not a trusted proxy. A malformed entry ends it as well:
 * then the proxy that wrote the entry counts as the client.
 *
 * @param connected the address at the other end of the connection.
 * @param forwarded the header `X-Forwarded-For`; several are joined by commas.
 */
export function clientAddress(
  connected: string | undefined,
  forwarded: string | null,
  trust: TrustProxy,
): string | undefined {
  const isTrusted = typeof trust === 'number' ? (_: unknown, hop: number) => hop < trust : trust;
  const entries = forwarded === null ? [] : forwarded.split(',').reverse();
  let address = connected === undefined ? undefined : (normalAddress(connected) ?? connected);
  for (const [hop, entry] of entries.entries()) {
    const before = normalAddress(entry.trim());
    if (before === undefined || isTrusted(address, hop) !== true) break;
    address = before;
  }
  return address;
}

/** An address with a port, as some proxies write it: `[2001:db8::1]:443` or `192.0.2.1:443`. */
const WITH_PORT = /^(?:\[([\da-f:.]+)\](?::\d{1,5})?|([\d.]+):\d{1,5})$/i;

/** One writing of an address, without a port; undefined for a text that is none. */
function normalAddress(text: string): string | undefined {
  const [, bracketed, ipv4] = WITH_PORT.exec(text) ?? [];
  const address = bracketed ?? ipv4 ?? text;
  const isAddress = ipaddr.IPv4.isValidFourPartDecimal(address) || ipaddr.IPv6.isValid(address);
  // The zone of a link-local address has a meaning on one machine alone.
  return isAddress && !address.includes('%') ? ipaddr.process(address).toString() : undefined;
}
