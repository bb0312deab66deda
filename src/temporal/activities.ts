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
    limit,
  }: Pick<RunStoreOptions, 'calls' | 'telemetry'> & { readonly limit: PayloadLimit },
  { Context }: Sdk,
): Activities {
  const inContext = async <Outcome extends ToolOutcome | ResourceOutcome | EvaluationOutcome>(
    call: RemoteCall,
    work: (context: CallContext) => Promise<Outcome>,
  ) => {
    const activity = Context.current();
    const limitMs = activity.info.startToCloseTimeoutMs - CALL_GRACE_MS;
    // It shows that the worker lives, and learns that the call is cancelled.
    const beat = setInterval(
      () => activity.heartbeat(),
      (activity.info.heartbeatTimeoutMs ?? DEFAULT_MS) / 3,
    );
    try {
      return await withLimit(limitMs, activity.cancellationSignal, async (signal, isLate) => {
        const outcome = await work(contextOf(call, signal));
        return outcome.ok || !isLate() ? outcome : ({ ...outcome, isTimedOut: true } as const);
      });
    } finally {
      clearInterval(beat);
    }
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
    recordFacts: async (digests) => digests,
  };
}

/** A failure without what may be of any size. */
function shortened({ details: _, message, ...failure }: Failure): Failure {
  return { ...failure, message: clip(message) };
}

const DEFAULT_MS = 10_000;

function contextOf(
  { requestId, owner, auth, idempotencyKey, origin }: RemoteCall,
  signal: AbortSignal,
): CallContext {
  return {
    ...{ requestId, signal, principal: owner, progress: () => {}, mask: new CallMask() },
    ...defined({ auth, idempotencyKey, origin }),
  };
}
