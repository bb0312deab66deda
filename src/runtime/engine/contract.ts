import type { Json, JsonObject } from '../../graph/json.js';
import type { Node, NodeKind } from '../../graph/model.js';

/**
 * The engine is a pure state machine: a host feeds events in and carries commands out.
 * It never waits, never reads a clock and never draws a random number.
 */

/** Why something failed. `code` is stable and meant for programs, `message` is one sentence for people. */
export interface Failure {
  readonly code: string;
  readonly message: string;
  /** The call may have taken effect although no result came back: check before repeating it. */
  readonly outcomeUnknown?: true;
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

export type RunStatus = 'running' | 'succeeded' | 'failed' | 'cancelled';

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
      /** The same for every attempt of one call of one run. */
      readonly idempotencyKey: string;
    }
  | { readonly kind: 'readResource'; readonly id: string; readonly node: string; readonly resource: string; readonly uri: string }
  /** Answered by `timerFired` no earlier than `dueAt` (ms since the epoch). */
  | { readonly kind: 'startTimer'; readonly id: string; readonly node: string; readonly dueAt: number }
  /** Needs no answer, and is never outstanding. */
  | { readonly kind: 'cancelTimer'; readonly id: string; readonly timer: string }
  /** Needs no answer: asks the host to abort the call. A result that comes all the same is ignored. */
  | { readonly kind: 'cancelCall'; readonly id: string; readonly call: string };

/** What a host tells the engine. `at` is ms since the epoch, read by the host. */
export type Event =
  | { readonly kind: 'toolReturned'; readonly at: number; readonly command: string; readonly value: Json }
  | {
      readonly kind: 'toolFailed';
      readonly at: number;
      readonly command: string;
      readonly failure: Failure;
      /** False when the input was refused and the tool never ran. */
      readonly attempted: boolean;
    }
  | { readonly kind: 'resourceRead'; readonly at: number; readonly command: string; readonly value: JsonObject }
  | { readonly kind: 'resourceFailed'; readonly at: number; readonly command: string; readonly failure: Failure }
  | { readonly kind: 'timerFired'; readonly at: number; readonly command: string }
  | { readonly kind: 'cancelled'; readonly at: number; readonly reason: string };

/** What observers may know. Facts never change a run. */
export type Fact =
  | { readonly kind: 'nodeStarted'; readonly node: string; readonly nodeKind: NodeKind; readonly guidance?: string }
  | { readonly kind: 'callIssued'; readonly node: string; readonly command: string; readonly tool: string; readonly input: JsonObject; readonly attempt: number }
  | { readonly kind: 'resourceRequested'; readonly node: string; readonly command: string; readonly resource: string; readonly uri: string }
  | {
      readonly kind: 'callReturned';
      readonly node: string;
      readonly command: string;
      /** False when the call was refused before the tool or resource was reached. */
      readonly attempted: boolean;
      readonly outcome: { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly failure: Failure };
    }
  | { readonly kind: 'nodeSucceeded'; readonly node: string; readonly nodeKind: NodeKind }
  | { readonly kind: 'nodeFailed'; readonly node: string; readonly nodeKind: NodeKind; readonly failure: Failure }
  | { readonly kind: 'nodeSkipped'; readonly node: string; readonly nodeKind: NodeKind; readonly reason: SkipReason }
  | { readonly kind: 'finished'; readonly status: Exclude<RunStatus, 'running'>; readonly result?: Json; readonly failure?: Failure };

/** One row of state that a durable host must write or delete. */
export type Change =
  | { readonly op: 'put'; readonly table: StateTable; readonly key: string; readonly row: Json }
  | { readonly op: 'delete'; readonly table: StateTable; readonly key: string };

export type StateTable = 'run' | 'nodes' | 'outputs' | 'commands';

/** The whole state of a run: plain JSON, in tables whose rows change one at a time. */
export interface RunState {
  run: RunRow;
  /** By node instance. */
  nodes: Record<string, NodeRow>;
  /** Values of nodes that succeeded; absent values have no row. */
  outputs: Record<string, Json>;
  /** Commands that want an answer, by id. */
  commands: Record<string, Command>;
}

export interface RunRow {
  id: string;
  workflow: string;
  /** Hash of the graph the run started on; `advance` refuses another one. */
  graphHash: string;
  status: RunStatus;
  input: JsonObject;
  startedAt: number;
  /** After this moment no attempt may run (ms since the epoch). */
  deadlineAt?: number;
  /** Nodes that are neither settled nor skipped. */
  open: number;
  result?: Json;
  failure?: Failure;
}

export interface NodeRow {
  status: NodeStatus;
  reason?: SkipReason;
  /** Dependencies that have not settled yet. */
  waitingFor: number;
  attempt: number;
  failure?: Failure;
}

/** What one step of the machine yields. */
export interface Advance {
  readonly state: RunState;
  readonly changes: readonly Change[];
  readonly commands: readonly Command[];
  readonly facts: readonly Fact[];
}

/** Everything about a run's start that is not in the graph: identity and time come from the host. */
export interface StartIds {
  readonly runId: string;
  readonly at: number;
  readonly deadlineAt?: number;
}

export type { Node };
