import type { Json, JsonObject, Value } from '../../graph/json.js';
import { nodeKey, type ScopeAddress, type WorkflowInstance } from '../../plan/instances.js';
import { type PlannedNode, rollsBack, type ScopePlan } from '../../plan/plan.js';
import type { Approval, Failure, NodeStatus, OwedCommand, SkipReason } from './events.js';
import type { CommandRow, ContainerRow, NodeRow, ScopeRow, SelectionReason } from './rows.js';
import type { Draft, Entry, Tracked } from './tables.js';

export type WorkflowRecord = WorkflowInstance<NodeRecord>;

/** Fields of a scope that was stopped, failed, returned, or began again. See `ScopeRow`. */
class ScopeDetails {
  restarts = 0;
  attempts: string | undefined;
  /** Key of the node after which nothing new starts here. */
  endedBy: string | undefined;
  value: Value;
  stopped = false;
  interrupted = false;
  failure: Failure | undefined;
  failedNode: NodeRecord | undefined;
  isPermanent = false;
  failures = 0;
}

/** The details of most scopes. Never changed. */
const PLAIN_SCOPE: Readonly<ScopeDetails> = Object.freeze(new ScopeDetails());

/** A scope that runs. Each item of a loop has its own. */
export class ScopeRecord implements Tracked<'scopes'>, ScopeAddress<NodeRecord> {
  readonly key: string;
  isDirty = false;
  isStored = false;
  readonly plan: ScopePlan;
  readonly workflow: WorkflowRecord;
  readonly indices: readonly number[];
  /** The node that it is a part of; `part` is the index of that part. */
  readonly container: NodeRecord | undefined;
  readonly part: number;
  /** Its nodes by index. Records are created on first use. */
  readonly nodes: (NodeRecord | undefined)[];
  /** False once it was deleted. */
  isOpen = true;
  /** How many of its nodes have not settled. */
  open: number;
  /** Change only with `set`: most scopes share one object. */
  details: Readonly<ScopeDetails> = PLAIN_SCOPE;
  #order: readonly number[] | undefined;

  constructor({ key, plan, workflow, indices }: ScopeAddress<NodeRecord>, container?: NodeRecord, part = 0) {
    this.key = key;
    this.plan = plan;
    this.workflow = workflow;
    this.indices = indices;
    this.container = container;
    this.part = part;
    this.open = plan.nodes.length;
    // Exact length: a growing array would reserve more than most bodies need.
    this.nodes = new Array<NodeRecord | undefined>(plan.nodes.length);
  }

  get table(): 'scopes' {
    return 'scopes';
  }

  set<K extends keyof ScopeDetails>(name: K, value: ScopeDetails[K]): void {
    if (value === this.details[name]) return;
    if (this.details === PLAIN_SCOPE) this.details = new ScopeDetails();
    (this.details as ScopeDetails)[name] = value;
  }

  /** Position in declaration order: index and part of each enclosing container, the outermost first. */
  get order(): readonly number[] {
    this.#order ??= orderOf(this);
    return this.#order;
  }

  node(planned: PlannedNode): NodeRecord {
    return this.nodes[planned.index] ?? this.#begin(planned);
  }

  #begin(planned: PlannedNode): NodeRecord {
    const key = this.container === undefined ? planned.node.id : this.keyOf(planned);
    const created = new NodeRecord(key, planned, this);
    this.nodes[planned.index] = created;
    recount(created);
    return created;
  }

  keyOf({ node }: PlannedNode): string {
    return nodeKey(this.workflow.prefix, node.id, this.indices);
  }

  hasRow(): boolean {
    if (!this.isOpen) return false;
    const { endedBy, stopped, failures } = this.details;
    return this.container !== undefined || endedBy !== undefined || stopped || failures > 0;
  }

  toRow(): ScopeRow {
    const row: Draft<ScopeRow> = {};
    const { details } = this;
    if (details === PLAIN_SCOPE) return row;
    addChanged(row, details, PLAIN_SCOPE);
    if (details.failedNode !== undefined) row.failedNode = details.failedNode.key;
    return row;
  }
}

function orderOf({ container, part }: ScopeRecord): readonly number[] {
  return container === undefined ? [] : [...container.scope.order, container.planned.index, part];
}

