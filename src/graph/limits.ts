/** Limits of every run: the check tells what is sure to pass them, and the engine holds to them. */

/** How deep workflows may be nested, with the one that the run was started on. */
export const MAX_WORKFLOW_DEPTH = 5;

/** More started nodes than this are no work but a loop without end. */
export const MAX_STARTED_NODES = 100_000;

/** How many items of one loop run at once. */
export const MAX_LOOP_CONCURRENCY = 100;

/** Ten years, in milliseconds: a longer wait, or a longer duration in the options of a server, is a wrong unit. */
export const MAX_DURATION_MS = 10 * 366 * 86_400_000;

/** Expressions nested deeper than this are refused: by the check, and by the evaluator for graphs that were not checked. */
export const MAX_EXPRESSION_DEPTH = 128;

/** A step that fails so often fails permanently. */
export const MAX_ATTEMPTS = 100;

/** An hour, in milliseconds: a longer pause between attempts is a wrong unit. */
export const MAX_RETRY_DELAY_MS = 3_600_000;

/** How often one node goes back. */
export const MAX_JUMPS = 100;

/** A failure or an envelope names values whose JSON is longer than this, and does not show them. */
export const PARTIAL_LIMIT = 16_384;

/** The longest JSON of the details of a failure. Longer ones are replaced by their size and this limit. */
export const FAILURE_DETAILS_LIMIT = 65_536;

/** What holds where an author says nothing. Front ends, the engine and the server have no defaults of their own. */

/** Limit of one attempt of a call, a read or a function, and of a direct call of a tool. */
export const DEFAULT_TIMEOUT_MS = 60_000;

/** Limits of work of the client, by kind of node: they count from its delivery. */
export const DEFAULT_CLIENT_TIMEOUT_MS = { shell: 30_000, call: 30_000, delegate: 300_000 } as const;

/** A result on its way to the server may be so late. */
export const DELIVERY_GRACE_MS = 30_000;

/** How many nodes of a run work at once. */
export const DEFAULT_MAX_CONCURRENCY = 10;

/** More items than this fail a loop before the first one runs. */
export const DEFAULT_LOOP_MAX = 1_000;

/** Whether the first failure stops a run. The strategy `collect` decides before `failFast` does. */
export function isFailFast({
  errorStrategy,
  failFast = true,
}: {
  readonly errorStrategy?: { readonly kind: string };
  readonly failFast?: boolean;
}): boolean {
  return errorStrategy?.kind !== 'collect' && failFast;
}

/** How often a model is asked for one value. */
export const MAX_MODEL_TRIES = 3;
