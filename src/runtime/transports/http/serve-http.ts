import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ServerSettings } from '../../server/options.js';
import { drainOnSignals, guardProcess, reportExitDuringCalls } from '../../server/process.js';
import type { StepwrightServer } from '../../server/stepwright-server.js';
import { encodedLog } from '../../tools/log.js';
import type { ProtocolAdapter } from '../protocol-adapter.js';
import { startOrExit } from '../start-server.js';
import { type HttpHandler, httpHandler } from './endpoint.js';
import { urlHost } from './host-validation.js';
import type { HttpSettings } from './http-options.js';

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
  /** Answers the requests in flight, within `graceMs` (default 1 000), and ends all connections; the process stays alive. */
  close(options?: { readonly graceMs?: number }): Promise<void>;
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

/** Starts a server and lets it answer over HTTP; see `serveHttp` of the adapter. */
export async function serveOverHttp(
  adapter: ProtocolAdapter,
  server: StepwrightServer,
  options: (ServerSettings & HttpSettings & ListenSettings) | undefined,
): Promise<RunningHttpServer> {
  const { port = 3000, host = '127.0.0.1' } = options ?? {};
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new RangeError(`port must be a whole number from 0 to 65535, not ${String(port)}`);
  await startOrExit(server);
  const log = encodedLog(options?.log, options?.logLevel);
  const handler = httpHandler(adapter, server, options ?? {}, log);
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
  const { sessions = 'auto', store = 'memory' } = options ?? {};
  const place = store === 'memory' ? 'the memory of this process' : `'${store}'`;
  log(`serving MCP at ${url.href}; sessions: ${sessions}; runs are kept in ${place}`, {
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
      const text = `port ${port} of ${host} is in use: stop the other program, or choose another port`;
      reject(error.code === 'EADDRINUSE' ? new Error(text, { cause: error }) : error);
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
  const name = urlHost(host);
  return new URL(`http://${name}:${port}${path}`);
}
