import type { Json, JsonObject } from '../../graph/json.js';
import type { ToolSafety } from '../../graph/tool-safety.js';
import type {
  CompensationReport,
  Failure,
  NodeFailure,
  NodeStatus,
  OwedCommand,
  RunStatus,
  SkipReason,
} from './events.js';

/**
 * What a journal stores of a run: rows of plain JSON, in tables, each with a key. The engine keeps records in memory and
 * makes rows for a journal or a snapshot only. Scopes have keys as nodes do: `/` for the nodes at the top, `both:left` for
 * the branch `left` of the node `both`, `line[3]` for an item of the loop `line`, and `sub/` for the workflow that the node
 * `sub` runs. What follows from other rows and the plan (counters of dependencies, of running calls) has no row.
 */
export interface Tables {
  /** What never changes; the one key is the run's id. */
  readonly start: StartRow;
  /** What changes; the one key is the run's id. */
  readonly run: RunRow;
  /** By key of the scope: those inside of containers, and the one at the top where there is something to say of it. */
  readonly scopes: ScopeRow;
  /** By key of the node: `branch`, `parallel`, `foreach` and `workflow` nodes that have begun. */
  readonly containers: ContainerRow;
  /** By key of the node: those that are no longer as they were when their scope began. */
  readonly nodes: NodeRow;
  /** Values of the parts of a node under way, by their scopes. Absent values have no row. */
  readonly outputs: Json;
  /** Inputs of the workflows that `workflow` nodes run, by the node's key. */
  readonly inputs: JsonObject;
  /** Lists that are made once: the items of a loop, and the keys of the undo records a rollback covers. */
  readonly items: readonly Json[];
  /** Fields of the run's state that were written, by name. */
  readonly fields: FieldRow;
  /** Compensations under way, by key of the node that undoes, or `''` for a cancelled run. */
  readonly undoing: UndoRow;
  /** How the compensations of those that undo have ended: by the key in `undoing`, `#`, and their place from 0. */
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
  /** Ids of the latest events that had one: each takes the row of the oldest one, by a number that goes round. */
  readonly eventIds: EventIdRow;
  /** Large values, by sha256 of their JSON: once, however many rows hold them. See `Row`. */
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
    /** JSON pointers into the row: there it holds the key of a row in `values` in place of the value. Default: none. */
    readonly refs?: readonly string[];
  };
}[TableName];

/**
 * One row that a journal must write or delete. One `Advance` names a row once. A row and what it holds never change: the
 * engine replaces values and does not change them in place. It may hold the same objects as the state, and must not be
 * changed by who gets it either.
 */
export type Change = Row | { readonly op: 'delete'; readonly table: TableName; readonly key: string };

/** What of a run never changes. */
export interface StartRow {
  readonly workflow: string;
  /** Hash of the graph the run started on; `advance` refuses another one. */
  readonly graphHash: string;
  /** Ms since the epoch. */
  readonly startedAt: number;
  /** See `StartIds`. */
  readonly random?: number;
  /** After this moment no attempt may run (ms since the epoch). What undoes is no attempt. */
  readonly deadlineAt?: number;
  /** Values of the graph's inputs. */
  readonly input: JsonObject;
  /** How calls of the tools may be repeated, by tool. A tool that is not listed is `none`. */
  readonly tools: Readonly<Record<string, ToolSafety>>;
}

