import type { Json, JsonObject } from '../../graph/json.js';
import type { ToolSafety } from '../../graph/tool-safety.js';
import type {
  Approval,
  CompensationReport,
  Failure,
  NodeFailure,
  NodeStatus,
  OwedCommand,
  RunStatus,
  SkipReason,
} from './events.js';

/**
 * The state of a run in a journal: rows of plain JSON, in tables, each with a key. The engine keeps records in memory and
 * creates rows for a journal or a snapshot only. Keys of scopes: `/` at the top, `both:left` for the branch `left` of the
 * node `both`, `line[3]` for an item of the loop `line`, and `sub/` for the workflow that the node `sub` runs. Values that
 * follow from other rows and the plan, such as counters of dependencies and of running calls, are not stored.
 */
export interface Tables {
  /** The constant part of the run; the only key is its id. */
  readonly start: StartRow;
  /** The variable part of the run; the only key is its id. */
  readonly run: RunRow;
  /** By key of the scope. The scope at the top has a row only if it ended, was stopped, or has a failure. */
  readonly scopes: ScopeRow;
  /** By key of the node: `branch`, `parallel`, `foreach` and `workflow` nodes that have begun. */
  readonly containers: ContainerRow;
  /** By key of the node: those that are not in their initial state. */
  readonly nodes: NodeRow;
  /** Values of the parts of a running container, by key of the scope. Absent values have no row. */
  readonly outputs: Json;
  /** Inputs of the workflows that `workflow` nodes run, by the node's key. */
  readonly inputs: JsonObject;
  /** Constant lists: the items of a loop, and the keys of the undo records of a rollback. */
  readonly items: readonly Json[];
  /**
   * Fields of the run's state that were written, by name. Those that a workflow has for itself have the key of its scope
   * before the name.
   */
  readonly fields: FieldRow;
  /** Owners that undo, by key of the node, or `''` for a cancelled run. */
  readonly undoing: UndoRow;
  /** Outcomes of compensations: by the key in `undoing`, `#`, and their index. */
  readonly undone: UndoneRow;
  /** Undo records, by `effectKey`. They stay until the run is over. */
  readonly effects: EffectRow;
  /** Counters of generations, by key of the node. They stay until the run is over. */
  readonly generations: GenerationRow;
  /** Calls with unknown outcome, by `unknownKey`. They stay until the run is over or the outcome is known. */
  readonly unknown: UnknownRow;
  /** Calls that were abandoned and may still return, by id of the command. */
  readonly abandoned: AbandonedRow;
  /** Items that failed in loops that go on without them, by key of the item's scope. */
  readonly failedItems: FailedItemRow;
  /** Accepted answers, by id of the action. */
  readonly submissions: SubmissionRow;
  /** Ids of the latest events that had one, in a ring: a new id replaces the oldest. */
  readonly eventIds: EventIdRow;
  /** Large values by sha256 of their JSON, stored once. See `Row`. */
  readonly values: Json;
}

export type TableName = keyof Tables;

/** A row of a run's state. */
export type Row = {
  readonly [T in TableName]: {
    readonly op: 'put';
    readonly table: T;
    readonly key: string;
    readonly row: Tables[T];
    /** JSON pointers to values of the row that were replaced by the key of a row in `values`. Default: none. */
    readonly refs?: readonly string[];
  };
}[TableName];

/**
 * One row that a journal must write or delete. One `Advance` names a row once. A row is immutable and may share objects with
 * the state: the engine replaces values and does not change them in place.
 */
export type Change = Row | { readonly op: 'delete'; readonly table: TableName; readonly key: string };

/** The constant part of a run. */
export interface StartRow {
  readonly workflow: string;
  /** Hash of the graph the run started on; `advance` refuses another one. */
  readonly graphHash: string;
  /** Ms since the epoch. */
  readonly startedAt: number;
  /** See `StartIds`. */
  readonly random?: number;
  /** After this time no attempt may run (ms since the epoch). Compensations are no attempts. */
  readonly deadlineAt?: number;
  /** Values of the graph's inputs. */
  readonly input: JsonObject;
  /** How calls of the tools may be repeated, by tool. A tool that is not listed is `none`. */
  readonly tools: Readonly<Record<string, ToolSafety>>;
  /** Calls that the run made from which this one was forked: keys of nodes, each with `@` and its generation. */
  readonly inherited?: readonly string[];
}

