import { type Json, type JsonObject, ownProperty, type Value } from '../../graph/json.js';
import { ANY_ITEM, findNode, type InstanceTree, partAddress, rootAddress } from '../../plan/instances.js';
import type { Plan, PlannedNode } from '../../plan/plan.js';
import type { Failure, NodeFailure, OwedCommand, RunStatus } from './events.js';
import { EffectTable, FailedItemTable } from './indexed-tables.js';
import { LargeValues } from './large-values.js';
import { type ContainerRecord, NodeRecord, ScopeRecord } from './records.js';
import type { RemainingWork, RunRow, StartRow } from './rows.js';
import {
  ChangeList,
  type Draft,
  Entry,
  KeyIndex,
  type RowTable,
  RowTables,
  SmallMap,
  type Tracked,
} from './tables.js';

export class RunRecord implements Tracked<'run'> {
  isDirty = false;
  isStored = false;
  readonly id: string;
  readonly workflow: string;
  readonly graphHash: string;
  readonly startedAt: number;
  readonly random: number | undefined;
  readonly deadlineAt: number | undefined;
  engineVersion = ENGINE_VERSION;
  readonly stateVersion: number = STATE_VERSION;
  status: RunStatus = 'running';
  started = 0;
  seq = 0;
  remainingWork: RemainingWork | undefined;
  cancelling: RunRow['cancelling'];
  endedBy: string | undefined;
  result: Json | undefined;
  failure: Failure | undefined;
  failedNode: string | undefined;
  failures: readonly NodeFailure[] | undefined;

  constructor(id: string, { workflow, graphHash, startedAt, random, deadlineAt }: StartRow) {
    this.id = id;
    this.workflow = workflow;
    this.graphHash = graphHash;
    this.startedAt = startedAt;
    this.random = random;
    this.deadlineAt = deadlineAt;
  }

  get key(): string {
    return this.id;
  }

  get table(): 'run' {
    return 'run';
  }

  hasRow(): boolean {
    return true;
  }

  toRow(): RunRow {
    const { engineVersion, stateVersion, status, started, seq } = this;
    const { remainingWork, cancelling, endedBy, result, failure, failedNode, failures } = this;
    const row: Draft<RunRow> = { engineVersion, stateVersion, status, started, seq };
    if (remainingWork !== undefined) row.remainingWork = remainingWork;
    if (cancelling !== undefined) row.cancelling = cancelling;
    if (endedBy !== undefined) row.endedBy = endedBy;
    if (result !== undefined) row.result = result;
    if (failure !== undefined) row.failure = failure;
    if (failedNode !== undefined) row.failedNode = failedNode;
    if (failures !== undefined) row.failures = failures;
    return row;
  }
}

/** An outstanding command: by its node, or a compensation with the node that it names. */
export type Owed = NodeRecord | { readonly command: OwedCommand; readonly node: NodeRecord };

export function nodeOf(owed: Owed): NodeRecord {
  return owed instanceof NodeRecord ? owed : owed.node;
}

const NONE: readonly string[] = [];

/** The list of an empty queue. Never changed. */
const NO_NODES: never[] = [];

/**
 * Nodes that wait for a slot, first in, first out. A node that leaves stays in the list until it comes first:
 * `node.details.queued` shows whether it still waits, and since when.
 */
class SlotQueue {
  #waiting: { readonly node: NodeRecord; readonly since: number }[] = NO_NODES;
  #next = 0;
  #size = 0;

  get isEmpty(): boolean {
    return this.#size === 0;
  }

  get first(): NodeRecord | undefined {
    for (; this.#next < this.#waiting.length; this.#next += 1) {
      const { node, since } = this.#waiting[this.#next] ?? {};
      if (node?.details.queued === since) return node;
    }
    return undefined;
  }

