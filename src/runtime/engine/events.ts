import type { Json, JsonObject, JsonSchema } from '../../graph/json.js';
import type { AskNode, FunctionRef, NodeKind } from '../../graph/model.js';
import type { ToolSafety } from '../../graph/tool-safety.js';

/**
 * The engine is a pure state machine: a host feeds events in and carries commands out.
 * It never waits, never reads a clock and never draws a random number.
 */

/**
 * Where facts, commands and rows name a node they give its key: the node's id, followed by the index of every loop it
 * stands in (`line[3]`, `cell[3][0]`), behind the key of the `workflow` node it runs under and a slash (`sub/line[3]`).
 * At the top of a workflow the key is the id. `parseNodeKey` takes a key apart.
 */

/** Why something failed. `code` is stable and meant for programs, `message` is one sentence for people. */
export interface Failure {
  readonly code: string;
  readonly message: string;
  /** The call may have taken effect although no result came back: check before repeating it. */
  readonly outcomeUnknown?: true;
  /** The other side asked not to be called again before so many ms have passed: a retry waits just as long. */
  readonly retryAfterMs?: number;
  readonly details?: Json;
}

export type NodeStatus =
  | 'pending'
  | 'ready'
  | 'running'
  | 'waiting'
  | 'succeeded'
  | 'failed'
  | 'handled'
  | 'skipped'
  | 'cancelled';

export type SkipReason =
  | 'not_selected'
  | 'upstream_skipped'
  | 'condition_false'
  | 'upstream_failed'
  | 'nothing_to_undo'
  /** A `return` or `error` node ended the run before this one could start. */
  | 'run_ended';

/** `paused` is reserved for operators: no run of this version has it. */
export type RunStatus = 'running' | 'paused' | 'succeeded' | 'failed' | 'cancelled';

/** A command the host has not answered yet. Everything a crashed host needs to go on is in it. */
export type Command =
  | {
      readonly kind: 'callTool';
      readonly id: string;
      readonly node: string;
      readonly tool: string;
      readonly input: JsonObject;
      /** Counts from 1. */
      readonly attempt: number;
      /** Of the node, when the call was issued. Counts from 1. */
      readonly generation: number;
      /** Text of the idempotency key: one effect, one key. A host hashes it when a tool or a wire needs it. */
      readonly key: string;
      /** The attempt is over at this time (ms since the epoch): its own limit, or the run's deadline. */
      readonly dueAt: number;
      /** The call is made to undo: the key of the node whose effect it takes back, where it is one node's. */
      readonly undoes?: string;
      readonly isCompensation?: true;
      /** Key of the undo record that a compensation is made for. */
      readonly effect?: string;
    }
  | {
      readonly kind: 'readResource';
      readonly id: string;
      readonly node: string;
      readonly resource: string;
      readonly uri: string;
      readonly dueAt: number;
    }
  /** Asks somebody outside for something. The command's id is the action's; it is owed until it is answered. */
  | {
      readonly kind: 'requestAction';
      readonly id: string;
      readonly node: string;
      readonly action: Action;
      /** Missing where it stays open for as long as it takes. */
      readonly dueAt?: number;
    }
  /** Calls a pure function of the registry. The host gives it copies of `args`, and answers with plain JSON. */
  | {
      readonly kind: 'evaluate';
      readonly id: string;
      readonly node: string;
      readonly function: FunctionRef;
      readonly args: readonly Json[];
      readonly dueAt: number;
    }
  /** Answered by `timerFired` no earlier than `dueAt` (ms since the epoch). */
  | {
      readonly kind: 'startTimer';
      readonly id: string;
      readonly node: string;
      /** `timeout` and `deadline` bound an attempt of a node that waits or has scopes; a call has its limit in its command. */
      readonly purpose: 'backoff' | 'wait' | 'timeout' | 'deadline';
      readonly dueAt: number;
    }
  /** Needs no answer, and is never outstanding. */
  | { readonly kind: 'cancelTimer'; readonly id: string; readonly timer: string }
  /** Needs no answer: asks the host to abort the call or take the action back. What comes all the same is ignored. */
  | { readonly kind: 'cancelCall'; readonly id: string; readonly call: string };

/** A command that wants an answer, and its place in the order of issue. */
export type OwedCommand = Exclude<Command, { kind: 'cancelTimer' | 'cancelCall' }> & { readonly seq: number };

/** What every event may say of itself. */
interface EventMeta {
  /** Tells an event from others: one with the id of a recent event of the run is ignored. */
  readonly id?: string;
  /** Who caused it: a principal, or `system`. The engine stores it with what it accepts and does not read it. */
  readonly by?: Json;
}

/** What a host reports to the engine. `at` is ms since the epoch, read by the host. */
export type Event = EventMeta & Happening;

