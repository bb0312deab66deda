import type { JsonObject } from '../../graph/json.js';
import type { RunAnswer } from '../runs/run/envelope.js';
import { accessKey } from '../runs/run/owner.js';
import type { NewRun, RunStore, Waiter } from '../runs/run-store.js';
import { Seal } from './seal.js';

/**
 * Runs of which each is started once: a request that a client sends again, with the same key, gets the run of the first one.
 * A run that failed or was cancelled is started again. The id of a run follows from the request, so that all processes
 * with the key of the store find it.
 */
export function startedOnce(runs: RunStore, sealing: Pick<RunStore, 'key'>): RunStore {
  const seal = new Seal(sealing, 'repeated starts');
  const start = async (run: NewRun, waiter: Waiter, before = 0): Promise<RunAnswer> => {
    const { idempotencyKey } = waiter.request;
    if (idempotencyKey === undefined) return runs.start(run, waiter);
    const { owner, graph, input, task } = run;
    const request: JsonObject = { name: graph.name, input, tool: task?.tool ?? null };
    const id = await seal.digest([accessKey(owner), idempotencyKey, request, before]);
    // What was observed of a run before is not observed again.
    const { observe: _, conclude: __, ...rest } = waiter;
    const first = async (): Promise<RunAnswer | undefined> => {
      const answer = await runs.get(owner, id, { waiter: rest });
      if (!answer.ok) return undefined;
      const { status } = answer.envelope;
      return status === 'failed' || status === 'cancelled' ? start(run, waiter, before + 1) : answer;
    };
    const earlier = await first();
    if (earlier !== undefined) return earlier;
    try {
      return await runs.start({ ...run, id }, waiter);
    } catch (fault) {
      // The same request may have started it meanwhile, in this process or in another one.
      const meanwhile = await first();
      if (meanwhile === undefined) throw fault;
      return meanwhile;
    }
  };
  return withMethods(runs, { start: (run, waiter) => start(run, waiter) });
}

/** Runs with other methods in the place of some. What the runs have not got, a wrapper has not got either. */
export function withMethods(runs: RunStore, methods: Partial<RunStore>): RunStore {
  return new Proxy(runs, {
    get(target, name) {
      const value: unknown = Reflect.get(methods, name) ?? Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