/** Adds the fields to a row that differ from the defaults. */
function addChanged<T extends object>(row: object, fields: T, plain: T): void {
  for (const name of Object.keys(plain) as (keyof T & string)[]) {
    if (fields[name] !== plain[name]) (row as Record<string, unknown>)[name] = fields[name];
  }
}

/** Counts the unsettled dependencies and routers of a pending node. */
export function recount(node: NodeRecord): void {
  const { planned, scope } = node;
  node.waitingFor = unsettledIn(scope, planned.orders);
  node.routers = planned.needsSelection ? unsettledIn(scope, planned.routers) : 0;
}

function unsettledIn({ nodes }: ScopeRecord, planned: readonly PlannedNode[]): number {
  let count = 0;
  for (const { index } of planned) if (nodes[index]?.isSettled !== true) count += 1;
  return count;
}

/** A node that selected another one. */
export interface Selection {
  readonly by: NodeRecord;
  readonly why: SelectionReason;
}

const UNSELECTED: readonly Selection[] = [];

export const NOTHING_REFUSED: readonly (readonly string[])[] = [];

/** Fields of a node that did more than start once and succeed. See `NodeRow`. */
class NodeDetails {
  reason: SkipReason | undefined;
  selections: readonly Selection[] = UNSELECTED;
  jumps = 0;
  input: JsonObject | undefined;
  failure: Failure | undefined;
  failureNumber = 0;
  isPermanent = false;
  reached: number | undefined;
  /** Sequence number in the queue for slots; 0 if it is not in it. */
  queued = 0;
  /** The problems of each value of a model that did not fit in this attempt. */
  refused: readonly (readonly string[])[] = NOTHING_REFUSED;
  /** How many of the node's own resources were read. */
  shown = 0;
  approved: Approval | undefined;
  askedAgain: string | undefined;
}

/** The details of most nodes. Never changed. */
const PLAIN_NODE: Readonly<NodeDetails> = Object.freeze(new NodeDetails());

/**
 * A node of the run. Each item of a loop has its own. A record stays until its scope is deleted, so it must be small.
 */
export class NodeRecord implements Tracked<'nodes'> {
  readonly key: string;
  isDirty = false;
  isStored = false;
  readonly planned: PlannedNode;
  readonly scope: ScopeRecord;
  status: NodeStatus = 'pending';
  /** While it is pending: how many dependencies have not settled. */
  waitingFor = 0;
  /** While it is pending: how many nodes may still select it. */
  routers = 0;
  attempt = 0;
  output: Value;
  command: OwedCommand | undefined;
  /** Of a container that runs, or whose parts are still read. */
  container: ContainerRecord | undefined;
  /** Change only with `set`: most nodes share one object. */
  details: Readonly<NodeDetails> = PLAIN_NODE;

  constructor(key: string, planned: PlannedNode, scope: ScopeRecord) {
    this.key = key;
    this.planned = planned;
    this.scope = scope;
  }

  get table(): 'nodes' {
    return 'nodes';
  }

  set<K extends keyof NodeDetails>(name: K, value: NodeDetails[K]): void {
    if (value === this.details[name]) return;
    if (this.details === PLAIN_NODE) this.details = new NodeDetails();
    (this.details as NodeDetails)[name] = value;
  }

  get isSettled(): boolean {
    switch (this.status) {
      case 'pending':
      case 'ready':
      case 'running':
      case 'waiting':
        return false;
      default:
        return true;
    }
  }

  /** Whether it has started: it may still read its own resources, or wait for a slot after that. */
  get hasStarted(): boolean {
    return this.attempt > 0 || this.details.shown > 0;
  }

  hasRow(): boolean {
    if (!this.scope.isOpen) return false;
    return this.status !== 'pending' || this.details.selections !== UNSELECTED || this.details.jumps > 0;
  }

  toRow(): NodeRow {
    const { attempt, output, command, details } = this;
    const row: Draft<NodeRow> = { status: this.status };
    if (attempt !== 0) row.attempt = attempt;
    if (output !== undefined) row.output = output;
    if (command !== undefined) row.command = commandRow(command, details.input !== undefined);
    if (details === PLAIN_NODE) return row;
    addChanged(row, details, PLAIN_NODE);
    if (details.selections !== UNSELECTED) row.selections = details.selections.map(selectionRow);
    return row;
  }

