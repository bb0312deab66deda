import { canonicalGraph, canonicalJson } from '../../../graph/canonical.js';
import { defined } from '../../../graph/defined.js';
import type { Json } from '../../../graph/json.js';
import { isFailFast } from '../../../graph/limits.js';
import type { Graph, StateField } from '../../../graph/model.js';
import { bodiesOf, nodesOf, withBodies } from '../../../graph/nodes.js';
import { nodeKey, parseNodeKey } from '../../../plan/instances.js';
import {
  type Plan,
  type PlannedNode,
  rollsBack,
  type ScopePlan,
  type WorkflowPlan,
} from '../../../plan/plan.js';
import { isUndoing } from '../fork.js';
import { commandsOf } from '../read.js';
import type { ContainerRecord, NodeRecord, ScopeRecord } from '../records.js';
import type { RunState } from '../state.js';
import {
  lateStarts,
  type Mapping,
  mappingFaults,
  migrateRows,
  renamedRun,
  startsIn,
} from './migrate-rows.js';

/**
 * Compares the graph of a run with another one, by the run's state: whether the run can go on with the other graph as if it
 * had been started on it. Nodes that have not started may differ in any way; all others must be the same, and wait for the
 * same nodes.
 *
 * @param state of a run of `from`. It is not changed.
 */
export function compare(from: Plan, to: Plan, state: RunState): Verdict {
  const reasons = [...runObstacles(state), ...graphObstacles(from.graph, to)];
  if (reasons.length > 0) return { kind: 'stays', reasons };
  const walk = new Walk(from, to, state);
  walk.scope(state.root, to.main.root);
  const { missing } = walk;
  if (missing.size > 0) {
    const mapping = mappingFor(missing, to, state);
    if (mapping !== undefined) return { kind: 'needsMapping', mapping };
    for (const node of missing.keys()) walk.reasons.push({ node, reason: 'removed' });
  }
  if (walk.reasons.length > 0) return { kind: 'stays', reasons: walk.reasons };
  const rows = migrateRows(state, to, { at: 0, tools: {} });
  const late = lateStarts(to, rows, walk.touched);
  if (late.length > 0)
    return { kind: 'stays', reasons: late.map((node): MigrationReason => ({ node, reason: 'too_late' })) };
  return { kind: 'safe', starts: startsIn(rows) };
}

/** The most mappings that are tried. */
const MOST_MAPPINGS = 64;

/** New ids for nodes that are missing, with which the run could move. */
function mappingFor(missing: Walk['missing'], to: Plan, state: RunState): Mapping | undefined {
  let mappings: Mapping[] = [new Map()];
  for (const [key, candidates] of missing) {
    const id = parseNodeKey(key).at(-1)?.id ?? key;
    mappings = mappings
      .flatMap((mapping) =>
        mapping.has(id) ? [mapping] : candidates.map((target) => new Map([...mapping, [id, target]])),
      )
      .slice(0, MOST_MAPPINGS);
  }
  return mappings.find((mapping) => {
    if (mapping.size === 0 || mappingFaults(state, to, mapping).length > 0) return false;
    const renamed = renamedRun(state, mapping);
    return compare(renamed.plan, to, renamed).kind === 'safe';
  });
}

/** What keeps a run where it is, whatever the other graph. */
function runObstacles(state: RunState): MigrationReason[] {
  const { status, cancelling, remainingWork } = state.run;
  if (status !== 'running' && status !== 'paused') return [{ reason: 'over' }];
  const reasons: MigrationReason[] = [];
  if (cancelling !== undefined || isUndoing(state)) reasons.push({ reason: 'undoing' });
  if (remainingWork !== undefined) reasons.push({ reason: 'unfinished' });
  for (const command of commandsOf(state)) {
    const { kind, node } = command;
    if (kind === 'callTool' || kind === 'readResource' || kind === 'evaluate')
      reasons.push({ node, reason: 'call_in_flight' });
  }
  const unknown = new Set<string>();
  for (const [, { step }] of state.tables.existing('unknown')?.rows() ?? []) unknown.add(step);
  for (const [, { node }] of state.tables.existing('abandoned')?.rows() ?? []) unknown.add(node);
  for (const node of unknown) reasons.push({ node, reason: 'unknown_outcome' });
  return reasons;
}

/** What keeps a run from another graph as a whole. */
function graphObstacles(from: Graph, { graph: to, fault }: Plan): MigrationReason[] {
  if (fault !== undefined || from.name !== to.name) return [{ reason: 'graph' }];
  const reasons = headerObstacles(from, to).map((reason): MigrationReason => ({ reason }));
  // Steps that failed before would have waited, or the other way round.
  if (from.task !== to.task) reasons.push({ reason: 'option' });
  // How others find the questions of a run is written when it starts.
  if (!asksOthers(from) && asksOthers(to)) reasons.push({ reason: 'answerers' });
  return reasons;
}

