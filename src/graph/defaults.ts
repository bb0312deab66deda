import type { Graph, Retry } from './model.js';

/** What holds where an author says nothing. Front ends, the engine and the server have no defaults of their own. */

/** Limit of one attempt of a call, a read or a function, and of a direct call of a tool. */
export const DEFAULT_TIMEOUT_MS = 60_000;

/** How many nodes of a run work at once. */
export const DEFAULT_MAX_CONCURRENCY = 10;

/** More items than this fail a loop before the first one runs. */
export const DEFAULT_LOOP_MAX = 1_000;

/** How the attempts of a node go, as authors say it. */
interface WrittenRetry extends Partial<Omit<Retry, 'extra'>> {
  /** The first one included. */
  readonly attempts: number;
}

/** A retry as the graph has it. */
export function retryOfWritten({
  attempts,
  delayMs = 0,
  backoff = 'constant',
  capMs = 60_000,
  jitter = 0,
}: WrittenRetry): Retry {
  return { extra: attempts - 1, delayMs, backoff, capMs, jitter };
}

/** Whether the first failure stops a run. The strategy `collect` decides before `failFast` does. */
export function isFailFast({
  errorStrategy,
  failFast = true,
}: Pick<Graph, 'errorStrategy' | 'failFast'>): boolean {
  return errorStrategy?.kind !== 'collect' && failFast;
}
