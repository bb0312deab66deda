import { lookup as systemLookup } from 'node:dns/promises';
import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import { isIP, type LookupFunction } from 'node:net';
import { formatOf, type TextFormat } from '../../../formats/text/read-text.js';
import { clip } from '../../../graph/printable-text.js';
import { thrownText } from '../../tools/exceptions.js';
import { shownUrl, type UrlRules } from './url-rules.js';

/** An address of a host. */
export interface HostAddress {
  readonly address: string;
  readonly family: number;
}

/** How much reading one address may take. */
export interface FetchLimits {
  readonly connectMs: number;
  /** All redirects together. */
  readonly totalMs: number;
  readonly bytes: number;
  readonly redirects: number;
}

export interface FetchOptions {
  readonly rules: UrlRules;
  /** Default: that of the system. */
  readonly lookup?: (host: string) => Promise<readonly HostAddress[]>;
  readonly limits?: Partial<FetchLimits>;
}

const LIMITS: FetchLimits = { connectMs: 3_000, totalMs: 10_000, bytes: 262_144, redirects: 3 };

/** The content types of spec files. */
const TYPES: Readonly<Record<string, TextFormat>> = {
  'application/yaml': 'yaml',
  'application/x-yaml': 'yaml',
  'text/yaml': 'yaml',
  'text/x-yaml': 'yaml',
  'application/json': 'json',
  'application/xml': 'xml',
  'text/xml': 'xml',
};

const SHOWN_TYPES = ['application/yaml', 'application/json', 'application/xml'];

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** What was read from an address. */
export interface FetchedSpec {
  readonly text: string;
  readonly format: TextFormat;
}

/** Why an address was not read, for the operator: it says what the network is like. */
export class FetchFault extends Error {
  override readonly name = 'FetchFault';
}

/**
 * Reads the text of a spec file from an address that the rules allow. Each redirect is checked as the first address is,
 * and the addresses of each host are checked before it is connected to: the connection goes to one of those that were
 * checked, whatever its name resolves to then.
 *
 * @throws FetchFault
 */
export async function fetchSpec(start: URL, options: FetchOptions): Promise<FetchedSpec> {
  const limits = { ...LIMITS, ...options.limits };
  const controller = new AbortController();
  const late = new FetchFault(`it is not complete within ${limits.totalMs} ms`);
  let fail: (fault: Error) => void = () => {};
  const expired = new Promise<never>((_resolve, reject) => {
    fail = reject;
  });
  const timer = setTimeout(() => {
    fail(late);
    controller.abort(late);
  }, limits.totalMs);
  try {
    return await Promise.race([follow(start, options, limits, controller.signal), expired]);
  } finally {
    clearTimeout(timer);
    controller.abort(late);
  }
}

async function follow(
  start: URL,
  options: FetchOptions,
  limits: FetchLimits,
  signal: AbortSignal,
): Promise<FetchedSpec> {
  let url = start;
  for (let hop = 0; hop <= limits.redirects; hop += 1) {
    const addresses = await addressesOf(url, options);
    const response = await requested(url, addresses, options.rules, limits, signal);
    const status = response.statusCode ?? 0;
    if (!REDIRECTS.has(status)) {
      if (status !== 200) throw new FetchFault(`the server answers with the status ${status}`);
      return await readResponse(url, response, limits);
    }
    response.destroy();
    url = redirected(url, status, response.headers.location, options.rules);
  }
  throw new FetchFault(`it is redirected more than ${limits.redirects} times`);
}

function redirected(from: URL, status: number, location: string | undefined, rules: UrlRules): URL {
  if (location === undefined || !URL.canParse(location, from.href))
    throw new FetchFault(`the status ${status} comes without an address`);
  const to = new URL(location, from.href);
  to.hash = '';
  if (from.protocol === 'https:' && to.protocol === 'http:')
    throw new FetchFault(`it is redirected from https to ${clip(shownUrl(to))}`);
  if (!rules.allows(to))
    throw new FetchFault(
      `it is redirected to ${clip(shownUrl(to))}, which is not among the addresses of specs.remote.allow`,
    );
  return to;
}