/** The variable part of a run. */
export interface RunRow {
  /** The engine that wrote the state last. */
  readonly engineVersion: number;
  /** The form of the state. An engine reads its own and the previous one. */
  readonly stateVersion: number;
  readonly status: RunStatus;
  /** How many nodes have started. */
  readonly started: number;
  /** The latest sequence number of commands, undo records and queued nodes. */
  readonly seq: number;
  /** Work that the latest transition did not finish. */
  readonly remainingWork?: RemainingWork;
  /** The run was cancelled and has not ended yet. */
  readonly cancelling?: { readonly reason: string; readonly compensate: boolean; readonly code?: string };
  /** Set at the end: the node that ended the scope at the top: a `return`, an `error`, or a failure that failed fast. */
  readonly endedBy?: string;
  /** Missing for a value that is absent. */
  readonly result?: Json;
  /** The failure the run ended with. */
  readonly failure?: Failure;
  /** The node at the top that `failure` comes from. */
  readonly failedNode?: string;
  /**
   * Set at the end of a run that did not succeed: every failed node, in declaration order, with failed nodes inside
   * failed containers.
   */
  readonly failures?: readonly NodeFailure[];
}

export interface ScopeRow {
  /** How often a `goto` started the containers around it over, in total. Default: 0. */
  readonly restarts?: number;
  /** Attempts of the containers around it, the outermost first, joined by dots. Missing if all are 1. */
  readonly attempts?: string;
  /** The node that ended this scope: no further node starts. */
  readonly endedBy?: string;
  /** At the top of a workflow: the value of the `return` that ended it. Missing for a value that is absent. */
  readonly value?: Json;
  /** It was stopped from outside: no further node starts. */
  readonly stopped?: true;
  /** A node was skipped or cancelled because the scope was stopped. */
  readonly interrupted?: true;
  /** The failure of the scope, set before running nodes have settled. */
  readonly failure?: Failure;
  /** The node of this scope the failure comes from. */
  readonly failedNode?: string;
  /** No retry around it can change the failure. */
  readonly isPermanent?: true;
  /** How many nodes have failed here. */
  readonly failures?: number;
}

/** One attempt of a container. Its parts are the arm of a branch, parallel branches, items, or a workflow. */
export interface ContainerRow {
  /** Index of the first part: the arm taken of a branch, else 0. */
  readonly first: number;
  /** Index of the part that begins next. */
  readonly next: number;
  /** Index after the last part. */
  readonly end: number;
  /** How many parts run. */
  readonly running: number;
  /** It was stopped from outside: no further part begins. */
  readonly stopped?: true;
  /** It was aborted: it is not rolled back. */
  readonly aborted?: true;
  /** A part was cancelled. */
  readonly interrupted?: true;
  /** The failure of the attempt, set before running parts have ended. No further part begins. */
  readonly failure?: Failure;
  /** Index of the part with that failure; missing for a timeout. */
  readonly failedPart?: number;
  /** No retry can change the failure. */
  readonly isPermanent?: true;
  /** All parts have ended, and a rollback runs. */
  readonly undoing?: true;
}

/** Why a node was selected to run. */
export type SelectionReason = 'goto' | 'fallback' | 'rollback';

