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

const OCTET = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
const IPV4 = new RegExp(`^(${OCTET}(?:\\.${OCTET}){3})(?::\\d{1,5})?$`);
const IPV6 = /^(?:\[([\da-f:.]{2,45})\](?::\d{1,5})?|([\da-f:.]{2,45}))$/i;
/** An IPv4 address within IPv6, as the parser of URLs writes it. */
const MAPPED = /^::ffff:([\da-f]{1,4}):([\da-f]{1,4})$/;

/** One writing of an address, without a port; undefined for a text that is none. */
function normalAddress(text: string): string | undefined {
  const ipv4 = IPV4.exec(text)?.[1];
  if (ipv4 !== undefined) return ipv4;
  const [, bracketed, plain] = IPV6.exec(text) ?? [];
  const host = `http://[${bracketed ?? plain ?? ''}]`;
  if (!URL.canParse(host)) return undefined;
  const ipv6 = new URL(host).hostname.slice(1, -1);
  const [, high, low] = MAPPED.exec(ipv6) ?? [];
  if (high === undefined || low === undefined) return ipv6;
  return [high, low]
    .flatMap((part) => [Number.parseInt(part, 16) >> 8, Number.parseInt(part, 16) & 255])
    .join('.');
}
