import type { Json, JsonObject, Value } from '../../graph/json.js';
import { nodeKey } from '../../plan/node-key.js';
import type { PlannedNode, ScopePlan, WorkflowPlan } from '../../plan/plan.js';
import type { Failure, NodeStatus, OwedCommand, SkipReason } from './contract.js';
import type {
  CommandRow,
  ContainerRow,
  NodeRow,
  ScopeRow,
  SelectionReason,
  TableName,
  Tables,
} from './rows.js';

/** A row or command that is being put together, property by property: spreading objects is slow. */
export type Draft<T> = { -readonly [K in keyof T]: T[K] };

/**
 * Something of a run that has a row in a journal as long as there is something to say of it. Not a class: what several
 * classes inherit is slow to set up, and there is one of these for each step.
 */
export interface Tracked<T extends TableName = TableName> {
  readonly table: T;
  readonly key: string;
  /** It may have changed in the present transition. */
  isDirty: boolean;
  /** It had a row after the latest transition that changed it. */
  isStored: boolean;
  /** Whether it has a row now. */
  hasRow(): boolean;
  /** Its row: plain JSON that shares nothing that changes with the record. */
  toRow(): Tables[T];
}

/** A row that is replaced as a whole. */
export class Entry<T extends TableName> implements Tracked<T> {
  readonly table: T;
  readonly key: string;
  isDirty = false;
  isStored = false;
  value: Tables[T] | undefined;

  constructor(table: T, key: string, value: Tables[T] | undefined) {
    this.table = table;
    this.key = key;
    this.value = value;
  }

  hasRow(): boolean {
    return this.value !== undefined;
  }

  toRow(): Tables[T] {
    return this.value as Tables[T];
  }
}

/** A workflow of the run: the one it was started on, or one that a `workflow` node runs. */
export interface WorkflowRecord {
  readonly plan: WorkflowPlan;
  /** What the keys of its nodes start with. */
  readonly prefix: string;
  /** How many workflows stand inside each other here, this one included. */
  readonly depth: number;
  /** The node that runs it. */
  readonly node?: NodeRecord;
}

/** Key of the scope at the top of a run. */
export const ROOT = '/';

/** What only scopes have that are stopped, fail, return, or begin again. */
class ScopeDetails {
  restarts = 0;
  attempts: string | undefined;
  endedBy: string | undefined;
  value: Value;
  stopped = false;
  cut = false;
  failure: Failure | undefined;
  failedNode: NodeRecord | undefined;
  final = false;
  failures = 0;
}

/** What most scopes have. Never changed. */
const PLAIN_SCOPE: Readonly<ScopeDetails> = Object.freeze(new ScopeDetails());

/** A list of nodes that runs, with the items of the loops around it. There is one for each item that runs. */
export class ScopeRecord implements Tracked<'scopes'> {
  readonly key: string;
  isDirty = false;
  isStored = false;
  readonly plan: ScopePlan;
  readonly workflow: WorkflowRecord;
  /** Of the loops around it in its workflow, the outermost first. */
  readonly indices: readonly number[];
  /** The node it is a part of, and which one. */
  readonly container: NodeRecord | undefined;
  readonly part: number;
  /** Its nodes by their place, as far as they are no longer as they were in the beginning, or were looked at. */
  readonly nodes: (NodeRecord | undefined)[];
  /** It was not deleted. */
  isOpen = true;
  /** How many of its nodes have not settled. */
  open: number;
  #details: Readonly<ScopeDetails> = PLAIN_SCOPE;
  #order: readonly number[] | undefined;

  constructor(
    key: string,
    plan: ScopePlan,
    workflow: WorkflowRecord,
    indices: readonly number[],
    container?: NodeRecord,
    part = 0,
  ) {
    this.key = key;
    this.plan = plan;
    this.workflow = workflow;
    this.indices = indices;
    this.container = container;
    this.part = part;
    this.open = plan.nodes.length;
    // An array that grows leaves room for more than most bodies have.
    this.nodes = new Array<NodeRecord | undefined>(plan.nodes.length);
  }

  get table(): 'scopes' {
    return 'scopes';
  }

  /** How often the containers around it were started over by a `goto`, together. */
  get restarts(): number {
    return this.#details.restarts;
  }