export interface NodeRow {
  readonly status: NodeStatus;
  readonly reason?: SkipReason;
  /** The nodes that selected this one, by key. The first one counts. */
  readonly selections?: readonly { readonly by: string; readonly why: SelectionReason }[];
  /** The latest attempt, counted from 1. Missing before the first. */
  readonly attempt?: number;
  /** How often this `goto` has jumped. */
  readonly jumps?: number;
  /** The input of the call, kept for its next attempt, if there may be one. */
  readonly input?: JsonObject;
  /** Missing for a value that is absent. */
  readonly output?: Json;
  /** The failure of the node, also one that a value replaces if it is read; before it settles, that of its last attempt. */
  readonly failure?: Failure;
  /** Of a failed node: its position among the failures of its scope, from 1. */
  readonly failureNumber?: number;
  /** Of a failed or handled node, and of one that has stopped: no retry around it can change the failure. */
  readonly isPermanent?: true;
  /**
   * Of a handled node, of one that has stopped or is tried again after that, and of a failed one whose failure is read: how
   * many attempts reached its tool or resource.
   */
  readonly reached?: number;
  /** Sequence number in the queue for slots. */
  readonly queued?: number;
  /** The problems of each value of a model that did not fit in this attempt. Missing for none. */
  readonly refused?: readonly (readonly string[])[];
  /** How many of its own resources were read. Missing for none. */
  readonly shown?: number;
  /** Of a question that was answered with yes: the call that the answer permits. */
  readonly approved?: Approval;
  /** Of a question that is asked again: why the answer before does not count. */
  readonly askedAgain?: string;
  /** The outstanding command. */
  readonly command?: CommandRow;
}

/**
 * An outstanding command without its node. That of a call also lacks tool, attempt and key, a generation of 1, and an input
 * that the row of the node keeps.
 */
export type CommandRow =
  | (Pick<OwedCall, 'kind' | 'id' | 'seq' | 'dueAt'> & Partial<Pick<OwedCall, 'generation' | 'input'>>)
  | WithoutNode<Exclude<OwedCommand, { kind: 'callTool' }>>;

type OwedCall = Extract<OwedCommand, { kind: 'callTool' }>;

type WithoutNode<T> = T extends unknown ? Omit<T, 'node'> : never;

/** The value is missing for a field that was written as absent. */
interface FieldRow {
  readonly value?: Json;
}

/** An owner that undoes: it makes one compensation after another. */
export interface UndoRow {
  /** Sequence number: the order in which owners began. */
  readonly seq: number;
  /** Index of the next step of a `compensate` node, or of the next record in `items`. */
  readonly next: number;
  /** Keys of records that were written or renewed after undoing began. They are undone first. */
  readonly added?: readonly string[];
  /** How many compensations were issued. Their ids contain this number. */
  readonly issued: number;
  /** The compensation that it waits for: its own, or one of another owner for the same record. */
  readonly current?: UndoTarget & { readonly command: string; readonly isIgnored?: true };
  /** How many compensations have ended or were impossible. Each has a row in `undone`. */
  readonly settled: number;
  /** A compensation failed, and the following ones are not run. */
  readonly halted?: true;
  /** Their tools, while the owner waits for compensations of other owners. */
  readonly notRun?: readonly string[];
}

/** A compensation that has ended. */
interface UndoneRow {
  readonly tool: string;
  /** Missing where it succeeded. */
  readonly failure?: Failure;
}

export interface UndoTarget {
  readonly tool: string;
  /** Key of the undo record. Missing for a step that was skipped. */
  readonly effect?: string;
  /** Key of the node whose effect it undoes, if it is that of one node. */
  readonly undoes?: string;
}

/** An undo record: one effect and its compensation. */
export interface EffectRow {
  /** Key of the node that made the call. */
  readonly call: string;
  readonly generation: number;
  /** The tool that undoes it and its input. Missing for a call that has no compensation. */
  readonly tool?: string;
  readonly input?: JsonObject;
  readonly status: 'active' | 'undoing' | 'undone' | 'failed' | 'unknown';
  /** Sequence number: the order of completion. */
  readonly order: number;
  /** Of one that was undone. Sequence number: the order of undoing. */
  readonly undoneOrder?: number;
  /** It was to be undone: it is reported if it is not. */
  readonly needsUndo?: true;
  /** It is that of an abandoned call. */
  readonly isLate?: true;
  /** The compensation in flight, without the fields that follow from this record. */
  readonly command?: Pick<OwedCall, 'id' | 'node' | 'seq' | 'dueAt' | 'undoes'>;
  /** Why it could not be undone. */
  readonly failure?: Failure;
  /** It is that of a `compensate` step without a recorded call: the node, and the index of the step. */
  readonly compensateStep?: { readonly node: string; readonly step: number };
}

