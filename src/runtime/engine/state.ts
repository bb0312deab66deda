import type { Json, JsonObject } from '../../graph/json.js';
import type { Command, Failure, NodeStatus, RunStatus, SkipReason } from './contract.js';

/**
 * The tables of a run, and what a row of each is. Rows are replaced, never mutated. Scopes, too, have keys: `/` for the
 * nodes at the top, `both:left` for the branch `left` of the node `both`, `line[3]` for an item of the loop `line`, and
 * `sub/` for the workflow that the node `sub` runs.
 */
export interface Tables {
  /** By key of the scope: those that have begun. */
  readonly scopes: ScopeRow;
  /** By key of the node: `branch`, `parallel`, `foreach` and `workflow` nodes that have begun. */
  readonly containers: ContainerRow;
  /** By key of the node. */
  readonly nodes: NodeRow;
  /** Values of nodes that succeeded, and of the parts of a node under way by their scopes. Absent values have no row. */
  readonly outputs: Json;
  /** Inputs of the workflows that `workflow` nodes run, by the node's key. */
  readonly inputs: JsonObject;
  /** Lists that are made once: the items of a loop, and the keys of the calls a rollback takes back. */
  readonly items: readonly Json[];
  /** Fields of the run's state that were written, by name. */
  readonly fields: FieldRow;
  /** By key of the node that undoes, or `''` for a cancelled run. */
  readonly undoing: UndoRow;
  /** Commands that want an answer, by id. */
  readonly commands: Command;
}

export type TableName = keyof Tables;

/** The whole state of a run: plain JSON, in tables whose rows change one at a time. */
export type RunState = { readonly [T in TableName]: Record<string, Tables[T]> } & {
  run: RunRow;
  /** Values of the graph's inputs. Never changes, and so stands apart from the row that often does. */
  readonly input: JsonObject;
};

export type StateTable = 'run' | 'input' | TableName;

/**
 * One row of state that a durable host must write or delete. Rows are never mutated after they were handed out, and
 * one `Advance` names a row once. The key of the one `run` row and of the one `input` row is the run's id.
 */
export type Change =
  | { readonly op: 'put'; readonly table: 'run'; readonly key: string; readonly row: RunRow }
  | { readonly op: 'put'; readonly table: 'input'; readonly key: string; readonly row: JsonObject }
  | {
      readonly [T in TableName]: {
        readonly op: 'put';
        readonly table: T;
        readonly key: string;
        readonly row: Tables[T];
      };
    }[TableName]
  | { readonly op: 'delete'; readonly table: TableName; readonly key: string };

/** The run as a whole. */
export interface RunRow {
  readonly id: string;
  readonly workflow: string;
  /** Hash of the graph the run started on; `advance` refuses another one. */
  readonly graphHash: string;
  readonly status: RunStatus;
  /** Ms since the epoch. */
  readonly startedAt: number;
  /** See `StartIds`. */
  readonly random?: number;
  /** After this moment no attempt may run (ms since the epoch). What undoes is no attempt. */
  readonly deadlineAt?: number;
  /** Calls, reads and evaluations in flight, at most the graph's `maxConcurrency`. */
  readonly running: number;
  /** How many nodes have started. */
  readonly started: number;
  /** How many calls that say how they are undone have succeeded. */
  readonly completions?: number;
  /** Ends of the line of nodes that wait for a free place, linked by `next` and `previous`; the head starts first. */
  readonly readyHead?: string;
  readonly readyTail?: string;
  /** The run was cancelled, and what it did is being undone. */
  readonly cancelling?: { readonly reason: string; readonly compensate: boolean; readonly code?: string };
  /** The node after which nothing new started at the top: the `return`, the `error`, or the failure that failed fast. Known at the end. */
  readonly endedBy?: string;
  /** Missing for a value that is absent. */
  readonly result?: Json;
  /** The failure the run ended with. */
  readonly failure?: Failure;
  /** The node at the top that `failure` comes from. */
  readonly failedNode?: string;
  /**
   * Every node that failed, in declaration order, inside of nodes that failed as well: known at the end of a run that
   * did not succeed, if there is one.
   */
  readonly failures?: readonly NodeFailure[];
}

