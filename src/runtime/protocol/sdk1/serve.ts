import { defined } from '../../../graph/defined.js';
import { StoreError } from '../../runs/store/sqlite/store-error.js';
import { ServerStartError } from '../../server/lifecycle.js';
import type { ServerOptions, ServerSettings } from '../../server/options.js';
import {
  drainOnSignals,
  endProcess,
  guardProcess,
  reportExitDuringCalls,
  strayOutputReport,
} from '../../server/process.js';
import { RegistrationError } from '../../server/registrations.js';
import { createServer } from '../../server/server.js';
import { SpecError } from '../../server/specs/url-rules.js';
import type { StepwrightServer } from '../../server/stepwright-server.js';
import { FactoriesError } from '../../tools/factories.js';
import { encodedLog } from '../../tools/log.js';
import { type Registry, StaleRegistryError } from '../../tools/registry.js';
import { connect } from './connect.js';
import { claimStdio } from './stdio.js';

/** A server over stdio. */
export interface RunningServer {
  readonly server: StepwrightServer;
  /** Settles when the client has hung up, the process got a signal to stop, or `close` was called. */
  readonly closed: Promise<void>;
  /** Aborts requests in flight, ends the connection and restores stdout; the process goes on. */
  close(): Promise<void>;
}

/** How long requests in flight may still take once the client has closed stdin. */
const HANG_UP_GRACE_MS = 1_000;

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
  const server = await serverOrExit(registry, options);
  const { log, logLevel }: ServerSettings = options ?? {};
  const logged = defined({ log });
  const entries = encodedLog(log, logLevel);
  const stdio = claimStdio(strayOutputReport(server, entries));
  await startOrExit(server);
  const connection = await connect(server, stdio.transport, { local: true, ...logged });
  const removeGuard = guardProcess(logged);
  const ignoreExit = reportExitDuringCalls(server, entries);
  const stop = (): void => void connection.close();
  const close = (): Promise<void> => connection.close({ graceMs: HANG_UP_GRACE_MS });
  const ignoreSignals = drainOnSignals(server, { close });
  stdio.broken.then(stop);
  stdio.ended.then(close);

  let keepProcess = false;
  const closed = connection.closed.then(async () => {
    server.endRuns('the server was stopped');
    await server.stop();
    stdio.release();
    ignoreExit();
    if (keepProcess) {
      removeGuard();
      ignoreSignals();
      return;
    }
    process.stdin.destroy();
    endProcess();
  });
  return {
    server,
    closed,
    close() {
      keepProcess = true;
      stop();
      return closed;
    },
  };
}

/** `createServer`, for options that were checked where the registry's type is known. */
export function untypedServer(registry: Registry, options: unknown): StepwrightServer {
  return createServer<Registry>(
    registry,
    options as ServerOptions<Registry, readonly [], readonly [], 'w_'>[0],
  );
}

/** As {@link untypedServer}; a fault of the program is written to stderr, and ends the process. */
export async function serverOrExit(registry: Registry, options: unknown): Promise<StepwrightServer> {
  try {
    return untypedServer(registry, options);
  } catch (error) {
    const isTheProgrammers =
      error instanceof StaleRegistryError ||
      error instanceof RegistrationError ||
      error instanceof FactoriesError;
    if (!isTheProgrammers) throw error;
    return exitWith(error);
  }
}

/** Opens the store of a server, calls `onStart` and reads spec files. If that fails, it is written to stderr, and the process ends with exit code 1. */
export async function startOrExit(server: StepwrightServer): Promise<void> {
  try {
    await server.start();
  } catch (error) {
    if (!START_FAULTS.some((fault) => error instanceof fault)) throw error;
    await exitWith(error as Error);
  }
}

/** What keeps a server from starting and is not a fault of this product. */
const START_FAULTS = [ServerStartError, StoreError, SpecError, RegistrationError] as const;

async function exitWith({ message }: Error): Promise<never> {
  // The message says what to do; a stack would bury it.
  await new Promise<void>((resolve) => process.stderr.write(`${message}\n`, () => resolve()));
  return process.exit(1);
}
