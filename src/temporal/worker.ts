import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { NativeConnection, Worker } from '@temporalio/worker';
import { defined } from '../graph/defined.js';
import { clip } from '../graph/printable-text.js';
import type { Failure } from '../runtime/engine/contract.js';
import type { RunStoreOptions } from '../runtime/runs/journal-run-store.js';
import { CallMask } from '../runtime/secrets/call-mask.js';
import { thrownText } from '../runtime/tools/exceptions.js';
import type { Log } from '../runtime/tools/log.js';
import type { CallContext, EvaluationOutcome, ResourceOutcome, ToolOutcome } from '../runtime/tools/port.js';
import type { ObservedRemoteCall } from '../runtime/tools/telemetry.js';
import { withLimit } from '../runtime/upstream/long-timer.js';
import { interpreter } from './bundle.js';
import { withCompression } from './compression.js';
import type { ResolvedOptions } from './options.js';
import { PayloadLimit } from './payload-limit.js';
import { type Activities, CALL_GRACE_MS, type RemoteCall } from './protocol.js';
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

type Sdk = typeof import('@temporalio/activity');

/** The activities of a worker. They make the calls of runs by the port of its server. */
function activitiesOf(
  {
    calls,
    telemetry,
    resultFailure,
    limit,
  }: Pick<RunStoreOptions, 'calls' | 'telemetry' | 'resultFailure'> & { readonly limit: PayloadLimit },
  { CompleteAsyncError, Context }: Sdk,
): Activities {
  const inContext = async <Outcome extends ToolOutcome | ResourceOutcome | EvaluationOutcome>(
    call: RemoteCall,
    work: (context: CallContext) => Promise<Outcome>,
  ) => {
    const activity = Context.current();
    const { cancellationSignal } = activity;
    const limitMs = activity.info.startToCloseTimeoutMs - CALL_GRACE_MS;
    // It shows that the worker lives, and learns that the call is cancelled.
    const beat = setInterval(
      () => activity.heartbeat(),
      (activity.info.heartbeatTimeoutMs ?? DEFAULT_MS) / 3,
    );
    const stop = new AbortController();
    try {
      const returned = withLimit(limitMs, cancellationSignal, async (signal, isLate) => {
        const outcome = await work(contextOf(call, signal));
        return outcome.ok || !isLate() ? outcome : ({ ...outcome, isTimedOut: true } as const);
      });
      const outcome = await Promise.race([returned, leftBehind(cancellationSignal, stop.signal)]);
      if (outcome?.ok === true || !isShutdown(cancellationSignal)) return outcome as Outcome;
    } catch (error) {
      if (!isShutdown(cancellationSignal)) throw error;
    } finally {
      clearInterval(beat);
      stop.abort();
    }
    // Without a response and without heartbeats Temporal takes the call for lost, as that of a worker that was killed.
    throw new CompleteAsyncError();
  };
  /** Makes a call under the span that started its run. */
  const traced = <Outcome extends ToolOutcome | ResourceOutcome>(
    { trace: carrier, origin }: RemoteCall,
    target: Pick<ObservedRemoteCall, 'tool' | 'resource'>,
    make: () => Promise<Outcome>,
  ): Promise<Outcome> =>
    telemetry === undefined || carrier === undefined || origin?.source !== 'workflow'
      ? make()
      : telemetry.remoteCall({ ...target, carrier, origin }, make);
  const fitting = async <Outcome extends ResourceOutcome | EvaluationOutcome>(outcome: Outcome) => {
    const excess = await limit.excess('The result', 'result', outcome);
    return excess === undefined ? outcome : ({ ok: false, failure: excess } as const);
  };
  return {
    callTool: ({ tool, input, ...call }) =>
      inContext(call, async (context) => {
        const outcome = await traced(call, { tool }, () => calls.callTool(tool, input, context));
        const { callResult: _, ...rest } = outcome;
        const excess = await limit.excess('The result', 'result', rest);
        if (excess === undefined) return rest;
        // The tool was called. Whether that took effect is as it was.
        return rest.ok
          ? { ok: false, attempted: true, acted: true, failure: excess }
          : { ...rest, failure: shortened(rest.failure) };
      }),
    readResource: ({ resource, uri, ...call }) =>
      inContext(call, async (context) => {
        const outcome = await traced(call, { resource }, () => calls.readResource(resource, uri, context));
        return fitting(outcome.ok ? { ok: true, value: outcome.value } : outcome);
      }),
    evaluate: ({ function: reference, args, ...call }) =>
      inContext(call, async (context) => fitting(await calls.evaluate(reference, args, context))),
    checkResult: async ({ tool, value }) => resultFailure?.(tool, value) ?? null,
    recordFacts: async (digests) => digests,
  };
}

/** A failure without what may be of any size. */
function shortened({ details: _, message, ...failure }: Failure): Failure {
  return { ...failure, message: clip(message) };
}

const DEFAULT_MS = 10_000;

/** How long a call may take to return after the grace of its worker, in ms. */
const RETURN_MS = 1_000;

/** Whether the worker has stopped, and the grace of its calls is over. */
function isShutdown({ reason }: AbortSignal): boolean {
  return reason instanceof Error && reason.message === 'WORKER_SHUTDOWN';
}

/** Resolves when a call has not returned although its worker has stopped. */
async function leftBehind(cancelled: AbortSignal, stop: AbortSignal): Promise<undefined> {
  try {
    if (!cancelled.aborted) await once(cancelled, 'abort', { signal: stop });
    if (!isShutdown(cancelled)) await once(stop, 'abort');
    await delay(RETURN_MS, undefined, { signal: stop });
  } catch {
    // The call has returned.
  }
}

function contextOf(
  { requestId, owner, auth, idempotencyKey, origin }: RemoteCall,
  signal: AbortSignal,
): CallContext {
  return {
    ...{ requestId, signal, principal: owner, progress: () => {}, mask: new CallMask() },
    ...defined({ auth, idempotencyKey, origin }),
  };
}