  set restarts(restarts: number) {
    if (restarts !== this.#details.restarts) this.#own().restarts = restarts;
  }

  /** See `ScopeRow`. */
  get attempts(): string | undefined {
    return this.#details.attempts;
  }

  set attempts(attempts: string | undefined) {
    if (attempts !== this.#details.attempts) this.#own().attempts = attempts;
  }

  /** Key of the node after which nothing new starts here. */
  get endedBy(): string | undefined {
    return this.#details.endedBy;
  }

  set endedBy(endedBy: string | undefined) {
    this.#own().endedBy = endedBy;
  }

  /** Of the `return` that ended it. */
  get value(): Value {
    return this.#details.value;
  }

  set value(value: Value) {
    this.#own().value = value;
  }

  /** Nothing new starts because of something outside. */
  get stopped(): boolean {
    return this.#details.stopped;
  }

  set stopped(stopped: boolean) {
    this.#own().stopped = stopped;
  }

  /** Because it was stopped, a node was left out or cancelled. */
  get cut(): boolean {
    return this.#details.cut;
  }

  set cut(cut: boolean) {
    this.#own().cut = cut;
  }

  /** The failure it fails with, known while calls in flight settle. */
  get failure(): Failure | undefined {
    return this.#details.failure;
  }

  set failure(failure: Failure | undefined) {
    this.#own().failure = failure;
  }

  /** The node of this scope the failure comes from. */
  get failedNode(): NodeRecord | undefined {
    return this.#details.failedNode;
  }

  set failedNode(failedNode: NodeRecord | undefined) {
    this.#own().failedNode = failedNode;
  }

  /** No retry around it can change the failure. */
  get final(): boolean {
    return this.#details.final;
  }

  set final(final: boolean) {
    this.#own().final = final;
  }

  /** How many failures there were here. */
  get failures(): number {
    return this.#details.failures;
  }

  set failures(failures: number) {
    this.#own().failures = failures;
  }

  #own(): ScopeDetails {
    if (this.#details === PLAIN_SCOPE) this.#details = new ScopeDetails();
    return this.#details;
  }

  /** Its place in declaration order: of each node around it the index, and which part of it comes next. */
  get order(): readonly number[] {
    this.#order ??= orderOf(this);
    return this.#order;
  }

  /** A node of this scope. */
  node(planned: PlannedNode): NodeRecord {
    return this.nodes[planned.index] ?? this.#begin(planned);
  }

  #begin(planned: PlannedNode): NodeRecord {
    const key = this.container === undefined ? planned.node.id : this.keyOf(planned);
    const made = new NodeRecord(key, planned, this);
    this.nodes[planned.index] = made;
    recount(made);
    return made;
  }

  keyOf({ node }: PlannedNode): string {
    return nodeKey(this.workflow.prefix, node.id, this.indices);
  }

  hasRow(): boolean {
    if (!this.isOpen) return false;
    return this.container !== undefined || this.endedBy !== undefined || this.stopped || this.failures > 0;
  }

  toRow(): ScopeRow {
    const { restarts, attempts, endedBy, value, stopped, cut, failure, failedNode, final, failures } =
      this.#details;
    const row: Draft<ScopeRow> = {};
    if (restarts !== 0) row.restarts = restarts;
    if (attempts !== undefined) row.attempts = attempts;
    if (endedBy !== undefined) row.endedBy = endedBy;
    if (value !== undefined) row.value = value;
    if (stopped) row.stopped = true;
    if (cut) row.cut = true;
    if (failure !== undefined) row.failure = failure;
    if (failedNode !== undefined) row.failedNode = failedNode.key;
    if (final) row.final = true;
    if (failures !== 0) row.failures = failures;
    return row;
  }
}

function orderOf({ container, part }: ScopeRecord): readonly number[] {
  return container === undefined ? [] : [...container.scope.order, container.planned.index, part];
}

/** Counts what a pending node still waits for. */
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

/** Who selected a node. */
export interface Selection {
  readonly by: NodeRecord;
  readonly why: SelectionReason;
}

const NOBODY: readonly Selection[] = [];

/** What only nodes have that do more than start once and succeed. */
class NodeDetails {
  reason: SkipReason | undefined;
  selections: readonly Selection[] = NOBODY;
  jumps = 0;
  input: JsonObject | undefined;
  failure: Failure | undefined;
  failedAs = 0;
  final = false;
  reached: number | undefined;
  queued = 0;
}

/** What most nodes have. Never changed. */
const PLAIN: Readonly<NodeDetails> = Object.freeze(new NodeDetails());

/**
 * One node of the run, with the items of the loops around it. There is one for each step that has begun, and it stays
 * until its scope is over: it must be small.
 */
export class NodeRecord implements Tracked<'nodes'> {
  readonly key: string;
  isDirty = false;
  isStored = false;
  readonly planned: PlannedNode;
  readonly scope: ScopeRecord;
  status: NodeStatus = 'pending';
  /** Dependencies that have not settled yet, while it is pending. */
  waitingFor = 0;
  /** Nodes that have not settled and may still select this one, while it is pending. */
  routers = 0;
  attempt = 0;
  output: Value;
  command: OwedCommand | undefined;
  /** While it runs, or where its parts are still looked at: its account of them. */
  container: ContainerRecord | undefined;
  #details: Readonly<NodeDetails> = PLAIN;

