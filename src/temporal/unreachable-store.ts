import { once } from 'node:events';
import { connect as connectPlainly, isIP, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectByTls } from 'node:tls';
import { StoreError } from '../runtime/runs/store/store-error.js';
import { thrownText } from '../runtime/tools/exceptions.js';
import { nameOf, type ResolvedOptions } from './options.js';

/** How long a server may take to say its first word, in ms. */
const LIMIT_MS = 3_000;

/** That a server of Temporal refuses what a store needs, or cannot be connected with. */
export async function unreachableStore(options: ResolvedOptions, error: unknown): Promise<StoreError> {
  // The SDK keeps the words of the server in the cause.
  const { cause } = (error ?? {}) as { readonly cause?: unknown };
  const details = [error, cause].map((each) => (each as { readonly details?: unknown } | undefined)?.details);
  const text = details.find((each) => typeof each === 'string' && each !== '');
  const why = text ?? (await connectionFault(options)) ?? thrownText(error);
  return new StoreError('unreachable', nameOf(options), String(why), error);
}

/**
 * Why a server cannot be connected with, and what to write instead: the SDK says only that it cannot. Undefined where this
 * process connects with it as the options say.
 */
async function connectionFault({ address, tls, apiKey }: ResolvedOptions): Promise<string | undefined> {
  const { hostname, port } = new URL(`tcp://${address}`);
  const host = hostname.replaceAll(/[[\]]/g, '');
  const at = { host, port: Number(port || 7233) };
  const fault = await faultOf(() => connectPlainly(at), 'connect');
  if (fault !== undefined) return `a connection with ${address} fails with ${fault.code ?? fault.message}`;
  // With an API key the SDK uses TLS.
  const chosen = tls ?? apiKey !== undefined;
  const config = chosen === true ? {} : chosen || undefined;
  const names = { ALPNProtocols: ['h2'], servername: isIP(host) === 0 ? host : '' };
  if (config === undefined) {
    const isTls =
      (await faultOf(() => connectByTls({ ...at, ...names, rejectUnauthorized: false }))) === undefined;
    return isTls ? "the server at this address expects TLS: set 'tls' to true" : undefined;
  }
  const { serverRootCACertificate: ca, serverNameOverride: servername, clientCertPair: pair } = config;
  const secure: ConnectionOptions = {
    ...{ ...at, ...names },
    ...(ca === undefined ? {} : { ca: Buffer.from(ca) }),
    ...(servername === undefined ? {} : { servername }),
    ...(pair === undefined ? {} : { cert: Buffer.from(pair.crt), key: Buffer.from(pair.key) }),
  };
  return tlsFaultText(await faultOf(() => connectByTls(secure)));
}

interface Fault extends Error {
  readonly code?: string;
  /** Of a certificate for other hosts. */
  readonly host?: string;
  readonly cert?: { readonly subjectaltname?: string };
}

/** Why a connection fails before an event. Undefined where the event comes. */
async function faultOf(connect: () => Socket, event = 'data'): Promise<Fault | undefined> {
  let socket: Socket | undefined;
  try {
    socket = connect();
    // A server of HTTP/2 speaks as soon as it has accepted the client.
    await Promise.race([
      once(socket, event, { signal: AbortSignal.timeout(LIMIT_MS) }),
      once(socket, 'close').then(() => Promise.reject(new Error(CLOSED))),
    ]);
    return undefined;
  } catch (fault) {
    return fault as Fault;
  } finally {
    socket?.on('error', () => {}).destroy();
  }
}

const CLOSED = 'the server has closed the connection';

function tlsFaultText(fault: Fault | undefined): string | undefined {
  if (fault === undefined) return undefined;
  const { code = '', message, host, cert } = fault;
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return `the certificate of the server is for ${cert?.subjectaltname ?? 'other hosts'}, and not for '${host}': correct the address, or set 'tls.serverNameOverride' to a name of the certificate`;
  if (/SELF_SIGNED|UNABLE_TO_(GET|VERIFY)|SIGNATURE/.test(code))
    return `the certificate of the server is not signed by an authority that is trusted here (${code}): give that of its authority as 'tls.serverRootCACertificate'`;
  if (/ALERT|HANDSHAKE/.test(code))
    return `the server refuses the client (${code}): give the certificate and the key of the client as 'tls.clientCertPair'`;
  if (/^CERT_/.test(code)) return `the certificate of the server cannot be used: ${message}`;
  if (code === '' || code === 'ECONNRESET' || code === 'EPROTO' || code.startsWith('ERR_SSL_'))
    return `the server at this address does not speak TLS (${code || message}): set 'tls' to false, or correct the port`;
  return message;
}