/** What of a run changes. */
export interface RunRow {
  /** The engine that wrote the state last. */
  readonly engineVersion: number;
  /** The form of the state. An engine reads its own and the previous one. */
  readonly stateVersion: number;
  readonly status: RunStatus;
  /** How many nodes have started. */
  readonly started: number;
  /** How many commands were issued, undo records written and nodes queued: their order. */
  readonly seq: number;
  /** Work that the latest transition left to the next one. */
  readonly owed?: OwedWork;
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

/** A list of nodes that runs. */
export interface ScopeRow {
  /** How often the containers around it were started over by a `goto`, together. Default: 0. */
  readonly restarts?: number;
  /** Attempts of the containers around it, the outermost first, joined by dots. Missing where each is in its first. */
  readonly attempts?: string;
  /** The node after which nothing new starts here. */
  readonly endedBy?: string;
  /** At the top of a workflow: the value of the `return` that ended it. Missing for a value that is absent. */
  readonly value?: Json;
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

/** Why a node was selected to run. */
export type SelectionReason = 'goto' | 'fallback' | 'rollback';

/** One node of the run. */
export interface NodeRow {
  readonly status: NodeStatus;
  readonly reason?: SkipReason;
  /** Who selected this node, by key. The first one counts. */
  readonly selections?: readonly { readonly by: string; readonly why: SelectionReason }[];
  /** The latest attempt, counted from 1. Missing before the first. */
  readonly attempt?: number;
  /** How often this `goto` has jumped. */
  readonly jumps?: number;
  /** What the call sends, kept for its next attempt. */
  readonly input?: JsonObject;
  /** What it gave. Missing for a value that is absent. */
  readonly output?: Json;
  /** Why the node failed; between attempts and during a later one, how the attempt before did. */
  readonly failure?: Failure;
  /** Of a failed node: its place in the order of its scope's failures, from 1. */
  readonly failedAs?: number;
  /** Of a failed or handled node: no retry around it can change the failure. */
  readonly final?: true;
  /** Of a handled node: how often its tool or resource was reached. */
  readonly reached?: number;
  /** It waits for a slot: its place in the order of those that do. */
  readonly queued?: number;
  /** The command it waits for, without what follows from the plan. */
  readonly command?: CommandRow;
}

/**
 * An owed command without its node, and for a call without what follows from the plan: its tool, attempt and key, its
 * generation where that is the first, and its input where the row of the node keeps that.
 */
export type CommandRow =
  | (Pick<OwedCall, 'kind' | 'id' | 'seq' | 'dueAt'> & Partial<Pick<OwedCall, 'generation' | 'input'>>)
  | WithoutNode<Exclude<OwedCommand, { kind: 'callTool' }>>;

type OwedCall = Extract<OwedCommand, { kind: 'callTool' }>;

type WithoutNode<T> = T extends unknown ? Omit<T, 'node'> : never;

/** Missing value: the field was written as absent. */
interface FieldRow {
  readonly value?: Json;
}

/** Compensations under way, one after the other. */
export interface UndoRow {
  /** Its place in the order in which undoing began. */
  readonly seq: number;
  /** Of a `compensate` node the step that is made or looked at next; else the place in the list of covered records. */
  readonly next: number;
  /** Covered records that were written or renewed after undoing began: they are undone first. */
  readonly late?: readonly string[];
  /** How many compensations were issued: their ids count them. */
  readonly issued: number;
  /** The compensation it waits for: its own, or one of another owner that undoes the same. */
  readonly current?: UndoTarget & { readonly command: string; readonly isIgnored?: true };
  /** How many compensations have come back or were found to be impossible: each has a row in `undone`. */
  readonly ended: number;
  /** A compensation failed, and those behind it are not run. */
  readonly halted?: true;
  /** Tools of those, where the end of what another owner undoes is waited for. */
  readonly notRun?: readonly string[];
}

/** A compensation that has ended. */
interface UndoneRow {
  readonly tool: string;
  /** Missing where it succeeded. */
  readonly failure?: Failure;
}

/** What a compensation undoes. */
export interface UndoTarget {
  readonly tool: string;
  /** Key of the undo record. Missing for a step that was left out. */
  readonly effect?: string;
  /** Key of the node whose effect it takes back, where it is one node's. */
  readonly undoes?: string;
}

/** One effect and its undoing. */
export interface EffectRow {
  /** Key of the node that made the call. */
  readonly call: string;
  readonly generation: number;
  /** The tool that undoes it and its input. Missing for a call that has no compensation. */
  readonly tool?: string;
  readonly input?: JsonObject;
  readonly status: 'active' | 'undoing' | 'undone' | 'failed' | 'unknown';
  /** Its place in the order of completion. */
  readonly order: number;
  /** It was to be undone. */
  readonly wanted?: true;
  /** It was written for a call that had been abandoned. */
  readonly late?: true;
  /** The compensation in flight: what of its command does not follow from the record. */
  readonly command?: Pick<OwedCall, 'id' | 'node' | 'seq' | 'dueAt' | 'undoes'>;
  /** Why it could not be undone. */
  readonly failure?: Failure;
  /** A step of a `compensate` node that undoes no recorded call: the node, and the step's place from 0. */
  readonly own?: { readonly node: string; readonly step: number };
}

/** What the generation of a node is counted from. */
interface GenerationRow {
  /** How often a `goto` started the node over. */
  readonly restarts?: number;
  /** How often its call became another one: its effect was undone, or a later attempt of a container sent another input. */
  readonly reissues?: number;
  /** Hash of the input that was sent in a generation, where a container around may send it again. */
  readonly issued?: { readonly generation: number; readonly input: string };
}

/** A call that may have taken effect although no result came back. */
interface UnknownRow {
  /** Its place in the order in which they became known. */
  readonly seq: number;
  /** Key of the node that made it. */
  readonly step: string;
  readonly tool: string;
  /** Ids of the attempts of which nothing is known. */
  readonly attempts: readonly string[];
}

/** A call that was abandoned. Its success is still recorded. */
export interface AbandonedRow {
  readonly node: string;
  readonly generation: number;
  /** What its compensation refers to besides its own output, as it was then: by root, by name. */
  readonly known?: Readonly<Record<string, JsonObject>>;
  /** Ids of the steps that its compensation plainly refers to and that had succeeded. */
  readonly succeeded?: readonly string[];
}

/** An item whose value is null because it failed. */
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

/** An event that had an id. */
interface EventIdRow {
  readonly id: string;
  /** Its place in the order of the events that had one, from 0. */
  readonly place: number;
}

/** Work of an event that was not finished within the limit of one transition. */
export interface OwedWork {
  /** The event's time. */
  readonly at: number;
  /** What is left of the event's expression budget. */
  readonly budget: number;
  /** Keys of nodes to look at. */
  readonly due: readonly string[];
  /** What is complete, and was not handled yet. */
  readonly ended: readonly Completion[];
}

/** What is complete and goes on elsewhere. Nodes and scopes are keys in a row, and records in memory. */
export type Completion<Node = string, Scope = ScopeRef> =
  /** All nodes of a scope have settled. */
  | { readonly kind: 'scope'; readonly scope: Scope }
  /** A node has undone what a `parallel` had done. */
  | { readonly kind: 'rollback'; readonly of: Node }
  | GoOn<Node>
  /** Compensations were made, for a node or for the run. */
  | {
      readonly kind: 'undone';
      readonly by?: Node | undefined;
      readonly report: CompensationReport;
      /** A compensation failed, and those behind it were not run. */
      readonly hasHalted: boolean;
    };

/** A node, or the run where it is none, has more to undo. */
export interface GoOn<Node = string> {
  readonly kind: 'goOn';
  readonly by?: Node | undefined;
  /** It has waited in the queue for the slot there is. */
  readonly hasTurn?: true;
}

/** A scope by its container and the part of it. Missing container: the root. */
export interface ScopeRef {
  readonly container?: string;
  readonly part: number;
}
