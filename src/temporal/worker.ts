import type { NativeConnection, Worker } from '@temporalio/worker';
import { defined } from '../graph/defined.js';
import type { RunStoreOptions } from '../runtime/runs/journal-run-store.js';
import { thrownText } from '../runtime/tools/exceptions.js';
import type { Log } from '../runtime/tools/log.js';
import { activitiesOf } from './activities.js';
import { interpreter } from './bundle.js';
import { withCompression } from './compression.js';
import type { ResolvedOptions } from './options.js';
import { PayloadLimit } from './payload-limit.js';
import { loadSdk } from './sdk.js';

/** A worker that executes runs until it is stopped. */
export interface RunningWorker {
  /** Rejects with what has ended the worker before it was stopped. */
  readonly ended: Promise<void>;
  /** Resolves when the calls in flight have returned, or their grace is over. Rejects with what ended the worker before. */
  stop(): Promise<void>;
}

/**
 * How long a run waits for the worker that has it in memory, in ms: after that another one replays it. The default of the SDK is
 * as long as a request may wait for a response.
 */
const STICKY_MS = 2_000;

/**
 * How long the interpreter may compute at once, in ms by the clock; the types of the SDK leave it out. Its default is 5 s, which
 * pass on a busy machine before it got a processor: it is then ended in the middle, and Node 20 ends the process ("async hook
 * stack has become corrupted").
 */
const COMPUTING = { isolateExecutionTimeout: 60_000 };

/** How long calls in flight may take when a worker is stopped, in ms. The SDK would abort them at once. */
const GRACE_MS = 30_000;

/**
 * Starts a worker in this process. Resolves when it is ready.
 *
 * @param stopped rejects with its reason while the interpreter is bundled, which takes seconds.
 */
export async function startWorkerOf(
  { address, namespace, taskQueue, worker, dataConverter, bundlePath, ...connecting }: ResolvedOptions,
  options: Pick<RunStoreOptions, 'calls' | 'log' | 'resultFailure' | 'telemetry'>,
  stopped: AbortSignal,
): Promise<RunningWorker> {
  const [sdk, activity] = await Promise.all([loadSdk('worker'), loadSdk('activity')]);
  useLog(sdk, options.log);
  const { tls, apiKey, metadata } = connecting;
  const workflowBundle = await interpreter(defined({ bundlePath, dataConverter }), stopped);
  stopped.throwIfAborted();
  const connection = await sdk.NativeConnection.connect({ address, ...defined({ tls, apiKey, metadata }) });
  try {
    const limit = await PayloadLimit.of(connection, { namespace, ...defined({ dataConverter }) });
    const running = await sdk.Worker.create({
      stickyQueueScheduleToStartTimeout: STICKY_MS,
      ...COMPUTING,
      shutdownGraceTime: GRACE_MS,
      ...(typeof worker === 'object' ? defined(worker) : {}),
      ...{ connection, namespace, taskQueue, workflowBundle },
      dataConverter: withCompression(dataConverter),
      activities: activitiesOf({ ...options, limit }, activity),
    });
    return new OwnWorker(running, connection, options.log);
  } catch (error) {
    await connection.close();
    throw error;
  }
}

/**
 * Warnings and errors of the SDK go to the log of the server, unless the program has installed a runtime of its own. The SDK
 * would stop workers at once when the process receives a signal: a draining server needs its worker to answer its requests.
 */
function useLog({ DefaultLogger, Runtime }: typeof import('@temporalio/worker'), log: Log): void {
  const logger = new DefaultLogger('WARN', ({ level, message, meta }) => {
    const text = meta?.error === undefined ? message : `${message}: ${thrownText(meta.error)}`;
    if (message === 'Worker failed') causes.set(meta?.taskQueue, meta?.error);
    log(text, { event: 'store.failed', level: level === 'ERROR' ? 'error' : 'warning' });
  });
  try {
    Runtime.install({ logger, shutdownSignals: [] });
  } catch {
    // There is one already.
  }
}

/** What has ended workers, by their task queues: an SDK that cannot shut one down rejects with that instead. */
const causes = new Map<unknown, unknown>();

class OwnWorker implements RunningWorker {
  readonly #worker: Worker;
  readonly #connection: NativeConnection;
  readonly ended: Promise<void>;

  constructor(worker: Worker, connection: NativeConnection, log: Log) {
    this.#worker = worker;
    this.#connection = connection;
    this.ended = worker.run().catch((error: unknown) => {
      throw causes.get(worker.options.taskQueue) ?? error;
    });
    this.ended.catch((error: unknown) => {
      const text = `The worker has ended, and executes no more runs: ${thrownText(error)}`;
      log(text, { event: 'store.failed', level: 'error' });
    });
  }

  async stop(): Promise<void> {
    if (this.#worker.getState() === 'RUNNING') this.#worker.shutdown();
    try {
      await this.ended;
    } finally {
      await this.#connection.close();
    }
  }
}