type Happening =
  | { readonly kind: 'toolReturned'; readonly at: number; readonly command: string; readonly value: Json }
  | {
      readonly kind: 'toolFailed';
      readonly at: number;
      readonly command: string;
      readonly failure: Failure;
      /** False when the input was refused and the tool never ran. */
      readonly attempted: boolean;
    }
  | {
      readonly kind: 'resourceRead';
      readonly at: number;
      readonly command: string;
      readonly value: JsonObject;
    }
  | {
      readonly kind: 'resourceFailed';
      readonly at: number;
      readonly command: string;
      readonly failure: Failure;
    }
  /** Without `value` the function gave nothing: its value is absent. */
  | { readonly kind: 'evaluated'; readonly at: number; readonly command: string; readonly value?: Json }
  | {
      readonly kind: 'evaluationFailed';
      readonly at: number;
      readonly command: string;
      readonly failure: Failure;
    }
  /** A timer's time has come, or that of a call or action with `dueAt`. */
  | { readonly kind: 'timerFired'; readonly at: number; readonly command: string }
  /** An answer. One that does not fit the action changes nothing: the action stays open. */
  | { readonly kind: 'actionSubmitted'; readonly at: number; readonly command: string; readonly value: Json }
  /** The one who was asked could not or would not answer. The node fails with this. */
  | {
      readonly kind: 'actionFailed';
      readonly at: number;
      readonly command: string;
      readonly failure: Failure;
    }
  /** With `compensate` every call that succeeded and says how it is undone is undone, last one first. */
  | {
      readonly kind: 'cancelled';
      readonly at: number;
      readonly reason: string;
      readonly compensate?: boolean;
      /** The code of the run's failure. Default: `E_CANCELLED`. */
      readonly code?: string;
      /** Ids of calls and reads that were issued and not made yet: nothing of them can have happened. Default: none. */
      readonly notStarted?: readonly string[];
    }
  /** Reserved: a client completes a call from outside. */
  | { readonly kind: 'nodeSubmitted'; readonly at: number; readonly node: string; readonly value: Json }
  /** Reserved: an operator reopens a failed or paused node. */
  | { readonly kind: 'retryRequested'; readonly at: number; readonly node: string }
  /** Reserved: an operator says whether a call with unknown outcome happened. */
  | {
      readonly kind: 'outcomeDecided';
      readonly at: number;
      /** Key of the node that made the call. */
      readonly node: string;
      readonly outcome:
        | { readonly kind: 'happened'; readonly value: Json }
        | { readonly kind: 'didNotHappen' };
    };

/** What somebody outside is asked for. */
export interface Action {
  readonly type: 'ask';
  readonly mode: AskMode;
  readonly message: string;
  /** For `choice`. */
  readonly options?: readonly string[];
  /** What a fitting answer looks like. */
  readonly schema: JsonSchema;
}

export type AskMode = AskNode['mode'];

