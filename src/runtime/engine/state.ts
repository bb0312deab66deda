import { type Json, type JsonObject, ownProperty } from '../../graph/json.js';
import { findNode, type InstanceTree, partAddress, rootAddress } from '../../plan/instances.js';
import { ANY_ITEM } from '../../plan/node-key.js';
import type { Plan, PlannedNode, ScopePlan } from '../../plan/plan.js';
import type { Failure, NodeFailure, OwedCommand, RunStatus } from './events.js';
import { EffectTable, FailedItemTable } from './indexed-tables.js';
import { LargeValues } from './large-values.js';
import { type ContainerRecord, NodeRecord, ScopeRecord } from './records.js';
import type { OwedWork, RunRow, StartRow } from './rows.js';
import { SmallMap } from './small-map.js';
import { ChangeList, type Draft, Entry, KeyIndex, type RowTable, RowTables, type Tracked } from './tables.js';

/** The run as a whole. */
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
  owed: OwedWork | undefined;
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
    const { owed, cancelling, endedBy, result, failure, failedNode, failures } = this;
    const row: Draft<RunRow> = { engineVersion, stateVersion, status, started, seq };
    if (owed !== undefined) row.owed = owed;
    if (cancelling !== undefined) row.cancelling = cancelling;
    if (endedBy !== undefined) row.endedBy = endedBy;
    if (result !== undefined) row.result = result;
    if (failure !== undefined) row.failure = failure;
    if (failedNode !== undefined) row.failedNode = failedNode;
    if (failures !== undefined) row.failures = failures;
    return row;
  }
}

/** An owed command: that of a node, or a compensation and the node that it names. */
export type Owed = NodeRecord | { readonly command: OwedCommand; readonly node: NodeRecord };

export function nodeOf(owed: Owed): NodeRecord {
  return owed instanceof NodeRecord ? owed : owed.node;
}

/** Of a queue that is empty. Never changed. */
const NONE: never[] = [];

/**
 * Nodes that wait for a free slot, in the order in which they came. A node that leaves stays in the list until its turn
 * comes: `node.details.queued` says whether it still waits, and since when.
 */
export class SlotQueue {
  #waiting: { readonly node: NodeRecord; readonly since: number }[] = NONE;
  #next = 0;
  #size = 0;

  get isEmpty(): boolean {
    return this.#size === 0;
  }

  /** The node that has waited longest. */
  get first(): NodeRecord | undefined {
    for (; this.#next < this.#waiting.length; this.#next += 1) {
      const { node, since } = this.#waiting[this.#next] ?? {};
      if (node?.details.queued === since) return node;
    }
    return undefined;
  }

  /** Puts a node at the end. `node.details.queued` is its place, which is higher than those of all before it. */
  add(node: NodeRecord): void {
    if (this.#waiting === NONE) this.#waiting = [];
    this.#waiting.push({ node, since: node.details.queued });
    this.#size += 1;
  }

  /** A node leaves, wherever it is in the list. Those that have left are let go before they are most of it. */
  remove(): void {
    this.#size -= 1;
    if (this.#size === 0) {
      this.#waiting = NONE;
      this.#next = 0;
    } else if (this.#waiting.length > 2 * this.#size + FEW) {
      const left = this.#waiting.slice(this.#next).filter(({ node, since }) => node.details.queued === since);
      this.#waiting = left;
      this.#next = 0;
    }
  }
}

/** So many that have left are kept without looking. */
const FEW = 32;

/**
 * The whole state of a run: records in memory, which the engine changes in place. `snapshot` gives it as rows of plain
 * JSON, and `restore` takes it from them. Read it with the functions of `read.ts`.
 */
export class RunState implements InstanceTree<NodeRecord, ScopeRecord> {
  readonly plan: Plan;
  readonly run: RunRecord;
  /** Whether it is only tried out: then an item may stand for all of a loop. */
  isRehearsed = false;
  readonly start: Entry<'start'>;
  readonly root: ScopeRecord;
  readonly changes = new ChangeList();
  /** Commands that want an answer, by id, in the order in which they were issued. */
  readonly owed = new SmallMap<Owed>();
  /** Nodes that wait for a slot. */
  readonly queue = new SlotQueue();
  /** Calls, reads and evaluations in flight, at most the graph's `maxConcurrency`. */
  running = 0;
  /** Compensations in flight, which are among these. */
  compensations = 0;
  readonly effects = new EffectTable(this);
  readonly tables = new RowTables(this.changes);
  // Made when they are first asked for: many runs wait at once, and few of them need these.
  #joined: KeyIndex | undefined;
  #failedItems: FailedItemTable | undefined;
  #large: LargeValues | undefined;