  /** Resets the record for a `goto`, except for its jumps and these selections. */
  startOver(selections: readonly Selection[]): void {
    const { jumps } = this.details;
    this.status = 'pending';
    this.attempt = 0;
    this.output = undefined;
    this.details = PLAIN_NODE;
    this.set('jumps', jumps);
    this.select(selections);
  }

  select(selections: readonly Selection[]): void {
    this.set('selections', selections.length === 0 ? UNSELECTED : selections);
  }
}

function selectionRow({ by, why }: Selection) {
  return { by: by.key, why };
}

function commandRow(command: OwedCommand, hasInputElsewhere: boolean): CommandRow {
  if (command.kind !== 'callTool') {
    const { node: _node, ...row } = command;
    return row;
  }
  const { kind, id, seq, dueAt, generation, input } = command;
  const row: Draft<Extract<CommandRow, { kind: 'callTool' }>> = { kind, id, seq, dueAt };
  if (generation !== 1) row.generation = generation;
  if (!hasInputElsewhere) row.input = input;
  return row;
}

export class ContainerRecord implements Tracked<'containers'> {
  readonly key: string;
  isDirty = false;
  isStored = false;
  readonly first: number;
  next: number;
  readonly end: number;
  running = 0;
  stopped = false;
  aborted = false;
  interrupted = false;
  failure: Failure | undefined;
  failedPart: number | undefined;
  isPermanent = false;
  undoing = false;
  /** False once it was deleted. */
  isOpen = true;
  /** Scopes of parts that run or are still read. */
  readonly parts: (ScopeRecord | undefined)[] = [];
  /** Values of the parts. */
  readonly values: (Entry<'outputs'> | undefined)[] = [];
  /** Of a loop. */
  items: readonly Json[] | undefined;
  /** In a rehearsal, of a loop with one item for all: the value of its index. */
  anyIndex: Json | undefined;
  /** Of a `workflow` node. */
  input: JsonObject | undefined;

  constructor(key: string, first: number, end: number) {
    this.key = key;
    this.first = first;
    this.next = first;
    this.end = end;
  }

  get table(): 'containers' {
    return 'containers';
  }

  hasRow(): boolean {
    return this.isOpen;
  }

  toRow(): ContainerRow {
    const { first, next, end, running, failure, failedPart } = this;
    const row: Draft<ContainerRow> = { first, next, end, running };
    if (this.stopped) row.stopped = true;
    if (this.aborted) row.aborted = true;
    if (this.interrupted) row.interrupted = true;
    if (failure !== undefined) row.failure = failure;
    if (failedPart !== undefined) row.failedPart = failedPart;
    if (this.isPermanent) row.isPermanent = true;
    if (this.undoing) row.undoing = true;
    return row;
  }
}

/**
 * The node `id` as the nodes of a scope see it; undefined if it has not begun, or is in a loop that does not contain the
 * scope.
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

/** The enclosing scope in the same workflow. */
function scopeAround({ container, workflow }: ScopeRecord): ScopeRecord | undefined {
  return container === workflow.node ? undefined : container?.scope;
}

/** The containers around a node that roll back, the innermost first: `parallel` nodes, and workflows that undo on failure. */
export function rollbacksAround({ scope }: NodeRecord): NodeRecord[] {
  const around: NodeRecord[] = [];
  for (let each = scope; each.container !== undefined; each = each.container.scope) {
    if (rollsBack(each.container.planned.node) || undoesOnFailure(each)) around.push(each.container);
  }
  return around;
}

/** Whether a scope is the top of a workflow that undoes on failure. */
export function undoesOnFailure({ plan, workflow }: ScopeRecord): boolean {
  return plan.container === undefined && workflow.plan.graph.onFailure === 'undo';
}

/** Whether a container around a node rolls back, or the run does. */
export function isInRollback({ planned, scope }: NodeRecord): boolean {
  const { node, plan } = scope.workflow;
  const isOwn = planned.rolledBackBy.length > 0 || plan.graph.onFailure === 'undo';
  return isOwn || (node !== undefined && isInRollback(node));
}
