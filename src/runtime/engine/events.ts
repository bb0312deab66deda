import type { Answerer } from '../../graph/answerers.js';
import type { Json, JsonObject, JsonSchema } from '../../graph/json.js';
import type { NodeKind } from '../../graph/kinds/node.js';
import type { AskNode, FunctionRef } from '../../graph/model.js';
import type { SettledStatus } from '../../graph/nodes.js';
import type { ToolSafety } from '../../graph/tool-safety.js';

/**
 * Events, commands and facts: what a host and the engine exchange.
 *
 * They name a node by its key: the node's id, followed by the index of every loop around it (`line[3]`, `cell[3][0]`),
 * after the key of the `workflow` node that runs it and a slash (`sub/line[3]`). At the top of a workflow the key is the id.
 * `parseNodeKey` parses a key.
 */

/** Why something failed. `code` is stable and for programs, `message` is one sentence for people. */
export interface Failure {
  readonly code: string;
  readonly message: string;
  /** The call may have taken effect although it returned no result: check before repeating it. */
  readonly outcomeUnknown?: true;
  /** The tool asked for this delay (ms) before another call. It replaces the backoff of a retry. */
  readonly retryAfterMs?: number;
  readonly details?: Json;
}

export type NodeStatus = 'pending' | 'ready' | 'running' | 'waiting' | SettledStatus;

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

/** A request to the host. It contains everything that a host needs after a crash. */
export type Command =
  | {
      readonly kind: 'callTool';
      readonly id: string;
      readonly node: string;
      readonly tool: string;
      readonly input: JsonObject;
      /** Counts from 1. */
      readonly attempt: number;
      /** Generation of the node when the call was issued. Counts from 1. */
      readonly generation: number;
      /** Text of the idempotency key: one effect, one key. A host hashes it when a tool or protocol needs it. */
      readonly key: string;
      /** The attempt times out at this time (ms since the epoch): its own limit, or the run's deadline. */
      readonly dueAt: number;
      /** Of a compensation: key of the node whose effect it undoes, if it is that of one node. */
      readonly undoes?: string;
      readonly isCompensation?: true;
      /** Of a compensation: key of the undo record. */
      readonly effect?: string;
    }
  | {
      readonly kind: 'readResource';
      readonly id: string;
      readonly node: string;
      readonly resource: string;
      readonly uri: string;
      readonly dueAt: number;
      /** It is one of the node's `resources`, read before the node acts. */
      readonly isOwn?: true;
    }
  /**
   * Requests an action from outside. The id is also that of the action, which is pending until it is answered. Work of the
   * client is requested again with the same id, and its `dueAt`, when it was delivered.
   */
  | {
      readonly kind: 'requestAction';
      readonly id: string;
      readonly node: string;
      readonly action: Action;
      /** Of work of the client, when it was delivered. */
      readonly deliveredAt?: number;
      /** Of a question, when a reminder was given. */
      readonly remindedAt?: number;
      /** Of a question with a reminder to come, as its node has it. The time limit is `limitAt`. */
      readonly reminder?: { readonly escalateTo?: readonly Answerer[]; readonly limitAt?: number };
      /** When its reminder comes, or else its time limit. Missing without one. */
      readonly dueAt?: number;
    }
  /** Calls a pure function of the registry. The host passes copies of `args` and returns plain JSON. */
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
      /** `timeout` and `deadline` limit an attempt of a `wait` or a container; the limit of a call is in its command. */
      readonly purpose: 'backoff' | 'wait' | 'timeout' | 'deadline';
      readonly dueAt: number;
    }
  /** Has no answer, and is never outstanding. */
  | { readonly kind: 'cancelTimer'; readonly id: string; readonly timer: string }
  /** Has no answer: the host aborts the call or withdraws the action. A later answer is ignored. */
  | { readonly kind: 'cancelCall'; readonly id: string; readonly call: string };

/** A command that calls a tool. */
export type ToolCall = Extract<Command, { kind: 'callTool' }>;

/** A command that opens an action, which is answered outside of the server. */
export type ActionRequest = Extract<Command, { kind: 'requestAction' }>;

/** An outstanding command: it needs an answer. `seq` is its position in the order of issue. */
export type OwedCommand = Exclude<Command, { kind: 'cancelTimer' | 'cancelCall' }> & { readonly seq: number };

/** Optional fields of every event. */
interface EventMeta {
  /** For deduplication: an event with the id of a recent event of the run is ignored. */
  readonly id?: string;
  /** Who caused it: a principal, or `system`. The engine stores it with an accepted answer and does not read it. */
  readonly by?: Json;
}

/** A report of the host. `at` is ms since the epoch, read by the host. */
export type Event = EventMeta & EventOfKind;