  constructor(plan: Plan, id: string, start: StartRow) {
    this.plan = plan;
    this.start = new Entry('start', id, start);
    this.run = new RunRecord(id, start);
    this.root = new ScopeRecord(rootAddress(plan));
  }

  /** Keys of those in `undoing` that wait for a compensation which another one has issued, by its id. */
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

  /** How calls of a tool may be repeated. */
  safetyOf(tool: string): StartRow['tools'][string] {
    return ownProperty((this.start.value as StartRow).tools, tool) ?? 'none';
  }

  /**
   * The node of a key. Where its scope is over, or has not begun, the record says only which node it is.
   * @throws Error for the key of no node of this plan.
   */
  find(key: string): NodeRecord {
    const node = this.lookup(key);
    if (node === undefined) throw new Error(`the graph has no node '${key}'`);
    return node;
  }

  /** As `find`; none for the key of no node of this plan. */
  lookup(key: string): NodeRecord | undefined {
    const { root } = this;
    const atTop = root.workflow.plan.byId.get(key);
    if (atTop?.scope === root.plan) return root.node(atTop);
    return this.isRehearsed || !key.includes(`[${ANY_ITEM}]`) ? findNode(this, key) : undefined;
  }

  node(scope: ScopeRecord, planned: PlannedNode): NodeRecord {
    return scope.node(planned);
  }

  /** A part of a node, whether it runs or not: an arm's body, a branch, an item, or the workflow that it runs. */
  part(node: NodeRecord, part: number): ScopeRecord {
    const open = node.container?.parts[part];
    if (open !== undefined) return open;
    const closed = this.newPart(node, part);
    closed.isOpen = false;
    return closed;
  }

  /** A part of a container that begins. */
  newPart(container: NodeRecord, part: number): ScopeRecord {
    return new ScopeRecord(partAddress(this.plan, container, part), container, part);
  }
}

/**
 * The node `id` as the nodes of a scope see it; none where it has not begun, or is in a loop the scope is not in.
 */
export function visibleNode(scope: ScopeRecord, id: string): NodeRecord | undefined {
  const planned = scope.workflow.plan.byId.get(id);
  if (planned === undefined) return undefined;
  return visibleScope(scope, planned.scope)?.nodes[planned.index];
}

function visibleScope(from: ScopeRecord, plan: ScopePlan): ScopeRecord | undefined {
  for (let each: ScopeRecord | undefined = from; each !== undefined; each = scopeAround(each)) {
    if (each.plan === plan) return each;
  }
  const { container } = plan;
  if (container === undefined || container.node.kind === 'foreach') return undefined;
  const outer = visibleScope(from, container.scope)?.nodes[container.index];
  return outer?.container?.parts[container.parts.indexOf(plan)];
}

/** The scope around, in the same workflow. */
function scopeAround({ container, workflow }: ScopeRecord): ScopeRecord | undefined {
  return container === workflow.node ? undefined : container?.scope;
}

/** What a container keeps of its parts. @throws Error where it does not run: the state is not of this run. */
export function containerOf({ key, container }: NodeRecord): ContainerRecord {
  if (container === undefined) throw new Error(`node '${key}' has no parts that run`);
  return container;
}

/** Counts releases of the engine that could give other commands for the same events. */
export const ENGINE_VERSION = 1;

/** Counts forms of the state. An engine reads its own and the previous one. */
export const STATE_VERSION = 1;

/** Thrown for a state that this engine cannot read, before anything is read into it. */
export class StateVersionError extends Error {
  /** The version of the state. */
  readonly actual: unknown;

  constructor(run: string, actual: unknown) {
    super(
      `The state of run '${run}' has version ${JSON.stringify(actual)}, and this engine reads version ${STATE_VERSION}: ` +
        'run it with the version of stepwright that wrote it, or a later one.',
    );
    this.name = 'StateVersionError';
    this.actual = actual;
  }
}

/** @throws StateVersionError for a run whose state is of another version. */
export function checkVersion(run: string, { stateVersion }: { readonly stateVersion: unknown }): void {
  if (stateVersion !== STATE_VERSION) throw new StateVersionError(run, stateVersion);
}

/** Thrown when a host brings a state together with a graph it was not started on. */
export class GraphMismatchError extends Error {
  /** Hash of the graph the run was started on. */
  readonly expected: string;
  /** Hash of the graph that was brought. */
  readonly actual: string;

  constructor(run: string, expected: string, actual: string) {
    super(`run '${run}' was started on graph ${expected} and cannot go on with graph ${actual}`);
    this.name = 'GraphMismatchError';
    this.expected = expected;
    this.actual = actual;
  }
}

/** @throws GraphMismatchError where a run was started on another graph than that of the plan. */
export function checkGraph(run: string, graphHash: string, { hash }: Plan): void {
  if (hash !== graphHash) throw new GraphMismatchError(run, graphHash, hash);
}