function asksOthers({ nodes, tasks = [] }: Graph): boolean {
  return [{ nodes }, ...tasks]
    .flatMap(nodesOf)
    .some((node) => node.kind === 'ask' && (node.answerBy ?? node.escalateTo) !== undefined);
}

function headerObstacles(from: Graph, to: Graph): Obstacle[] {
  const reasons: Obstacle[] = [];
  if (inputsOf(from) !== inputsOf(to)) reasons.push('inputs');
  if (!keepsState(from, to)) reasons.push('state');
  const options = (graph: Graph): string =>
    canonicalJson([
      ...[(graph.errorStrategy ?? null) as Json, graph.maxConcurrency ?? null, isFailFast(graph)],
      graph.onFailure ?? null,
    ]);
  if (options(from) !== options(to)) reasons.push('option');
  return reasons;
}

/** What a caller supplies, without what describes it. */
function inputsOf({ inputs }: Graph): string {
  return canonicalJson(
    inputs.map(({ name, schema, required, default: defaultValue, secret = false }) => [
      ...[name, schema, required, secret],
      ...(defaultValue === undefined ? [] : [defaultValue]),
    ]),
  );
}

function keepsState({ state: before = [] }: Graph, { state: after = [] }: Graph): boolean {
  const textOf = ({ initial, scope }: StateField): string =>
    canonicalJson({ scope, ...defined({ initial }) });
  const fields = new Map(after.map((field) => [field.name, textOf(field)]));
  return before.every((field) => fields.get(field.name) === textOf(field));
}

/** Whether the other graph reads a failure of a node, or of one inside it, that this run has not kept. */
function lacksError(node: NodeRecord, other: PlannedNode): boolean {
  const { planned, isSettled, status, container } = node;
  if (isSettled && !planned.readsError && other.readsError) {
    if (status === 'failed' || (status === 'succeeded' && planned.node.onError !== undefined)) return true;
  }
  // Only a workflow itself reads how its nodes settled.
  if (planned.node.kind === 'workflow') return false;
  return container?.parts.some((part) => lacksErrorIn(part, other.scope.workflow)) === true;
}

function lacksErrorIn(scope: ScopeRecord | undefined, { byId }: WorkflowPlan): boolean {
  return (scope?.nodes ?? []).some((node) => {
    if (node === undefined) return false;
    const other = byId.get(node.planned.node.id);
    return other !== undefined && lacksError(node, other);
  });
}

/** Looks at all nodes of a run that have started. */
class Walk {
  readonly reasons: MigrationReason[] = [];
  /** Keys of nodes that have started and are not there, with new ids that they may have. */
  readonly missing = new Map<string, readonly string[]>();
  /** Keys of nodes that have started, settled, or were selected. */
  readonly touched = new Set<string>();
  readonly #to: Plan;
  readonly #state: RunState;
  readonly #nodes: NodeComparison;

  constructor(from: Plan, to: Plan, state: RunState) {
    this.#to = to;
    this.#state = state;
    this.#nodes = new NodeComparison(from, to);
  }

  scope(scope: ScopeRecord, to: ScopePlan): void {
    const byId = new Map(to.nodes.map((planned) => [planned.node.id, planned]));
    for (const planned of scope.plan.nodes) {
      const key = scope.keyOf(planned);
      const node = scope.nodes[planned.index];
      const ranBefore = (this.#state.tables.existing('generations')?.get(key)?.restarts ?? 0) > 0;
      if (!ranBefore && node?.hasRow() !== true) continue;
      this.touched.add(key);
      const other = byId.get(planned.node.id);
      if (other === undefined) this.#missing(scope, planned, to);
      else if (ranBefore) this.#ranBefore(key, planned, other);
      else if (node !== undefined) this.#node(node, other);
    }
    this.#ended(scope, to);
  }

  #add(node: string, reason: Obstacle): void {
    this.reasons.push({ node, reason });
  }

