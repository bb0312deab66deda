import type { ServerOptions, ServerSettings } from '../../server/options.js';

import type { StepwrightServer } from '../../server/stepwright-server.js';
import type { WithFactories } from '../../tools/instances.js';
import { encodedLog } from '../../tools/log.js';
import type { Registry } from '../../tools/registry.js';
import { connectEras } from '../../transports/era-channels.js';
import { type HttpHandler, httpHandler } from '../../transports/http/endpoint.js';
import type { HttpSettings } from '../../transports/http/http-options.js';
import {
  type ListenSettings,
  type RunningHttpServer,
  serveOverHttp,
} from '../../transports/http/serve-http.js';
import type { Connection, ConnectOptions, ServerTransport } from '../../transports/protocol-adapter.js';
import { serverOrExit, untypedServer } from '../../transports/start-server.js';
import { type RunningServer, serveStdio } from '../../transports/stdio/stdio-transport.js';
import { sdk1 } from './adapter.js';

/**
 * Answers one client over a transport until either side closes it. Several clients need one transport each and may
 * share one server.
 *
 * @throws ServerStartError when `onStart` of the server throws.
 */
export function connect(
  server: StepwrightServer,
  transport: ServerTransport,
  options: ConnectOptions = {},
): Promise<Connection> {
  return connectEras(sdk1, server, transport, options);
}

/**
 * Serves a generated registry over stdio: the whole of a server program. From then on stdout belongs to the protocol,
 * and whatever else writes to it, `console.*` included, reaches stderr.
 *
 * The process ends with exit code 0 when the client closes stdin, after a second at most for requests in flight, and on
 * SIGTERM and SIGINT, once the server is drained (see `drainOnSignals`). What a tool throws outside of its calls does not
 * end it (see `guardProcess`). It ends at once, with exit code 1 and the reason on stderr, when the registry is stale, a
 * factory is missing, a built workflow has faults or `onStart` throws.
 *
 * @throws RangeError for a limit among the options that is not a positive whole number.
 * @example
 * ```ts
 * await serve(registry, { tools: { 'add-journal-task': () => new AddJournalTask(graph) } });
 * ```
 */
export async function serve<R extends Registry>(
  registry: R,
  ...[options]: ServerOptions<R>
): Promise<RunningServer> {
  return serveStdio(sdk1, await serverOrExit(registry, options), options);
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
  return httpHandler(sdk1, server, settings, encodedLog(settings.log, settings.logLevel));
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
  return serveOverHttp(sdk1, await serverOrExit(registry, options), options);
}
