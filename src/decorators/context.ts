import type { Json } from '../graph/json.js';

/** What a tool is given beside its input: the same for a direct call and for a workflow step. */
export interface ToolContext {
  /** Aborted when the caller cancels, when the attempt times out, and when the run is over. */
  readonly signal: AbortSignal;
  /** The request this call belongs to, as the protocol names it. */
  readonly requestId: string;
  /**
   * The same for every attempt of one step of one run, so that a tool can recognise a repetition.
   * Absent for a direct call that brought none.
   */
  readonly idempotencyKey?: string;
  /** Who calls, as the transport authenticated them. */
  readonly auth?: AuthInfo;
  /** Reports progress to the caller, who may not be listening. `total` is in the same unit as `progress`. */
  progress(progress: number, total?: number, message?: string): void;
}

/** The authenticated caller. */
export interface AuthInfo {
  readonly clientId: string;
  readonly subject?: string;
  readonly scopes: readonly string[];
  readonly extra?: Readonly<Record<string, Json>>;
}