  #missing(scope: ScopeRecord, planned: PlannedNode, to: ScopePlan): void {
    const key = scope.keyOf(planned);
    const { byId } = to.workflow;
    if (byId.has(planned.node.id)) {
      this.#add(key, 'moved');
      return;
    }
    const oldNodes = scope.workflow.plan.byId;
    const candidates = to.nodes
      .filter(({ node: { id, kind } }) => kind === planned.node.kind && !oldNodes.has(id))
      .map(({ node }) => node.id);
    this.missing.set(key, candidates);
  }

  /** A node that a `goto` started over has run, whatever its state is now. */
  #ranBefore(key: string, one: PlannedNode, other: PlannedNode): void {
    if (!this.#nodes.isSame(one, other)) this.#add(key, 'ran_before');
    else if (!hasSameEdges(one, other)) this.#add(key, 'edges');
  }

  #node(node: NodeRecord, other: PlannedNode): void {
    const { key, planned, container } = node;
    if (node.status === 'pending' && !isJumping(node)) {
      // It was selected, and has not started.
      if (!isSelectedAlike(planned, other)) this.#add(key, 'edges');
      return;
    }
    if (container === undefined || node.isSettled || node.attempt > 1) {
      const isRepeated = node.attempt > 1 && !node.isSettled;
      if (!this.#nodes.isSame(planned, other) || lacksError(node, other))
        this.#add(key, isRepeated ? 'ran_before' : 'changed');
      else if (!hasSameEdges(planned, other)) this.#add(key, 'edges');
      else this.#touchInside(container);
      return;
    }
    if (!this.#nodes.hasSameHeader(planned, other)) this.#add(key, 'changed');
    else if (!hasSameEdges(planned, other)) this.#add(key, 'edges');
    else this.#parts(node, container, other);
  }

  #parts(node: NodeRecord, container: ContainerRecord, other: PlannedNode): void {
    const { kind } = node.planned.node;
    for (let part = container.first; part < container.next; part += 1) {
      const scope = container.parts[part];
      // The values of a part that has ended may still be read.
      const hasEnded = scope === undefined || scope.open === 0;
      if (kind === 'workflow') this.#task(node, scope);
      else if (hasEnded) {
        const isSame = this.#nodes.hasSameBody(node.planned, other, part);
        if (!isSame || lacksErrorIn(scope, other.scope.workflow)) this.#add(node.key, 'changed');
      } else {
        const body = other.parts[kind === 'foreach' ? 0 : part];
        if (body !== undefined) this.scope(scope, body);
      }
    }
  }

  #task({ key, planned: { node } }: NodeRecord, scope: ScopeRecord | undefined): void {
    const name = node.kind === 'workflow' ? node.workflow : '';
    const to: WorkflowPlan | undefined = this.#to.tasks.get(name);
    if (to === undefined || (scope === undefined && !this.#nodes.hasSameTask(name)))
      this.#add(key, 'changed');
    else if (scope !== undefined) {
      for (const reason of headerObstacles(scope.workflow.plan.graph, to.graph)) this.#add(key, reason);
      this.scope(scope, to.root);
    }
  }

  #touchInside(container: ContainerRecord | undefined): void {
    for (const scope of container?.parts ?? []) {
      for (const node of scope?.nodes ?? []) {
        if (node === undefined) continue;
        this.touched.add(node.key);
        this.#touchInside(node.container);
      }
    }
  }

  /** Nothing starts in a scope that has ended: all its nodes are known. */
  #ended({ plan, details, workflow, indices }: ScopeRecord, to: ScopePlan): void {
    const { endedBy, stopped, interrupted } = details;
    if (endedBy === undefined && !stopped && !interrupted) return;
    const [before, after] = [plan, to].map(({ nodes }) => new Set(nodes.map(({ node }) => node.id)));
    for (const id of after ?? [])
      if (before?.has(id) === false) this.#add(nodeKey(workflow.prefix, id, indices), 'scope_ended');
  }
}

/** Whether a `goto` has jumped: it is pending again. */
function isJumping({ details }: NodeRecord): boolean {
  return details.jumps > 0;
}

/** Why a run cannot move to another graph. */
export type Obstacle =
  /** The graph cannot run, or has another name. */
  | 'graph'
  /** The run is over. */
  | 'over'
  /** What the run did is being undone, or was to be. */
  | 'undoing'
  /** A call, a read or a function has not returned. */
  | 'call_in_flight'
  /** A call has an unknown outcome, or may still return although it was abandoned. */
  | 'unknown_outcome'
  /** A transition has not finished its work. */
  | 'unfinished'
  /** The inputs of the workflow were changed. */
  | 'inputs'
  /** A field of the state was changed or removed. */
  | 'state'
  /** An option of the whole workflow was changed. */
  | 'option'
  /** Questions are put to callers other than the owner of the run, and were not before. */
  | 'answerers'
  /** The graph has secrets, which the store would keep unencrypted. */
  | 'secrets'
  /** A node that has started was removed, or has another id. */
  | 'removed'
  /** A node that has started is in another scope. */
  | 'moved'
  /** A node that has started was changed, or something inside it that has run. */
  | 'changed'
  /** A node that has started waits for other nodes, or is selected by others. */
  | 'edges'
  /** A node that a `goto` started over, or of an earlier attempt, was changed. */
  | 'ran_before'
  /** A node is new where nothing starts any more. */
  | 'scope_ended'
  /** A new run would have started the node before others, and that could have changed them. */
  | 'too_late';