/** Counters that make up the generation of a node. */
interface GenerationRow {
  /** How often a `goto` started the node over. */
  readonly restarts?: number;
  /** How often its call became a new one: its effect was undone, or a later attempt of a container sent another input. */
  readonly reissues?: number;
  /** Hash of the input sent in a generation, if a container around may send it again. */
  readonly issued?: { readonly generation: number; readonly input: string };
}

/** A call with unknown outcome: it may have taken effect although it returned no result. */
interface UnknownRow {
  /** Sequence number: the order in which these calls failed. */
  readonly seq: number;
  /** Key of the node that made it. */
  readonly step: string;
  readonly tool: string;
  /** Ids of the attempts with unknown outcome. */
  readonly attempts: readonly string[];
}

/** An abandoned call. A late success is still recorded. */
export interface AbandonedRow {
  readonly node: string;
  readonly generation: number;
  /** The values that its compensation refers to, except its own output, by root and name. */
  readonly values?: Readonly<Record<string, JsonObject>>;
  /** Ids of the succeeded steps that its compensation refers to unconditionally. */
  readonly succeeded?: readonly string[];
}

/** A failed item of a loop that went on. Its value is null. */
export interface FailedItemRow {
  /** Key of the loop. */
  readonly step: string;
  /** Counted from 0. */
  readonly index: number;
  readonly failure: Failure;
}

/** An accepted answer. */
export interface SubmissionRow {
  readonly at: number;
  readonly by?: Json;
  readonly value: Json;
}

interface EventIdRow {
  readonly id: string;
  /** Its index among the events that had an id. */
  readonly index: number;
}

/** Work that a transition did not finish within its limit. */
export interface RemainingWork {
  /** The event's time. */
  readonly at: number;
  /** The rest of the event's expression budget. */
  readonly budget: number;
  /** Keys of the nodes in the ready queue. */
  readonly ready: readonly string[];
  /** Completions that were not handled. */
  readonly completions: readonly Completion[];
}

/** A completion to handle. Nodes and scopes are keys in a row, and records in memory. */
export type Completion<Node = string, Scope = ScopeRef> =
  /** All nodes of a scope have settled. */
  | { readonly kind: 'scope'; readonly scope: Scope }
  /** The rollback node of a `parallel` has settled. */
  | { readonly kind: 'rollback'; readonly of: Node }
  | ContinueUndo<Node>
  /** A node, or the run, has ended its compensations. */
  | {
      readonly kind: 'undone';
      readonly by?: Node | undefined;
      readonly report: CompensationReport;
      /** A compensation failed, and the following ones were not run. */
      readonly hasHalted: boolean;
    };

/** A node, or the run if undefined, continues to undo. */
export interface ContinueUndo<Node = string> {
  readonly kind: 'continueUndo';
  readonly by?: Node | undefined;
  /** It is the first in the queue for slots, and one is free. */
  readonly hasSlot?: true;
}

/** A scope by its container and the part of it. Missing container: the root. */
export interface ScopeRef {
  readonly container?: string;
  readonly part: number;
}

/** The due time of the command in a row; undefined without a command or a time limit. */
export function dueTimeOf(row: Row): { readonly command: string; readonly dueAt: number } | undefined {
  if (row.table !== 'nodes' && row.table !== 'effects') return undefined;
  const { id, dueAt } = row.row.command ?? {};
  return id === undefined || dueAt === undefined ? undefined : { command: id, dueAt };
}

/** The kind of the command in a row; undefined without a command. */
export function owedKind(row: Row): OwedCommand['kind'] | undefined {
  if (row.table === 'effects') return row.row.command === undefined ? undefined : 'callTool';
  return row.table === 'nodes' ? row.row.command?.kind : undefined;
}
