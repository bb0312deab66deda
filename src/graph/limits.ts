/** Limits of every run: the check tells what is sure to pass them, and the engine holds to them. */

/** How many workflows may stand inside each other, the one a run is started on included. */
export const MAX_WORKFLOW_DEPTH = 5;

/** More started nodes than this are no work but a loop without end. */
export const MAX_STARTED_NODES = 100_000;

/** How many items of one loop run at once. */
export const MAX_LOOP_CONCURRENCY = 100;

/** 366 days, in milliseconds: a longer wait is a wrong unit. */
export const MAX_WAIT_MS = 366 * 86_400_000;

/** Expressions nested deeper than this are refused: by the check, and by the evaluator for graphs that were not checked. */
export const MAX_EXPRESSION_DEPTH = 128;

/** A step that fails so often fails for good. */
export const MAX_ATTEMPTS = 100;

/** An hour, in milliseconds: a longer pause between attempts is a wrong unit. */
export const MAX_RETRY_DELAY_MS = 3_600_000;

/** How often one node goes back. */
export const MAX_JUMPS = 100;

/** A failure or an envelope names values whose JSON is longer than this, and does not show them. */
export const PARTIAL_LIMIT = 16_384;
