import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { defined } from '../graph/defined.js';
import { clip } from '../graph/printable-text.js';
import type { Failure } from '../runtime/engine/contract.js';
import type { RunStoreOptions } from '../runtime/runs/journal-run-store.js';
import { CallMask } from '../runtime/secrets/call-mask.js';
import type { CallContext, EvaluationOutcome, ResourceOutcome, ToolOutcome } from '../runtime/tools/port.js';
import type { ObservedRemoteCall } from '../runtime/tools/telemetry.js';
import { withLimit } from '../runtime/upstream/long-timer.js';
import type { PayloadLimit } from './payload-limit.js';
import { type Activities, CALL_GRACE_MS, type RemoteCall } from './protocol.js';

type Sdk = typeof import('@temporalio/activity');

/** The activities of a worker. They make the calls of runs by the port of its server. */
export function activitiesOf(
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
