import ipaddr from 'ipaddr.js';

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
