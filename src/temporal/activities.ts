import { defined } from '../graph/defined.js';
import type { RunStoreOptions } from '../runtime/runs/journal-run-store.js';
import { CallMask } from '../runtime/secrets/call-mask.js';
import type { CallContext } from '../runtime/tools/port.js';
import type { Activities, RemoteCall } from './protocol.js';

type Sdk = typeof import('@temporalio/activity');

/** The activities of a worker. They make the calls of runs by the port of its server. */
export function activitiesOf({ calls }: Pick<RunStoreOptions, 'calls'>, { Context }: Sdk): Activities {
  const inContext = async <T>(call: RemoteCall, work: (context: CallContext) => Promise<T>): Promise<T> => {
    const activity = Context.current();
    // It shows that the worker lives, and learns that the call is cancelled.
    const beat = setInterval(
      () => activity.heartbeat(),
      (activity.info.heartbeatTimeoutMs ?? DEFAULT_MS) / 3,
    );
    try {
      return await work(contextOf(call, activity.cancellationSignal));
    } finally {
      clearInterval(beat);
    }
  };
  return {
    callTool: ({ tool, input, ...call }) =>
      inContext(call, async (context) => {
        const outcome = await calls.callTool(tool, input, context);
        const { callResult: _, ...sent } = outcome;
        return sent;
      }),
    readResource: ({ resource, uri, ...call }) =>
      inContext(call, async (context) => {
        const outcome = await calls.readResource(resource, uri, context);
        return outcome.ok ? { ok: true, value: outcome.value } : outcome;
      }),
    evaluate: ({ function: reference, args, ...call }) =>
      inContext(call, (context) => calls.evaluate(reference, args, context)),
    recordFacts: async (digests) => digests,
  };
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