  /** Adds a node at the end. Its `queued` is higher than that of all nodes before it. */
  add(node: NodeRecord): void {
    if (this.#waiting === NO_NODES) this.#waiting = [];
    this.#waiting.push({ node, since: node.details.queued });
    this.#size += 1;
  }

  /** Counts a node that leaves. The list is compacted before most of its nodes have left. */
  remove(): void {
    this.#size -= 1;
    if (this.#size === 0) {
      this.#waiting = NO_NODES;
      this.#next = 0;
    } else if (this.#waiting.length > 2 * this.#size + MAX_STALE) {
      const rest = this.#waiting.slice(this.#next).filter(({ node, since }) => node.details.queued === since);
      this.#waiting = rest;
      this.#next = 0;
    }
  }
}

/** How many nodes that have left the list keeps in any case. */
const MAX_STALE = 32;

/**
 * The state of a run: records in memory, which the engine changes in place. `snapshot` converts it to rows of plain JSON,
 * and `restore` creates it from them. Hosts read it with the functions of `read.ts`.
 */
export class RunState implements InstanceTree<NodeRecord, ScopeRecord> {
  readonly plan: Plan;
  readonly run: RunRecord;
  /** Whether this is a rehearsal: one item may represent all items of a loop. */
  isRehearsed = false;
  /** In a rehearsal: how a node settled, by its key, as far as that is known. */
  settledBefore: ((key: string) => Value) | undefined;
  readonly start: Entry<'start'>;
  readonly root: ScopeRecord;
  readonly changes = new ChangeList();
  /** Outstanding commands by id, in the order in which they were issued. */
  readonly owed = new SmallMap<Owed>();
  /** Nodes that wait for a slot. */
  readonly queue = new SlotQueue();
  /** Calls, reads and evaluations in flight, at most the graph's `maxConcurrency`. */
  running = 0;
  /** Compensations in flight. `running` includes them. */
  compensations = 0;
  /** The size of the written fields, where it is limited and was counted. */
  fieldBytes: number | undefined;
  readonly effects = new EffectTable(this);
  readonly tables = new RowTables(this.changes);
  // Created on first use: many runs wait at once, and few of them need these.
  #joined: KeyIndex | undefined;
  #failedItems: FailedItemTable | undefined;
  #large: LargeValues | undefined;

  constructor(plan: Plan, id: string, start: StartRow) {
    this.plan = plan;
    this.start = new Entry('start', id, start);
    this.run = new RunRecord(id, start);
    this.root = new ScopeRecord(rootAddress(plan));
  }

  /** Keys in `undoing` of owners that wait for a compensation of another owner, by id of the command. */
  get joined(): KeyIndex {
    this.#joined ??= new KeyIndex();
    return this.#joined;
  }

  get failedItems(): FailedItemTable {
    this.#failedItems ??= new FailedItemTable(this);
    return this.#failedItems;
  }

  get large(): LargeValues {
    this.#large ??= new LargeValues();
    return this.#large;
  }

  get inputs(): RowTable<'inputs'> {
    return this.tables.of('inputs');
  }

  get items(): RowTable<'items'> {
    return this.tables.of('items');
  }

  get fields(): RowTable<'fields'> {
    return this.tables.of('fields');
  }

  get undoing(): RowTable<'undoing'> {
    return this.tables.of('undoing');
  }

  get undone(): RowTable<'undone'> {
    return this.tables.of('undone');
  }

  get generations(): RowTable<'generations'> {
    return this.tables.of('generations');
  }

  get unknown(): RowTable<'unknown'> {
    return this.tables.of('unknown');
  }

  get abandoned(): RowTable<'abandoned'> {
    return this.tables.of('abandoned');
  }

  get submissions(): RowTable<'submissions'> {
    return this.tables.of('submissions');
  }

  get eventIds(): RowTable<'eventIds'> {
    return this.tables.of('eventIds');
  }

  /** Values of the graph's inputs. */
  get input(): JsonObject {
    return (this.start.value as StartRow).input;
  }

  /** See `StartRow`. */
  get inherited(): readonly string[] {
    return (this.start.value as StartRow).inherited ?? NONE;
  }