/** What observers may know. Facts never change a run. */
export type Fact =
  | {
      readonly kind: 'nodeStarted';
      readonly node: string;
      readonly nodeKind: NodeKind;
      readonly guidance?: string;
      /** The guidance could not be evaluated. The node runs all the same. */
      readonly guidanceFailure?: Failure;
    }
  | {
      readonly kind: 'callIssued';
      readonly node: string;
      readonly command: string;
      readonly tool: string;
      readonly input: JsonObject;
      readonly attempt: number;
      /** As in the command. */
      readonly undoes?: string;
      readonly isCompensation?: true;
    }
  | {
      readonly kind: 'resourceRequested';
      readonly node: string;
      readonly command: string;
      readonly resource: string;
      readonly uri: string;
    }
  /**
   * A call or read is over for the engine: answered, timed out or cancelled. Exactly one for each `callIssued` and
   * each `resourceRequested`.
   */
  | {
      readonly kind: 'callReturned';
      readonly node: string;
      readonly command: string;
      /** False when the call was refused before the tool or resource was reached. */
      readonly attempted: boolean;
      readonly outcome:
        | { readonly ok: true; readonly value: Json }
        | { readonly ok: false; readonly failure: Failure };
    }
  /** An attempt failed, its `callReturned` comes before, and another one follows unless the run ends meanwhile. */
  | {
      readonly kind: 'retrying';
      readonly node: string;
      /** The attempt that failed, counted from 1. */
      readonly attempt: number;
      /** How many attempts the node has altogether. */
      readonly attempts: number;
      /** How long the next attempt waits at least. */
      readonly delayMs: number;
      readonly failure: Failure;
    }
  /** A branch has decided: for a body, or for a node of its own scope. */
  | { readonly kind: 'branchTaken'; readonly node: string; readonly arm: string; readonly goto?: string }
  /** A branch of a `parallel` node begins (`arm`), or an item of a loop (`index` of `count`). */
  | {
      readonly kind: 'partStarted';
      readonly node: string;
      readonly arm?: string;
      readonly index?: number;
      readonly count: number;
    }
  /** A part has come to its end. Exactly one for each `partStarted`. */
  | {
      readonly kind: 'partEnded';
      readonly node: string;
      readonly arm?: string;
      readonly index?: number;
      readonly outcome:
        | { readonly status: 'succeeded'; readonly value?: Json }
        | { readonly status: 'failed'; readonly failure: Failure }
        /** It was stopped or aborted because of a failure elsewhere, a `return` or a cancellation. */
        | { readonly status: 'cancelled' };
    }
  /** The node waits for somebody's answer (`action`) or for a time (`until`, ms since the epoch). */
  | {
      readonly kind: 'waiting';
      readonly node: string;
      readonly nodeKind: NodeKind;
      readonly command: string;
      readonly action?: Action;
      readonly until?: number;
    }
  /** An action was answered. */
  | { readonly kind: 'answered'; readonly node: string; readonly command: string; readonly value: Json }
  /** A `goto` goes back. `visit` counts its jumps from 1. */
  | {
      readonly kind: 'jumped';
      readonly node: string;
      readonly target: string;
      readonly visit: number;
      readonly max: number;
    }
  | { readonly kind: 'stateSet'; readonly node: string; readonly field: string; readonly value?: Json }
  /** Undoing begins: by a `compensate` node, a `parallel` that rolls back, or for a cancelled run (no `node`). */
  | { readonly kind: 'compensating'; readonly node?: string; readonly failure?: Failure }
  /** A compensation was left out, because what it would undo has not happened. */
  | {
      readonly kind: 'compensationSkipped';
      readonly node?: string;
      readonly tool: string;
      readonly undoes?: string;
      readonly reason: 'nothing_to_undo';
    }
  | { readonly kind: 'compensated'; readonly node?: string; readonly report: CompensationReport }
  /**
   * The node failed for good and its fallback stands in: a value, with which it succeeds, and its `nodeSucceeded`
   * follows; or another node (`fallbackNode`), which is selected while this one ends handled.
   */
  | {
      readonly kind: 'handled';
      readonly node: string;
      readonly nodeKind: NodeKind;
      readonly failure: Failure;
      /** How often the tool or resource was reached; 0 where the input was refused or had no value. */
      readonly attempts: number;
      /** What the node gives instead. Missing for a value that is absent. */
      readonly value?: Json;
      readonly fallbackNode?: string;
    }
  | {
      readonly kind: 'nodeSucceeded';
      readonly node: string;
      readonly nodeKind: NodeKind;
      /** What a workflow gave: where what it stands in ends with it, no row tells. Missing for what is absent. */
      readonly value?: Json;
      /** The result in short, where the node says how. */
      readonly summary?: string;
      /** The summary could not be evaluated. The node has succeeded all the same. */
      readonly summaryFailure?: Failure;
    }
  | {
      readonly kind: 'nodeFailed';
      readonly node: string;
      readonly nodeKind: NodeKind;
      readonly failure: Failure;
    }
  | {
      readonly kind: 'nodeSkipped';
      readonly node: string;
      readonly nodeKind: NodeKind;
      readonly reason: SkipReason;
    }
  /**
   * The node was cancelled while it waited or ran: the run was cancelled, a `parallel` around it aborted, a container
   * around it ran out of time, or the scope ended around something that waits. A call that was in flight has its
   * `callReturned` before.
   */
  | { readonly kind: 'nodeCancelled'; readonly node: string; readonly nodeKind: NodeKind }
  | {
      readonly kind: 'finished';
      readonly status: Exclude<RunStatus, 'running' | 'paused'>;
      readonly result?: Json;
      readonly failure?: Failure;
      /** The node whose failure ended the run. Missing for a cancelled run and for a failure of the graph as a whole. */
      readonly node?: string;
      /** As in the run's row. */
      readonly failures?: readonly NodeFailure[];
    };

/** A node that failed for good. */
export interface NodeFailure {
  readonly node: string;
  readonly failure: Failure;
}

/** How a compensation went: the tools in the order they were or would have been called. */
export interface CompensationReport {
  readonly done: readonly string[];
  readonly failed: readonly { readonly tool: string; readonly failure: Failure }[];
  readonly not_run: readonly string[];
}

/** Everything about a run's start that is not in the graph: identity and time come from the host. */
export interface StartIds {
  readonly runId: string;
  readonly at: number;
  readonly deadlineAt?: number;
  /** From 0 up to 1, drawn for this run: spreads the retries of runs that fail together. Default 0. */
  readonly random?: number;
  /** How calls of the tools may be repeated, by tool. A tool that is not listed is `none`. */
  readonly tools?: Readonly<Record<string, ToolSafety>>;
}