/** The addresses of a host. One that is not allowed refuses all of them. */
async function addressesOf(
  url: URL,
  { rules, lookup = everyAddress }: FetchOptions,
): Promise<readonly HostAddress[]> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const family = isIP(host);
  const addresses = family === 0 ? await resolved(host, lookup) : [{ address: host, family }];
  for (const { address } of addresses) {
    const fault = rules.addressFault(url, address);
    if (fault !== undefined) throw new FetchFault(fault);
  }
  return addresses;
}

async function resolved(
  host: string,
  lookup: NonNullable<FetchOptions['lookup']>,
): Promise<readonly HostAddress[]> {
  try {
    const addresses = await lookup(host);
    if (addresses.length > 0) return addresses;
  } catch (error) {
    const { code = thrownText(error) } = error as { readonly code?: unknown };
    throw new FetchFault(`the name ${host} is not resolved (${String(code)})`);
  }
  throw new FetchFault(`the name ${host} is not resolved (no address)`);
}

function everyAddress(host: string): Promise<readonly HostAddress[]> {
  return systemLookup(host, { all: true });
}

/** Sends one request, to one of these addresses. */
async function requested(
  url: URL,
  addresses: readonly HostAddress[],
  rules: UrlRules,
  { connectMs }: FetchLimits,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const isTls = url.protocol === 'https:';
  const { request, Agent } = isTls ? await import('node:https') : await import('node:http');
  const options: RequestOptions = {
    // An agent of its own: no connection of another request is used, and no proxy of the environment.
    agent: new Agent({ keepAlive: false }),
    lookup: pinned(addresses),
    signal,
    headers: {
      ...rules.headersFor(url),
      accept: [...Object.keys(TYPES), 'text/plain'].join(', '),
      'accept-encoding': 'identity',
      'user-agent': 'stepwright',
    },
  };
  return new Promise((resolve, reject) => {
    const outgoing: ClientRequest = request(url, options);
    const timer = setTimeout(
      () => outgoing.destroy(new FetchFault(`there is no connection within ${connectMs} ms`)),
      connectMs,
    );
    const stopTimer = (): void => clearTimeout(timer);
    outgoing.once('socket', (socket) => socket.once(isTls ? 'secureConnect' : 'connect', stopTimer));
    outgoing.once('close', stopTimer);
    outgoing.once('response', resolve);
    outgoing.on('error', (error) => reject(faultOf(error)));
    outgoing.end();
  });
}

/** Resolves every name to addresses that were checked. */
function pinned(addresses: readonly HostAddress[]): LookupFunction {
  return (_host, { all }, callback) => {
    const [first = { address: '', family: 4 }] = addresses;
    if (all === true) callback(null, [...addresses]);
    else callback(null, first.address, first.family);
  };
}

async function readResponse(
  url: URL,
  response: IncomingMessage,
  { bytes }: FetchLimits,
): Promise<FetchedSpec> {
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = response.headers;
  try {
    if (encoding.trim().toLowerCase() !== 'identity')
      throw new FetchFault(`its content is compressed (${clip(encoding)}): send it as it is`);
    const format = formatFor(type, url);
    if (format === undefined)
      throw new FetchFault(
        `its content type is '${clip(type)}': use ${SHOWN_TYPES.join(', ')}, or text/plain for a path that ends with .yaml, .yml, .json or .xml`,
      );
    const chunks: Buffer[] = [];
    let length = 0;
    for await (const chunk of response) {
      chunks.push(chunk as Buffer);
      length += (chunk as Buffer).length;
      if (length > bytes) throw new FetchFault(`it has more than ${bytes} bytes`);
    }
    return { text: utf8(Buffer.concat(chunks)), format };
  } catch (error) {
    throw faultOf(error);
  } finally {
    response.destroy();
  }
}

function formatFor(type: string, { pathname }: URL): TextFormat | undefined {
  const media = type.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return media === 'text/plain' ? formatOf(pathname) : TYPES[media];
}

function utf8(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new FetchFault('it is not UTF-8');
  }
}

function faultOf(error: unknown): FetchFault {
  if (error instanceof FetchFault) return error;
  const { cause } = error as { readonly cause?: unknown };
  return cause instanceof FetchFault ? cause : new FetchFault(`the connection failed: ${thrownText(error)}`);
}