  /** How calls of a tool may be repeated. */
  safetyOf(tool: string): StartRow['tools'][string] {
    return ownProperty((this.start.value as StartRow).tools, tool) ?? 'none';
  }

  /**
   * The node of a key. If its scope was deleted or has not begun, the record only identifies the node.
   * @throws Error if the plan has no such node.
   */
  find(key: string): NodeRecord {
    const node = this.lookup(key);
    if (node === undefined) throw new Error(`the graph has no node '${key}'`);
    return node;
  }

  /** As `find`; undefined if the plan has no such node. */
  lookup(key: string): NodeRecord | undefined {
    const { root } = this;
    const atTop = root.workflow.plan.byId.get(key);
    if (atTop?.scope === root.plan) return root.node(atTop);
    return this.isRehearsed || !key.includes(`[${ANY_ITEM}]`) ? findNode(this, key) : undefined;
  }

  node(scope: ScopeRecord, planned: PlannedNode): NodeRecord {
    return scope.node(planned);
  }

  /** A part of a node, open or not: an arm's body, a branch, an item, or the workflow that it runs. */
  part(node: NodeRecord, part: number): ScopeRecord {
    const open = node.container?.parts[part];
    if (open !== undefined) return open;
    const closed = this.newPart(node, part);
    closed.isOpen = false;
    return closed;
  }

  newPart(container: NodeRecord, part: number): ScopeRecord {
    return new ScopeRecord(partAddress(this.plan, container, part), container, part);
  }
}

/** The container record of a node. @throws Error if it has none: the state is corrupt. */
export function containerOf({ key, container }: NodeRecord): ContainerRecord {
  if (container === undefined) throw new Error(`node '${key}' has no parts that run`);
  return container;
}

/** Raised by releases of the engine that may give other commands for the same events. */
export const ENGINE_VERSION = 1;

/** Version of the form of the state. An engine reads its own and the previous one. */
export const STATE_VERSION = 1;

/** Thrown for a state of an unknown version, or of a later engine, before anything is read from it. */
export class StateVersionError extends Error {
  /** The version of the state, or of the engine that wrote it. */
  readonly actual: unknown;

  /** @param what completes "The … of run … has version …". */
  constructor(run: string, actual: unknown, what: 'state' | 'engine' = 'state') {
    const own = what === 'state' ? STATE_VERSION : ENGINE_VERSION;
    super(
      `The ${what} of run '${run}' has version ${JSON.stringify(actual)}, and this engine reads version ${own}: ` +
        'run it with the version of stepwright that wrote it, or a later one.',
    );
    this.name = 'StateVersionError';
    this.actual = actual;
  }
}

/** @throws StateVersionError if the state of a run has another version, or a later engine wrote it. */
export function checkVersion(
  run: string,
  { stateVersion, engineVersion }: { readonly stateVersion: unknown; readonly engineVersion: unknown },
): void {
  if (stateVersion !== STATE_VERSION) throw new StateVersionError(run, stateVersion);
  if (typeof engineVersion !== 'number' || engineVersion > ENGINE_VERSION)
    throw new StateVersionError(run, engineVersion, 'engine');
}

/** Thrown for a state with another graph than the one the run was started on. */
export class GraphMismatchError extends Error {
  /** Hash of the graph the run was started on. */
  readonly expected: string;
  /** Hash of the graph of the call. */
  readonly actual: string;

  constructor(run: string, expected: string, actual: string) {
    super(`run '${run}' was started on graph ${expected} and cannot go on with graph ${actual}`);
    this.name = 'GraphMismatchError';
    this.expected = expected;
    this.actual = actual;
  }
}

/** @throws GraphMismatchError if a run was started on another graph than that of the plan. */
export function checkGraph(run: string, graphHash: string, { hash }: Plan): void {
  if (hash !== graphHash) throw new GraphMismatchError(run, graphHash, hash);
}
