import type { Owner, ToolContext } from '../../decorators/context.js';
import type { JsonSchema } from '../../graph/json.js';
import type { Cancellation } from '../hosts/in-process/run-in-process.js';

/** What a server needs to know about one request beside its params; an adapter fills it in. */
export interface RequestContext extends Pick<ToolContext, 'requestId' | 'auth' | 'progress'> {
  /** Aborted when the request is cancelled. An `AbortSignal` fits. */
  readonly signal: Cancellation;
  /** The caller is the user who started this process: it speaks over stdio. Default: false. */
  readonly local?: boolean;
  /** The network address that the request came from. Runs that nobody is authenticated for are limited by it. */
  readonly remoteAddress?: string;
  /** Puts a question to the user of the client, where the client can. */
  readonly elicit?: Elicit;
}

/** A request whose caller is known; see `ownerOf`. */
export interface IdentifiedRequest extends RequestContext {
  readonly principal: Owner;
}

/** Cancels a request. */
export class RequestSignal implements Cancellation {
  aborted = false;
  reason: unknown = undefined;
  readonly #listeners = new Set<() => void>();

  addEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners.add(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners.delete(listener);
  }

  /** Tells every listener, once. */
  abort(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    for (const listener of listeners) listener();
  }
}

/**
 * Why the signal of a request is aborted whose connection has ended. Nobody asked for the request to be cancelled: a run
 * that it started goes on.
 */
export class ConnectionClosed extends Error {
  override readonly name = 'ConnectionClosed';
}

/**
 * Puts a question to a user. `schema` is that of a flat form: an object of texts, numbers, booleans and choices. Aborting
 * the signal takes the question back.
 *
 * @throws whatever went wrong: the client could not ask.
 */
export type Elicit = (
  question: { readonly message: string; readonly schema: JsonSchema },
  signal: AbortSignal,
) => Promise<Elicited>;

/** What a user did with a question. */
export type Elicited =
  | { readonly action: 'accept'; readonly content: Readonly<Record<string, unknown>> }
  | { readonly action: 'decline' | 'cancel' };
