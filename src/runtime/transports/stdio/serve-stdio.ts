import { defined } from '../../../graph/defined.js';
import type { ServerSettings } from '../../server/options.js';
import {
  drainOnSignals,
  endProcess,
  guardProcess,
  reportExitDuringCalls,
  strayOutputReport,
} from '../../server/process.js';
import type { StepwrightServer } from '../../server/stepwright-server.js';
import { encodedLog } from '../../tools/log.js';
import { connectEras } from '../era-channels.js';
import type { ProtocolAdapter } from '../protocol-adapter.js';
import { startOrExit } from '../start-server.js';
import { claimStdio } from './stdio-transport.js';

/** A server over stdio. */
export interface RunningServer {
  readonly server: StepwrightServer;
  /** Settles when the client has hung up, the process got a signal to stop, or `close` was called. */
  readonly closed: Promise<void>;
  /** Aborts requests in flight, ends the connection and restores stdout; the process stays alive. */
  close(): Promise<void>;
}

/** How long requests in flight may still take once the client has closed stdin. */
const HANG_UP_GRACE_MS = 1_000;

/** Starts a server and lets it answer over stdio; see `serve` of the adapter. */
export async function serveStdio(
  adapter: ProtocolAdapter,
  server: StepwrightServer,
  options: ServerSettings | undefined,
): Promise<RunningServer> {
  const { log, logLevel } = options ?? {};
  const logged = defined({ log });
  const entries = encodedLog(log, logLevel);
  if (options?.questions?.page === true) {
    const text = 'questions.page has no effect over stdio: serve over HTTP, where people can open the pages';
    entries(text, { event: 'workflow.warning', level: 'warning' });
  }
  const stdio = claimStdio(adapter.check, strayOutputReport(server, entries));
  await startOrExit(server);
  const connection = await connectEras(adapter, server, stdio.transport, { local: true, ...logged });
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
