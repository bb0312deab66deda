import { clip } from '../../../graph/printable-text.js';

/** What an HTTP server tells clients whose requests go no further, and its operator. */
export const httpTexts = {
  notFound: (path: string, served: string) =>
    `Not found: ${clip(path)}. This server answers MCP at ${served}`,
  methodNotAllowed: (method: string) =>
    `Method not allowed: ${clip(method)}. Send messages with POST; GET and DELETE need the session of an Mcp-Session-Id header`,
  bodyTooLong: (limit: number) =>
    `Payload too large: a body must not exceed ${limit} bytes; send large content in several calls, or a reference to it`,
  left: () => 'The client has left',
  noSession: () =>
    'Session not found: it has ended, or it was never yours. Send `initialize` to begin another one',
  tooManySessions: (limit: number) =>
    `Service unavailable: this server keeps ${limit} sessions, and each of them is in use. Try again later`,
  tooManyRequests: (limit: number) =>
    `Too many requests: ${limit} requests of this caller are waiting already. Try again when some of them are answered`,
  shuttingDown: () =>
    'Service unavailable: the server is shutting down. Connect again and repeat the request',
  internal: () => 'Internal error; the log of the server has the details',

  noToken: () => 'This server needs a bearer token',
  notBearer: () => 'The Authorization header must be `Bearer` and a token',
  unknownToken: () => 'The token is unknown, or was revoked',
  expiredToken: () => 'The token has expired',
  foreignToken: () => 'The token was issued for another server',
  missingScopes: (scopes: readonly string[]) => `The token lacks the scopes ${scopes.join(' ')}`,

  threw: (shown: string) => `an HTTP request failed: ${shown}`,
  verifyThrew: (shown: string) => `auth.verify threw: ${shown}`,
  badVerified: (what: string) =>
    `auth.verify must return { clientId, scopes } or undefined, but returned ${what}: the request was refused`,
  unread: (limit: number) =>
    `the connection of a client that does not read was ended: more than ${limit} bytes waited for it`,
  notPath: (path: string) => `path must begin with "/" and have no "?" or "#", and is '${clip(path)}'`,
  notResource: (text: string) =>
    `auth.resource must be an absolute URL without fragment, not '${clip(text)}'`,
  notAuthorizationServer: (text: string) =>
    `auth.authorizationServers lists '${clip(text)}', which is not an absolute http(s) URL`,
  notScope: (text: string) =>
    `auth lists the scope '${clip(text)}': a scope has no spaces, quotes or backslashes`,
  badMode: (mode: string) => `sessions must be 'auto', 'always' or 'never', not '${clip(mode)}'`,
  badTrustProxy: (trust: unknown) =>
    `trustProxy must be the number of proxies before the server, a whole number from 0, or a function, not ${clip(String(trust))}`,
  badPort: (port: unknown) => `port must be a whole number from 0 to 65535, not ${String(port)}`,
  portInUse: (host: string, port: number) =>
    `port ${port} of ${host} is in use: stop the other program, or choose another port`,
  listening: (url: string, sessions: string, store = 'memory') =>
    `serving MCP at ${url}; sessions: ${sessions}; runs are kept in ${store === 'memory' ? 'the memory of this process' : `'${store}'`}`,
} as const;