/** An obstacle at a node, by its key. */
export interface MigrationReason {
  /** Missing for the run as a whole. */
  readonly node?: string;
  readonly reason: Obstacle;
}

/** Whether a run can move to another graph. */
export type Verdict =
  /** `starts` are the keys of nodes that start at once. */
  | { readonly kind: 'safe'; readonly starts: readonly string[] }
  /** It could with these new ids of settled nodes, by the old ones. */
  | { readonly kind: 'needsMapping'; readonly mapping: ReadonlyMap<string, string> }
  | { readonly kind: 'stays'; readonly reasons: readonly MigrationReason[] };

/** Compares the nodes of two plans. Keeps what it has found of each graph that they run. */
class NodeComparison {
  readonly #from: Plan;
  readonly #to: Plan;
  readonly #tasks = new Map<string, boolean>();

  constructor(from: Plan, to: Plan) {
    this.#from = from;
    this.#to = to;
  }

  /** Whether two nodes are the same but for what is inside their bodies. */
  hasSameHeader(one: PlannedNode, other: PlannedNode): boolean {
    return header(one) === header(other);
  }

  /** Whether two nodes and everything that they run are the same. */
  isSame(one: PlannedNode, other: PlannedNode): boolean {
    if (canonicalGraph(one.node) !== canonicalGraph(other.node)) return false;
    return nodesOf({ nodes: [one.node] }).every(
      (node) => node.kind !== 'workflow' || this.hasSameTask(node.workflow),
    );
  }

  /** Whether a body and everything that it runs are the same. */
  hasSameBody(one: PlannedNode, other: PlannedNode, part: number): boolean {
    const [a, b] = [one, other].map(({ node }) => bodiesOf(node)[node.kind === 'foreach' ? 0 : part]);
    if (a === undefined || b === undefined) return a === b;
    const wrap = ({ scope }: typeof a): Graph =>
      ({ nodes: scope.nodes, value: scope.value }) as unknown as Graph;
    if (canonicalGraph(wrap(a)) !== canonicalGraph(wrap(b))) return false;
    return nodesOf(a.scope).every((node) => node.kind !== 'workflow' || this.hasSameTask(node.workflow));
  }

  /** Whether a workflow that nodes run is the same, with all that it runs. */
  hasSameTask(name: string): boolean {
    const cached = this.#tasks.get(name);
    if (cached !== undefined) return cached;
    // A workflow may run itself.
    this.#tasks.set(name, true);
    const [one, other] = [this.#from, this.#to].map(({ tasks }) => tasks.get(name)?.graph);
    const isSame =
      one !== undefined &&
      other !== undefined &&
      canonicalGraph(one) === canonicalGraph(other) &&
      nodesOf(one).every((node) => node.kind !== 'workflow' || this.hasSameTask(node.workflow));
    this.#tasks.set(name, isSame);
    return isSame;
  }
}

/** Whether two nodes wait for the same nodes, and are selected by the same. */
function hasSameEdges(one: PlannedNode, other: PlannedNode): boolean {
  return (
    isSelectedAlike(one, other) &&
    (['after', 'sources', 'orders', 'joins', 'needs', 'slice'] as const).every((edge) =>
      isSameList(one[edge], other[edge]),
    ) &&
    one.compensations.every(({ refersTo }, index) =>
      isSameList(refersTo, other.compensations[index]?.refersTo ?? []),
    ) &&
    (!rollsBack(one.node) ||
      (one.isRepeatable === other.isRepeatable && one.mayStartOver === other.mayStartOver))
  );
}

/** Whether two nodes are selected by the same nodes. */
function isSelectedAlike(one: PlannedNode, other: PlannedNode): boolean {
  return (
    one.needsSelection === other.needsSelection &&
    isSameList(one.selectors, other.selectors) &&
    isSameList(one.routers, other.routers)
  );
}

type Nodes = readonly (PlannedNode | undefined)[];

function isSameList(one: Nodes, other: Nodes): boolean {
  const ids = (nodes: Nodes): string => JSON.stringify(nodes.map((each) => each?.node.id ?? null).sort());
  return one.length === other.length && ids(one) === ids(other);
}

function header({ node }: PlannedNode): string {
  return canonicalGraph(withBodies(node, () => ({ nodes: [] })));
}
