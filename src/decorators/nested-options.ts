import type { RetryOptions } from './retry.js';

/** Settings of a step that stands inside another one: what `@Step(...)` says of a step that is a field of its own. */
export interface NestedOptions {
  /** Id of the step's node. Default: derived from the step it stands in, such as `routed.bug`. */
  readonly id?: string;
  /** Limit of one attempt, in milliseconds. Default: 60 000 for a call, none for a workflow. */
  readonly timeoutMs?: number;
  /** Default: by the error strategy of the workflow. */
  readonly retry?: RetryOptions;
}