/** A node that failed for good. */
export interface NodeFailure {
  readonly node: string;
  readonly failure: Failure;
}

/** A list of nodes that runs. */
export interface ScopeRow {
  /** How many of its nodes have not settled. */
  readonly open: number;
  /** Which time this scope runs, where it is not the first: visits and attempts of what it stands in. */
  readonly round?: string;
  /** The node after which nothing new starts here. */
  readonly endedBy?: string;
  /** With what reason the nodes are skipped that can no longer start. */
  readonly reason?: SkipReason;
  /** Nothing new starts because of something outside. */
  readonly stopped?: true;
  /** Because it was stopped, a node was left out or cancelled. */
  readonly cut?: true;
  /** The failure it fails with, known while calls in flight settle. */
  readonly failure?: Failure;
  /** The node of this scope the failure comes from. */
  readonly failedNode?: string;
  /** No retry around it can change the failure. */
  readonly final?: true;
  /** How many failures there were here. */
  readonly failures?: number;
}

/** A node with scopes of its own, in one attempt. Its parts are the arm of a branch, branches, items, or a workflow. */
export interface ContainerRow {
  /** The first of its parts that run: for a branch the arm taken, else 0. */
  readonly first: number;
  /** The part that begins next. */
  readonly next: number;
  /** Behind the last part. */
  readonly end: number;
  /** How many parts run. */
  readonly running: number;
  /** No further part begins because of something outside. */
  readonly stopped?: true;
  /** And what it did is not undone. */
  readonly aborted?: true;
  /** A part was cancelled. */
  readonly cut?: true;
  /** No further part begins, and this is what the attempt fails with once those that run have ended. */
  readonly failure?: Failure;
  /** The part whose failure that is; missing where the time was up. */
  readonly failedPart?: number;
  /** No retry can change the failure. */
  readonly final?: true;
  /** All parts have ended, and what they did is being undone. */
  readonly undoing?: true;
}

/** A node was selected to run. */
export interface Selection {
  /** The node that did so. */
  readonly by: string;
  readonly why: 'goto' | 'fallback' | 'rollback';
}

/** One node of the run. */
export interface NodeRow {
  readonly status: NodeStatus;
  readonly reason?: SkipReason;
  /** Dependencies that have not settled yet. */
  readonly waitingFor: number;
  /** Nodes that have not settled and may still select this one. */
  readonly routers?: number;
  /** Who selected this node. The first one counts. */
  readonly selections?: readonly Selection[];
  /** The latest attempt, counted from 1; 0 before the first. */
  readonly attempt: number;
  /** How often a `goto` started this node over. */
  readonly visits?: number;
  /** How often this `goto` has jumped. */
  readonly jumps?: number;
  /** The nodes around this one in the line for a free place. */
  readonly previous?: string;
  readonly next?: string;
  /** Why the node failed; between attempts and during a later one, how the attempt before did. */
  readonly failure?: Failure;
  /** Of a failed node: its place in the order of its scope's failures, from 1. */
  readonly failedAs?: number;
  /** Of a failed node: no retry around it can change the failure. */
  readonly final?: true;
  /** Of a handled node: how often its tool or resource was reached. */
  readonly reached?: number;
  /** Of a succeeded call that says how it is undone: its place in the order of completion. */
  readonly completed?: number;
  /** What the call did was undone. */
  readonly undone?: true;
}

/** Missing value: the field was written as absent. */
export interface FieldRow {
  readonly value?: Json;
}

/** Compensations under way, one after the other. */
export interface UndoRow {
  /** The compensation that is made or looked at next. */
  readonly next: number;
  /** Those that were left out. */
  readonly skipped: readonly number[];
  readonly failed: readonly { readonly index: number; readonly failure: Failure }[];
  /** Those behind the last failed one are not run. */
  readonly halted?: true;
}