  constructor(key: string, planned: PlannedNode, scope: ScopeRecord) {
    this.key = key;
    this.planned = planned;
    this.scope = scope;
  }

  get table(): 'nodes' {
    return 'nodes';
  }

  /** Why it was skipped. */
  get reason(): SkipReason | undefined {
    return this.#details.reason;
  }

  set reason(reason: SkipReason | undefined) {
    this.#own().reason = reason;
  }

  /** Who selected it, the first one first. */
  get selections(): readonly Selection[] {
    return this.#details.selections;
  }

  set selections(selections: readonly Selection[]) {
    this.#own().selections = selections;
  }

  get jumps(): number {
    return this.#details.jumps;
  }

  set jumps(jumps: number) {
    this.#own().jumps = jumps;
  }

  /** What its call sends, kept for its next attempt. */
  get input(): JsonObject | undefined {
    return this.#details.input;
  }

  set input(input: JsonObject | undefined) {
    if (input !== this.#details.input) this.#own().input = input;
  }

  get failure(): Failure | undefined {
    return this.#details.failure;
  }

  set failure(failure: Failure | undefined) {
    if (failure !== this.#details.failure) this.#own().failure = failure;
  }

  get failedAs(): number {
    return this.#details.failedAs;
  }

  set failedAs(failedAs: number) {
    this.#own().failedAs = failedAs;
  }

  get final(): boolean {
    return this.#details.final;
  }

  set final(final: boolean) {
    this.#own().final = final;
  }

  get reached(): number | undefined {
    return this.#details.reached;
  }

  set reached(reached: number | undefined) {
    this.#own().reached = reached;
  }

  /** Its place in the order of those that wait for a slot; 0 where it does not. */
  get queued(): number {
    return this.#details.queued;
  }

  set queued(queued: number) {
    this.#own().queued = queued;
  }

  #own(): NodeDetails {
    if (this.#details === PLAIN) this.#details = new NodeDetails();
    return this.#details;
  }

  /** Whether it has come to its end. */
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

  hasRow(): boolean {
    if (!this.scope.isOpen) return false;
    return this.status !== 'pending' || this.selections.length > 0 || this.jumps > 0;
  }

  toRow(): NodeRow {
    const { attempt, output, command } = this;
    const { reason, selections, jumps, input, failure, failedAs, final, reached, queued } = this.#details;
    const row: Draft<NodeRow> = { status: this.status };
    if (reason !== undefined) row.reason = reason;
    if (selections.length > 0) row.selections = selections.map(selectionRow);
    if (attempt !== 0) row.attempt = attempt;
    if (jumps !== 0) row.jumps = jumps;
    if (input !== undefined) row.input = input;
    if (output !== undefined) row.output = output;
    if (failure !== undefined) row.failure = failure;
    if (failedAs !== 0) row.failedAs = failedAs;
    if (final) row.final = true;
    if (reached !== undefined) row.reached = reached;
    if (queued !== 0) row.queued = queued;
    if (command !== undefined) row.command = commandRow(command, input !== undefined);
    return row;
  }

  /** As it was when its scope began, but for how often it has jumped and who selected it. */
  startOver(selections: readonly Selection[]): void {
    const { jumps } = this;
    this.status = 'pending';
    this.attempt = 0;
    this.output = undefined;
    this.#details = PLAIN;
    if (jumps > 0) this.jumps = jumps;
    if (selections.length > 0) this.selections = selections;
  }
}

function selectionRow({ by, why }: Selection) {
  return { by: by.key, why };
}

/** An owed command as the row of its node has it: see `NodeRow.command`. */
function commandRow(command: OwedCommand, isInputKept: boolean): CommandRow {
  if (command.kind !== 'callTool') {
    const { node: _node, ...row } = command;
    return row;
  }
  const { kind, id, seq, dueAt, generation, input } = command;
  const row: Draft<Extract<CommandRow, { kind: 'callTool' }>> = { kind, id, seq, dueAt };
  if (generation !== 1) row.generation = generation;
  if (!isInputKept) row.input = input;
  return row;
}

/** The account that a node with scopes of its own keeps of them, in one attempt. */
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
  cut = false;
  failure: Failure | undefined;
  failedPart: number | undefined;
  final = false;
  undoing = false;
  /** It was not deleted. */
  isOpen = true;
  /** Its parts that run, or are still looked at. */
  readonly parts: (ScopeRecord | undefined)[] = [];
  /** What its parts gave. */
  readonly values: (Entry<'outputs'> | undefined)[] = [];
  /** Of a loop. */
  items: readonly Json[] | undefined;
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
    if (this.cut) row.cut = true;
    if (failure !== undefined) row.failure = failure;
    if (failedPart !== undefined) row.failedPart = failedPart;
    if (this.final) row.final = true;
    if (this.undoing) row.undoing = true;
    return row;
  }
}
