import type { Json } from '../graph/json.js';

/** What everything that answers a request is given: who asks, and whether they still wait. */
export interface RequestContext {
  /** Aborted when the caller cancels, when an attempt times out, and when the run is over. */
  readonly signal: AbortSignal;
  /** The request this belongs to, as the protocol names it. */
  readonly requestId: string;
  /**
   * Who calls, as the transport authenticated them; in a step of a workflow, whoever started the run. `extra` is missing
   * once the run has waited for something.
   */
  readonly auth?: AuthInfo;
  /**
   * For whom the call is made: the caller, or in a step of a workflow the owner of the run, whichever request moves the
   * run on. A server always says so; a test may leave it out.
   */
  readonly principal?: Owner;
}

/**
 * Whose a run is: the user of this machine over stdio (`local`), a caller that nobody authenticated (`anonymous`), or an
 * authenticated one.
 */
export type Owner = { readonly kind: 'local' } | { readonly kind: 'anonymous' } | Principal;

/** An authenticated owner: a subject of an issuer, or a client where there is no subject. */
export interface Principal {
  readonly kind: 'principal';
  /** Who authenticated it, where that is known. */
  readonly issuer?: string;
  /** `1` and `'1'` are two subjects. */
  readonly subject?: string | number;
  /** Of a principal without a subject, and where each client of a user has runs of its own. */
  readonly clientId?: string;
}

/** What a tool is given beside its input: the same for a direct call and for a workflow step. */
export interface ToolContext extends RequestContext {
  /**
   * The same for every attempt of one step of one run, so that a tool can recognise a repetition.
   * Absent for a direct call that brought none.
   */
  readonly idempotencyKey?: string;
  /** Reports progress to the caller, who may not be listening. `total` is in the same unit as `progress`. */
  progress(progress: number, total?: number, message?: string): void;
}

/** What `read` of a resource is given beside the variables of its address. */
export interface ResourceContext extends RequestContext {
  /** The address that was asked for, variables filled in. */
  readonly uri: string;
}

/** What `complete` of an argument is given beside the text typed so far. */
export interface CompletionContext extends RequestContext {
  /** What the caller has filled in already, by argument, as text. */
  readonly arguments: Readonly<Record<string, string>>;
}

/** The authenticated caller. */
export interface AuthInfo {
  readonly clientId: string;
  /** The user, where one is known: the claim that the server takes for it. */
  readonly subject?: string | number;
  readonly scopes: readonly string[];
  readonly extra?: Readonly<Record<string, Json>>;
}
