import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { HttpSettings } from '../../server/http/http-options.js';
import { httpTexts } from '../../server/http/http-texts.js';
import type { ServerSettings } from '../../server/options.js';
import { drainOnSignals, guardProcess, reportExitDuringCalls } from '../../server/process.js';
import type { StepwrightServer } from '../../server/stepwright-server.js';
import type { WithFactories } from '../../tools/factories.js';
import { encodedLog } from '../../tools/log.js';
import type { Registry } from '../../tools/registry.js';
import { type HttpHandler, httpHandler } from './http.js';
import { serverOrExit, startOrExit, untypedServer } from './serve.js';

/** Where a server listens. */
export interface ListenSettings {
  /** 0 chooses a free one. Default: 3000. */
  readonly port?: number;
  /** The address to listen at. Default: `127.0.0.1`, which only this machine reaches. */
  readonly host?: string;
}

/** A server over HTTP. */
export interface RunningHttpServer {
  readonly server: StepwrightServer;
  /** Where clients find it. */
  readonly url: URL;
  /** Settles when it no longer listens. */
  readonly closed: Promise<void>;
  /** Answers the requests in flight, within `graceMs` (default 1 000), and ends all connections; the process goes on. */
  close(options?: { readonly graceMs?: number }): Promise<void>;
}

/**
 * Answers MCP over HTTP where requests and responses are those of the web platform: Hono, Next, Bun, Deno, workers.
 * The server of the registry is in `server`.
 *
 * @throws StaleRegistryError, RegistrationError, FactoriesError as `createServer` does.
 * @throws RangeError for a setting that is malformed.
 * @example
 * ```ts
 * const mcp = fetchHandler(registry, { allowedHosts: ['mcp.example.com'] });
 * app.all('/mcp', (c) => mcp(c.req.raw));
 * ```
 */
export function fetchHandler<R extends Registry>(
  registry: R,
  ...options: WithFactories<R, ServerSettings & HttpSettings>
): HttpHandler;
/** Answers for a server that `createServer` has made. */
export function fetchHandler(
  server: StepwrightServer,
  settings?: HttpSettings & Pick<ServerSettings, 'log' | 'logLevel'>,
): HttpHandler;
export function fetchHandler(
  served: Registry | StepwrightServer,
  settings: ServerSettings & HttpSettings = {},
): HttpHandler {
  const server = 'callTool' in served ? served : untypedServer(served, settings);
  return httpHandler(server, settings, encodedLog(settings.log, settings.logLevel));
}

/**
 * Answers MCP in programs of `node:http` and Express: `app.all('/mcp', nodeHandler(fetchHandler(registry)))`. A body
 * that `express.json()` has parsed is used as it is.
 */
export function nodeHandler(
  handler: HttpHandler,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  let listener: ReturnType<typeof listenerOf> | undefined;
  return async (request, response) => {
    listener ??= listenerOf(handler);
    await (await listener)(request, response);
  };
}

/** Loads what a server over stdio does not need: with it comes the whole of `fetch`. */
async function listenerOf(handler: HttpHandler) {
  const { getRequestListener } = await import('@hono/node-server');
  return getRequestListener(
    (request, { incoming }) =>
      handler(request, {
        remoteAddress: incoming.socket.remoteAddress,
        parsedBody: (incoming as { readonly body?: unknown }).body,
      }),
    { overrideGlobalObjects: false },
  );
}

/**
 * Serves a generated registry over streamable HTTP: the whole of a server program. It answers at `path`, and at `/health`
 * and `/ready`, which is 503 while the server is being drained.
 *
 * Only requests for the hosts in `allowedHosts` are answered, by default those for this machine. SIGTERM and SIGINT end
 * the process once the server is drained (see `drainOnSignals`). It ends at once, with exit code 1 and the reason on
 * stderr, when the registry is stale, a factory is missing, a built workflow has faults or `onStart` throws.
 *
 * @throws RangeError for a setting that is malformed.
 * @throws Error when it cannot listen: the port is in use.
 * @example
 * ```ts
 * await serveHttp(registry, { port: 8080, host: '0.0.0.0', allowedHosts: ['mcp.example.com'] });
 * ```
 */
export async function serveHttp<R extends Registry>(
  registry: R,
  ...[options]: WithFactories<R, ServerSettings & HttpSettings & ListenSettings>
): Promise<RunningHttpServer> {
  const { port = 3000, host = '127.0.0.1' }: ListenSettings = options ?? {};
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new RangeError(httpTexts.badPort(port));
  const server = await serverOrExit(registry, options);
  await startOrExit(server);
  const log = encodedLog(options?.log, options?.logLevel);
  const handler = httpHandler(server, options ?? {}, log);
  // Loaded here, since a server over stdio starts without it.
  const { createServer: createHttpServer } = await import('node:http');
  const http = createHttpServer(nodeHandler(handler));
  await listen(http, host, port).catch(async (error: unknown) => {
    await server.stop();
    throw error;
  });
  const removeGuard = guardProcess({ log });
  const ignoreExit = reportExitDuringCalls(server, log);
  const closed = new Promise<void>((resolve) => {
    http.once('close', resolve);
  });
  void closed.then(ignoreExit);
  const end = async (graceMs: number): Promise<void> => {
    http.close();
    await handler.close({ graceMs });
    await flushed(http, closed);
  };
  const ignoreSignals = drainOnSignals(server, { close: () => end(CLOSE_GRACE_MS) });
  const url = addressOf(http, host, options?.path ?? '/mcp');
  log(httpTexts.listening(url.href, options?.sessions ?? 'auto', options?.store), {
    event: 'server.listening',
    level: 'info',
  });
  return {
    server,
    url,
    closed,
    async close({ graceMs = CLOSE_GRACE_MS } = {}) {
      ignoreSignals();
      await end(graceMs);
      server.endRuns('the server was stopped');
      await server.stop();
      removeGuard();
    },
  };
}

/** How long answers that were given may take to be sent. */
const CLOSE_GRACE_MS = 1_000;

/** Ends the connections of an HTTP server that no longer listens, once they have sent their responses. */
async function flushed(http: Server, closed: Promise<void>): Promise<void> {
  const idle = setInterval(() => http.closeIdleConnections(), 10);
  const late = setTimeout(() => http.closeAllConnections(), CLOSE_GRACE_MS);
  http.closeIdleConnections();
  await closed;
  clearInterval(idle);
  clearTimeout(late);
}

async function listen(http: Server, host: string, port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException): void => {
      if (error.code === 'EADDRINUSE') reject(new Error(httpTexts.portInUse(host, port), { cause: error }));
      else reject(error);
    };
    http.once('error', fail);
    http.listen(port, host, () => {
      http.off('error', fail);
      resolve();
    });
  });
}

function addressOf(http: Server, host: string, path: string): URL {
  const { port } = http.address() as AddressInfo;
  const name = host.includes(':') ? `[${host}]` : host;
  return new URL(`http://${name}:${port}${path}`);
}
