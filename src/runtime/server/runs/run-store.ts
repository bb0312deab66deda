import type { Json, JsonObject } from '../../../graph/json.js';
import type { Graph } from '../../../graph/model.js';
import type { Fact, Failure, RunState } from '../../engine/contract.js';
import type { SharedContext } from '../../hosts/in-process/calls-in-flight.js';
import type { RequestContext } from '../request.js';
import type { Envelope, EnvelopeStatus } from './envelope.js';

/**
 * Where runs live that outlast the request which began them. A run belongs to its owner: to anybody else it is not
 * there. Nothing a caller does rejects; a rejection is a fault of this product.
 */
export interface RunStore {
  /** Begins a run. Answers when it is over, when nothing of it goes on without an answer, or when the time is up. */
  start(run: NewRun, attendant: Attendant): Promise<RunAnswer>;
  /** How a run stands now. */
  get(owner: string, id: string): Promise<RunAnswer>;
  /** Answers an action, and then as `start` does. */
  submit(owner: string, id: string, submission: Submission, attendant: Attendant): Promise<RunAnswer>;
  /** Gives a run up. One that is over stays as it is. */
  cancel(owner: string, id: string, how: Cancellation, attendant: Attendant): Promise<RunAnswer>;
  /** The owner's runs, the latest first. */
  list(owner: string): Promise<readonly RunSummary[]>;
  /** The owner is gone for good: what still runs for it is cancelled, and everything forgotten. */
  release(owner: string): void;
}

export interface NewRun {
  /** Whose run it is; see `ownerOf`. */
  readonly owner: string;
  /** With all workflows it runs among its tasks; see `bundle`. The run keeps it, whatever is registered later. */
  readonly graph: Graph;
  /** Values of the graph's inputs, already checked, coerced and filled with defaults. */
  readonly input: JsonObject;
  /**
   * Nobody is bound to answer it: while it has questions open and no request attends it, it makes way for further runs of
   * its owner. Default false.
   */
  readonly givesWay?: boolean;
}

/** The request during which a run goes on. */
export interface Attendant {
  readonly request: RequestContext;
  /** How long the request waits for the run, in ms. The run goes on all the same. */
  readonly answerMs: number;
  /** Whether the run is cancelled when the request is. Default false. */
  readonly cancels?: boolean;
  /** Told every fact of the run until the request is answered, with the run as it stands then. */
  readonly observe?: (fact: Fact, state: RunState) => void;
  /** Takes what tools of the run report of their progress, with the key of the node that calls them. */
  readonly progress?: SharedContext['progress'];
  /** Told how the run stands at the very moment the request is answered. `state` changes afterwards. */
  readonly conclude?: (state: RunState, envelope: Envelope) => void;
}

/** What a caller sends for an action: one of `result` and `error`, as it came. */
export interface Submission {
  /** May be missing where one action is open. */
  readonly actionId?: string;
  readonly result?: Json;
  readonly error?: Json;
}

export interface Cancellation {
  readonly reason?: string;
  /** Whether what the run did is undone. Default false. */
  readonly compensate?: boolean;
}

/** How a run stands, or why the request was refused: then nothing has changed. */
export type RunAnswer =
  | { readonly ok: true; readonly envelope: Envelope; readonly warnings?: readonly RunWarning[] }
  | { readonly ok: false; readonly failure: Failure };

/**
 * What a caller should know although the request was not refused: `W_STRINGIFIED`, an answer should be sent in another
 * form; `W_NOT_USED`, it came when the run was over, or what the run did was then to be undone; `W_NOT_UNDONE`, what was
 * to be undone still stands, or perhaps;
 * `W_OUTCOME_UNKNOWN`, calls that were given up may have taken effect.
 */
export interface RunWarning {
  readonly code: 'W_STRINGIFIED' | 'W_NOT_USED' | 'W_NOT_UNDONE' | 'W_OUTCOME_UNKNOWN';
  readonly message: string;
}

/** One line of a list of runs. */
export interface RunSummary {
  readonly workflow_id: string;
  readonly name: string;
  readonly status: EnvelopeStatus;
  /** It was cancelled, and what it did is being undone. */
  readonly cancelling?: true;
  /** RFC 3339. */
  readonly started_at: string;
  /** RFC 3339. Missing while it is not over. */
  readonly ended_at?: string;
  /** Ids of the actions that are open. */
  readonly open_actions: readonly string[];
}

/** How much of its callers' runs a store keeps. */
export interface RunLimits {
  /**
   * Runs of one owner that are not over. For a further one that run is cancelled which may give way and was attended
   * least recently; where there is none, it is refused. Default 50.
   */
  readonly maxOpenRuns: number;
  /** Open actions of one owner. With as many, a further run is made way for, or refused, in the same way. Default 50. */
  readonly maxPendingActions: number;
  /** Finished runs that can still be asked for; beyond that, those that ended first are forgotten. Default 1 000. */
  readonly maxFinishedRuns: number;
  /** How long a finished run can be asked for, in ms. Default 3 600 000. */
  readonly finishedRunMs: number;
}

export const DEFAULT_LIMITS: RunLimits = {
  maxOpenRuns: 50,
  maxPendingActions: 50,
  maxFinishedRuns: 1_000,
  finishedRunMs: 3_600_000,
};