type EventOfKind =
  | { readonly kind: 'toolReturned'; readonly at: number; readonly command: string; readonly value: Json }
  | {
      readonly kind: 'toolFailed';
      readonly at: number;
      readonly command: string;
      readonly failure: Failure;
      /** False when the input was refused and the tool never ran. */
      readonly attempted: boolean;
      /** The tool took effect, and its result cannot be used: only a tool that may be repeated is retried. */
      readonly acted?: true;
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
  /** The value is missing for a function that returned an absent value. */
  | { readonly kind: 'evaluated'; readonly at: number; readonly command: string; readonly value?: Json }
  | {
      readonly kind: 'evaluationFailed';
      readonly at: number;
      readonly command: string;
      readonly failure: Failure;
    }
  /** A timer is due, or a call or action has timed out at its `dueAt`. */
  | { readonly kind: 'timerFired'; readonly at: number; readonly command: string }
  /** An answer. One that does not match the action changes nothing: the action stays pending. */
  | { readonly kind: 'actionSubmitted'; readonly at: number; readonly command: string; readonly value: Json }
  /** Work of the client is in a response for the first time: its time limit begins. */
  | { readonly kind: 'actionDelivered'; readonly at: number; readonly command: string }
  /** The value of a model or the result of a delegation did not fit. The action stays open until the last try. */
  | {
      readonly kind: 'valueRefused';
      readonly at: number;
      readonly command: string;
      /** What was wrong, a sentence each. */
      readonly problems: readonly string[];
    }
  /** The action was not answered. The node fails with this. */
  | {
      readonly kind: 'actionFailed';
      readonly at: number;
      readonly command: string;
      readonly failure: Failure;
    }
  /** With `compensate`, all calls that succeeded and have a compensation are undone, the last one first. */
  | {
      readonly kind: 'cancelled';
      readonly at: number;
      readonly reason: string;
      readonly compensate?: boolean;
      /** The code of the run's failure. Default: `E_CANCELLED`. */
      readonly code?: string;
      /** Ids of issued calls and reads that the host has not started: their outcome is known. Default: none. */
      readonly notStarted?: readonly string[];
    }
  /**
   * Has a call made again whose result is not known, even if it happened, or another attempt made of a step that
   * stopped. `node` is the key of the node that waits.
   */
  | {
      readonly kind: 'retryRequested';
      readonly at: number;
      readonly node: string;
      /** Id of a command that failed the run: its failure does not count any more. See `effectiveEvents`. */
      readonly reopens?: string;
    }
  /**
   * An operator knows what became of a call whose result is not known. It happened, with a value that takes the place of
   * its result; or it did not, and is made.
   */
  | {
      readonly kind: 'outcomeDecided';
      readonly at: number;
      /** Key of the node that waits for the call. */
      readonly node: string;
      readonly outcome:
        | { readonly kind: 'happened'; readonly value: Json }
        | { readonly kind: 'didNotHappen' };
    };

/** Work that a run waits for from outside. */
export type Action = AskAction | ShellAction | McpCallAction | DelegateAction | StepAction;

interface Requested {
  /** Schema of the result. */
  readonly schema: JsonSchema;
  /** Who may answer, exclusively; see `AskNode`. The engine does not read it. */
  readonly answerBy?: readonly Answerer[];
}

export interface AskAction extends Requested {
  readonly type: 'ask';
  readonly mode: AskMode;
  readonly message: string;
  /** For `choice`. */
  readonly options?: readonly string[];
  /** The call that a yes permits. */
  readonly approves?: Approval;
}

/** A call that a question approves: what it would send when the question was asked. */
export interface Approval {
  readonly tool: string;
  readonly input: JsonObject;
  /** Sha256 of the canonical JSON of `{ tool, input }`. An answer permits a call with this digest alone. */
  readonly digest: string;
  /** How often a `goto` had started the call over. A yes is for one call. */
  readonly restarts: number;
  /** Why a yes to an earlier question does not count. */
  readonly askedAgain?: string;
}

/** Work of the client: `timeoutMs` counts from its first delivery. */
interface ClientWork extends Requested {
  readonly timeoutMs: number;
}

/** A command that the client runs. */
export interface ShellAction extends ClientWork {
  readonly type: 'shell';
  readonly command: string;
  /** With it `command` is a program, which no shell reads. */
  readonly argv?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export interface McpCallAction extends ClientWork {
  readonly type: 'mcp_call';
  readonly tool: string;
  readonly args: JsonObject;
}

/** A task for an agent. */
export interface DelegateAction extends ClientWork {
  readonly type: 'delegate';
  readonly instructions: string;
  /** The agent, with `@` before its name; null for the one that called. */
  readonly agent: string | null;
  /** Tools that the agent may use. Default: its own. */
  readonly tools?: readonly string[];
  /** The response is JSON, or a text that holds it. Results that do not fit are counted. */
  readonly json?: true;
}

/** A step of a task that failed: its result is made outside, or another attempt is requested. It has no time limit. */
export interface StepAction extends Requested {
  readonly type: 'step';
  readonly failure: Failure;
  /** Of a call. */
  readonly tool?: string;
  /** Its input, if that could be evaluated. */
  readonly args?: JsonObject;
}

export type AskMode = AskNode['mode'];

/** What an action is about: the mode of a question, the type of other work. */
export type ActionKind = AskMode | Exclude<Action['type'], 'ask'>;

/** A report for observers. Facts never change a run. */
export type Fact =
  | {
      readonly kind: 'nodeStarted';
      readonly node: string;
      readonly nodeKind: NodeKind;
      readonly guidance?: string;
      /** The guidance could not be evaluated. The node still runs. */
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
   * A call or read has ended: answered, timed out or cancelled. Exactly one for each `callIssued` and each
   * `resourceRequested`.
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
  /** One of the node's own resources was read, or could not be. The node has not acted in this attempt yet. */
  | {
      readonly kind: 'resourceShown';
      readonly node: string;
      readonly command: string;
      readonly resource: string;
      readonly uri: string;
      readonly outcome:
        | { readonly ok: true; readonly value: JsonObject }
        | { readonly ok: false; readonly failure: Failure };
    }
  /** An attempt failed (its `callReturned` comes before), and another one follows unless the run ends first. */
  | {
      readonly kind: 'retrying';
      readonly node: string;
      /** The attempt that failed, counted from 1. */
      readonly attempt: number;
      /** How many attempts the node has in total. */
      readonly attempts: number;
      /** Minimum delay of the next attempt. */
      readonly delayMs: number;
      readonly failure: Failure;
    }
  /** A branch has decided: for a body, or for a node of its own scope (`goto`). */
  | { readonly kind: 'branchTaken'; readonly node: string; readonly arm: string; readonly goto?: string }
  /** A branch of a `parallel` node begins (`arm`), or an item of a loop (`index` of `count`). */
  | {
      readonly kind: 'partStarted';
      readonly node: string;
      readonly arm?: string;
      readonly index?: number;
      readonly count: number;
    }
  /** A part has ended. Exactly one for each `partStarted`. */
  | {
      readonly kind: 'partEnded';
      readonly node: string;
      readonly arm?: string;
      readonly index?: number;
      readonly outcome:
        | { readonly status: 'succeeded'; readonly value?: Json }
        | { readonly status: 'failed'; readonly failure: Failure }
        /** It was stopped or aborted because of a failure outside it, a `return` or a cancellation. */
        | { readonly status: 'cancelled' };
    }
  /** The node waits for an answer (`action`) or for a time (`until`, ms since the epoch). */
  | {
      readonly kind: 'waiting';
      readonly node: string;
      readonly nodeKind: NodeKind;
      readonly command: string;
      readonly action?: Action;
      readonly until?: number;
    }
  /** A question was not answered before its reminder. The action has those who may answer from now on. */
  | { readonly kind: 'reminded'; readonly node: string; readonly command: string; readonly action: Action }
  /** An action was answered. */
  | { readonly kind: 'answered'; readonly node: string; readonly command: string; readonly value: Json }
  /** The value of a model or the result of a delegation did not fit its schema. `tries` counts from 1; after `of` tries the attempt has failed. */
  | {
      readonly kind: 'valueRefused';
      readonly node: string;
      readonly command: string;
      readonly tries: number;
      readonly of: number;
      readonly problems: readonly string[];
    }
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
  /** A compensation was skipped, because the effect it would undo does not exist. */
  | {
      readonly kind: 'compensationSkipped';
      readonly node?: string;
      readonly tool: string;
      readonly undoes?: string;
      readonly reason: 'nothing_to_undo';
    }
  | { readonly kind: 'compensated'; readonly node?: string; readonly report: CompensationReport }
  /**
   * The node failed and has a fallback: a value, with which it succeeds (its `nodeSucceeded` follows); or another node
   * (`fallbackNode`), which is selected while this one ends handled.
   */
  | {
      readonly kind: 'handled';
      readonly node: string;
      readonly nodeKind: NodeKind;
      readonly failure: Failure;
      /** How many attempts reached the tool or resource; 0 if the input was refused or had no value. */
      readonly attempts: number;
      /** The fallback value. Missing for a value that is absent. */
      readonly value?: Json;
      readonly fallbackNode?: string;
    }
  | {
      readonly kind: 'nodeSucceeded';
      readonly node: string;
      readonly nodeKind: NodeKind;
      /** Of a workflow: its result, which no row keeps after its scope. Missing for a value that is absent. */
      readonly value?: Json;
      /** The evaluated summary of the node, if it has one. */
      readonly summary?: string;
      /** The summary could not be evaluated. The node still succeeded. */
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
   * around it timed out, or its scope ended. A call in flight has its `callReturned` before.
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

/** The outcome of undoing: tools, in the order in which they were or would have been called. */
export interface CompensationReport {
  readonly done: readonly string[];
  readonly failed: readonly { readonly tool: string; readonly failure: Failure }[];
  readonly not_run: readonly string[];
}

/** The parameters of a start that come from the host. */
export interface StartIds {
  readonly runId: string;
  readonly at: number;
  readonly deadlineAt?: number;
  /** A random number from 0 up to 1: spreads the retries of runs that fail at the same time. Default 0. */
  readonly random?: number;
  /** How calls of the tools may be repeated, by tool. A tool that is not listed is `none`. */
  readonly tools?: Readonly<Record<string, ToolSafety>>;
}
