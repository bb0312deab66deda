import type { Owner, ToolContext } from '../../decorators/context.js';
import { thrownText } from '../tools/exceptions.js';
import type { CancelSignal, Peer } from '../tools/port.js';
import type { Submission } from './actions/action.js';

/** One request beside its params; an adapter of the protocol fills it in. */
export interface RequestContext extends Pick<ToolContext, 'requestId' | 'auth' | 'progress'> {
  /** Aborted when the request is cancelled. An `AbortSignal` fits. */
  readonly signal: CancelSignal;
  /** The caller is the user who started this process: it speaks over stdio. Default: false. */
  readonly local?: boolean;
  /** The network address that the request came from. Runs without authentication are limited by it. */
  readonly remoteAddress?: string;
  /**
   * The task that a call of a tool continues, the step that it makes, and what a repeated call shares with it: `_task_id`,
   * `_step` and `stepwright/idempotencyKey` of its `_meta`.
   */
  readonly continues?: { readonly task: string; readonly step?: string; readonly idempotencyKey?: string };
  /**
   * What a request shares with the same request that is sent again, where it may start a run: `stepwright/idempotencyKey` of
   * its `_meta`. Default: each request starts a run of its own.
   */
  readonly idempotencyKey?: string;
  /** The run that a prompt continues, with the answers to its questions. Default: the prompt starts a run. */
  readonly resumes?: {
    readonly run: string;
    readonly submissions: readonly Submission[];
    /** Questions that its user answers elsewhere. Default: none. */
    readonly awaits?: readonly string[];
    /** The messages that show it up to its questions. */
    readonly said: readonly object[];
  };
  /** `progress` is called after the response, too, until this signal is aborted. Default: it is not. */
  readonly progressUntil?: CancelSignal;
  /** The client, as far as the connection knows it. */
  readonly peer?: Peer;
}

/** A request whose caller is identified; see `ownerOf`. */
export interface IdentifiedRequest extends RequestContext {
  readonly principal: Owner;
}

/**
 * Why the signal of a request is aborted whose connection has ended. The client did not cancel the request: a run
 * that it started continues.
 */
export class ConnectionClosed extends Error {
  override readonly name = 'ConnectionClosed';
}

/** Why a request was aborted, as the reason of its run. */
export function abortReason({ reason }: CancelSignal): string {
  return reason === undefined ? 'the request was cancelled' : thrownText(reason);
}

/** Reports nothing. With it no progress is computed. */
export function noProgress(): void {}
