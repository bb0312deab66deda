import { references } from '../graph/expression/traversal.js';
import type { Expr } from '../graph/expression/tree.js';
import type { Node } from '../graph/kinds/node.js';
import type { GotoNode } from '../graph/model.js';
import { compensationsOf, sideExpressions, valueExpressions } from '../graph/nodes.js';
import { isRepeated, type MutableNode, type MutableScope, type MutableWorkflow, NO_NODES } from './nodes.js';
import { type PlanFault, type PlannedNode, planFailures } from './plan.js';
import { visibilityOf } from './visibility.js';

/** Lists up to this length are searched for duplicates; longer ones are deduplicated at the end. */
const SCAN_LIMIT = 8;

/** How a reference counts: in the join, or only in the order. The input of a compensation may name its own node. */
type ReferenceUse = 'join' | 'order' | 'undo';

/**
 * Adds the edges of each node: `after`, and each node of its scope that it or its content refers to. Only `after` and the
 * unguarded references of values to other values count in the join. [G10]
 */
export function addEdges(workflow: MutableWorkflow, faults: PlanFault[]): void {
  addEdgesIn(workflow.root, faults);
  const lists = new DistinctLists(workflow.nodes.length);
  for (const planned of workflow.nodes) {
    const { after, orders, joins, sources } = planned;
    planned.after = lists.distinct(after, NO_NODES);
    planned.orders = orders === after ? planned.after : lists.distinct(orders, planned.after);
    planned.joins = joins === after ? planned.after : lists.distinct(joins, planned.orders);
    planned.sources = sources === after ? planned.after : lists.distinct(sources, planned.orders);
    if (collects(workflow))
      planned.needs = lists.distinct([...planned.needs, ...conditionSources(planned)], NO_NODES);
  }
}

function collects({ graph }: MutableWorkflow): boolean {
  return graph.errorStrategy?.kind === 'collect';
}

/** Removes duplicates from lists of nodes. */
class DistinctLists {
  /** By ordinal: the number of the last list that held the node. */
  readonly #seenIn: Int32Array;
  #count = 0;

  constructor(nodes: number) {
    this.#seenIn = new Int32Array(nodes);
  }

  /** The list without duplicates, in its order; `existing` if that has the same nodes. */
  distinct(list: readonly MutableNode[], existing: readonly MutableNode[]): readonly MutableNode[] {
    if (list.length === 0) return NO_NODES;
    const once = list.length === 1 ? list : this.#once(list);
    const isSame = once.length === existing.length && once.every((each, index) => each === existing[index]);
    return isSame ? existing : once;
  }

  #once(list: readonly MutableNode[]): readonly MutableNode[] {
    this.#count += 1;
    const count = this.#count;
    return list.filter(({ ordinal }) => {
      if (this.#seenIn[ordinal] === count) return false;
      this.#seenIn[ordinal] = count;
      return true;
    });
  }
}

function addEdgesIn(scope: MutableScope, faults: PlanFault[]): void {
  for (const planned of scope.nodes) {
    const { node } = planned;
    addAfter(planned, faults);
    for (const expr of valueExpressions(node)) addReferences(planned, scope, expr, 'join', faults);
    for (const expr of sideExpressions(node)) addReferences(planned, scope, expr, 'order', faults);
    for (const { input } of compensationsOf(node)) addReferences(planned, scope, input, 'undo', faults);
    for (const part of planned.parts) addEdgesIn(part, faults);
  }
  // The value of the whole workflow is read when everything in it has settled.
  if (scope.container !== undefined && scope.value !== undefined) {
    addReferences(undefined, scope, scope.value, 'join', faults);
  }
}

function addAfter(planned: MutableNode, faults: PlanFault[]): void {
  const { node, scope } = planned;
  if (node.after.length === 0) return;
  const targets: MutableNode[] = [];
  for (const id of node.after) {
    const target = scope.workflow.byId.get(id);
    if (target === undefined || target.scope !== scope)
      faults.push({ failure: planFailures.unknownNode(node.id, id) });
    else targets.push(target);
  }
  // Most nodes have no other edges and share one list.
  planned.after = targets;
  planned.orders = targets;
  planned.joins = targets;
  planned.sources = targets;
}

function addReferences(
  planned: MutableNode | undefined,
  scope: MutableScope,
  expr: Expr,
  use: ReferenceUse,
  faults: PlanFault[],
): void {
  for (const { ref, guarded } of references(expr)) {
    if (ref.root !== 'steps' && ref.root !== 'nodes') continue;
    const id = String(ref.path[0]);
    const target = scope.workflow.byId.get(id);
    if (target === undefined) {
      const reader = planned ?? scope.container;
      faults.push({ failure: planFailures.unknownNode(reader?.node.id ?? '', id) });
    } else if (ref.root === 'nodes') {
      // The join of a node does not affect whether its settlement can be read.
      if (ref.path[1] !== 'status') target.readsError = true;
      addReference(planned, scope, target, 'settled');
    } else if (use !== 'undo' || target !== planned) {
      addReference(planned, scope, target, use === 'join' && !guarded ? 'join' : 'order');
    }
  }
}

/**
 * Adds the edge of a reference between two nodes of one scope: the two nodes themselves or containers of them. What
 * `settled` reads of the reader itself is a fault of its own, and no cycle of dependencies.
 */
function addReference(
  planned: MutableNode | undefined,
  scope: MutableScope,
  target: MutableNode,
  how: 'join' | 'order' | 'settled',
): void {
  const visibility = visibilityOf(target, planned === undefined ? { scope } : { scope, node: planned });
  if (visibility.kind === 'inOtherArm' || visibility.user === undefined) return;
  const source = visibility.source as MutableNode;
  const user = visibility.user as MutableNode;
  if (visibility.kind === 'inLoop' && source === user) return;
  user.orders = added(user.orders, source, user);
  if (
    visibility.kind === 'visible' &&
    (how === 'settled' ? source.index < user.index : source.index <= user.index)
  )
    user.sources = added(user.sources, source, user);
  if (how !== 'join') return;
  user.joins = added(user.joins, source, user);
  if (collects(scope.workflow)) user.needs = added(user.needs, source, user);
}

/** Adds a node to a list of edges. A long list may get duplicates, which `addEdges` removes. */
function added(list: readonly MutableNode[], source: MutableNode, user: MutableNode): readonly MutableNode[] {
  if (list.length <= SCAN_LIMIT && list.includes(source)) return list;
  if (list === user.after || list.length === 0) return [...list, source];
  (list as MutableNode[]).push(source);
  return list;
}

/**
 * The nodes that must succeed before a condition is evaluated. For an `error` node these are all that it names: a missing
 * value must not end the run.
 */
function conditionSources({ node, scope }: MutableNode): MutableNode[] {
  const { when, kind } = node;
  if (when === undefined) return [];
  return references(when).flatMap(({ ref, guarded }) => {
    if (ref.root !== 'steps' || (guarded && kind !== 'error')) return [];
    const target = scope.workflow.byId.get(String(ref.path[0]));
    return target === undefined ? [] : (ancestorIn(scope, target) ?? []);
  });
}

/** The node of `scope` that is `target` or contains it. */
function ancestorIn(scope: MutableScope, target: MutableNode): MutableNode | undefined {
  let holder: MutableNode | undefined = target;
  while (holder !== undefined && holder.scope !== scope) holder = holder.scope.container;
  return holder;
}

/** Ids of the nodes that never start because they wait for each other, in order or in selection. */
export function deadlockedNodes(nodes: readonly MutableNode[]): string[] {
  // Without an edge from a later declaration there is no cycle.
  if (
    nodes.every(
      (planned) => isDeclaredAfter(planned, planned.orders) && isDeclaredAfter(planned, planned.routers),
    )
  )
    return [];
  const waits = new Map<PlannedNode, Set<PlannedNode>>(
    nodes.map((planned) => [planned, new Set([...planned.orders, ...planned.routers])]),
  );
  dropUnblocked(waits);
  return nodes.filter((planned) => waits.has(planned)).map(({ node: { id } }) => id);
}

function isDeclaredAfter({ index }: MutableNode, others: readonly MutableNode[]): boolean {
  return others.every((other) => other.index < index);
}

/**
 * Finds disjoint cycles, each in the order of waiting from the node that is declared first.
 *
 * @param waits what each node waits for, in declaration order.
 */
export function cyclesIn(waits: ReadonlyMap<PlannedNode, Iterable<PlannedNode>>): PlannedNode[][] {
  const remaining = new Map([...waits].map(([node, targets]) => [node, new Set(targets)]));
  const cycles: PlannedNode[][] = [];
  for (dropUnblocked(remaining); remaining.size > 0; dropUnblocked(remaining)) {
    const cycle = cycleIn(remaining);
    for (const node of cycle) remaining.delete(node);
    cycles.push(cycle);
  }
  return cycles.map((cycle) => {
    const first = Math.min(...cycle.map(({ ordinal }) => ordinal));
    const start = cycle.findIndex(({ ordinal }) => ordinal === first);
    return [...cycle.slice(start), ...cycle.slice(0, start)];
  });
}

/** Removes every node that waits for no remaining node, directly or indirectly. */
function dropUnblocked(waits: Map<PlannedNode, Set<PlannedNode>>): void {
  const waiting = new Map<PlannedNode, PlannedNode[]>();
  const free: PlannedNode[] = [];
  for (const [node, targets] of waits) {
    for (const target of targets) {
      const users = waiting.get(target);
      if (!waits.has(target)) targets.delete(target);
      else if (users === undefined) waiting.set(target, [node]);
      else users.push(node);
    }
    if (targets.size === 0) free.push(node);
  }
  for (let node = free.pop(); node !== undefined; node = free.pop()) {
    waits.delete(node);
    for (const user of waiting.get(node) ?? []) {
      const targets = waits.get(user);
      targets?.delete(node);
      if (targets?.size === 0) free.push(user);
    }
  }
}

/** A cycle. Each remaining node waits for a remaining node, so a walk along the edges meets a node twice. */
function cycleIn(waits: ReadonlyMap<PlannedNode, ReadonlySet<PlannedNode>>): PlannedNode[] {
  const path: PlannedNode[] = [];
  const positions = new Map<PlannedNode, number>();
  let [node] = waits.keys();
  while (node !== undefined && !positions.has(node)) {
    positions.set(node, path.length);
    path.push(node);
    [node] = waits.get(node) ?? [];
  }
  return path.slice(node === undefined ? 0 : positions.get(node));
}

/** An edge from a node to a node of its scope that it may select. */
export interface Route {
  readonly kind: 'goto' | 'fallbackNode' | 'compensateNode';
  readonly target: string;
  /** For `goto`: the arm that selects the target. */
  readonly arm?: string;
}

/** The nodes a node may select, in declaration order. */
export function routesOf(node: Node): Route[] {
  const routes: Route[] = [];
  if (node.kind === 'branch') {
    for (const arm of [...node.cases, ...(node.else === undefined ? [] : [node.else])])
      if ('goto' in arm) routes.push({ kind: 'goto', target: arm.goto, arm: arm.id });
  }
  if (node.kind === 'parallel' && node.compensateNode !== undefined)
    routes.push({ kind: 'compensateNode', target: node.compensateNode });
  if (node.onError !== undefined && 'fallbackNode' in node.onError)
    routes.push({ kind: 'fallbackNode', target: node.onError.fallbackNode });
  return routes;
}

/**
 * Adds the routes of a node to their targets. A target without `after`, and every `compensate` node, needs selection;
 * any other target waits until the branch that names it has settled. [G1, G2]
 */
export function addRoutes(planned: MutableNode, faults: PlanFault[]): void {
  const { node, scope } = planned;
  if (node.kind === 'compensate') planned.needsSelection = true;
  if (node.kind !== 'branch' && node.kind !== 'parallel' && node.onError === undefined) return;
  for (const { target, kind } of routesOf(node)) {
    const named = scope.workflow.byId.get(target);
    if (named === undefined || named.scope !== scope || named === planned) {
      faults.push({ failure: planFailures.route(node.id, target) });
      continue;
    }
    if (kind === 'compensateNode' && named.node.kind !== 'compensate') {
      faults.push({ failure: planFailures.noCompensateNode(node.id, target) });
    }
    if (!named.selectors.includes(planned)) named.selectors = [...named.selectors, planned];
    if (named.node.kind === 'compensate' || named.node.after.length === 0) {
      named.needsSelection = true;
      named.routers = named.selectors;
    } else if (kind === 'goto') {
      named.orders = [...new Set([...named.orders, planned])];
    }
  }
}

/** Enters a question at the call that it approves, which waits for it. */
export function addApproval(planned: MutableNode, faults: PlanFault[]): void {
  const { node, scope } = planned;
  if (node.kind !== 'ask' || node.approves === undefined) return;
  const named = scope.workflow.byId.get(node.approves);
  if (named?.scope !== scope || named.node.kind !== 'call' || named.approvedBy !== undefined) {
    faults.push({ failure: planFailures.approval(node.id, node.approves) });
    return;
  }
  named.approvedBy = planned;
  if (!named.orders.includes(planned)) named.orders = [...named.orders, planned];
}

/**
 * Removes the edges from a `parallel`, and from the nodes after it, to the `compensate` node that it rolls back with: the
 * `parallel` settles after that node. None of the later nodes has run when it rolls back.
 */
export function dropRollbackEdges(nodes: readonly MutableNode[]): void {
  for (const planned of nodes) {
    const { node } = planned;
    if (node.kind !== 'parallel' || node.compensateNode === undefined) continue;
    const undoes = planned.scope.workflow.byId.get(node.compensateNode);
    if (undoes === undefined || undoes.scope !== planned.scope) continue;
    const behind = new Set<MutableNode>();
    const open: MutableNode[] = [planned];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (behind.has(next) || next === undoes) continue;
      behind.add(next);
      open.push(...next.successors, ...next.routes, ...rolledBackThrough(next));
    }
    for (const before of undoes.orders) {
      if (behind.has(before)) before.successors = before.successors.filter((each) => each !== undoes);
    }
    undoes.orders = undoes.orders.filter((before) => !behind.has(before));
    undoes.joins = undoes.joins.filter((before) => !behind.has(before));
  }
}

/** The `parallel` nodes that roll back with this node, and so wait for it. */
function rolledBackThrough(planned: MutableNode): readonly MutableNode[] {
  if (planned.node.kind !== 'compensate') return [];
  return planned.routers.filter(
    (router) => router.node.kind === 'parallel' && router.node.compensateNode === planned.node.id,
  );
}

/**
 * Adds the edges of a `goto`. It waits for the nodes from its target up to itself. Later nodes that wait for one of these
 * wait for the `goto` as well: otherwise they would run before these restart. [Q14]
 */
export function addJumps(planned: MutableNode, { id, target }: GotoNode, faults: PlanFault[]): void {
  const { scope, index } = planned;
  const from = scope.workflow.byId.get(target);
  if (from === undefined || from.scope !== scope || from.index >= index) {
    faults.push({ failure: planFailures.gotoTarget(id, target) });
    return;
  }
  const slice = scope.nodes.slice(from.index, index);
  planned.slice = slice;
  planned.orders = [...new Set([...planned.orders, ...slice])];
  const members = new Set(slice);
  for (const later of scope.nodes.slice(index + 1)) {
    const isRouted = later.routers.some((router) => members.has(router));
    // A node that was not selected must not be skipped before the last iteration.
    if (isRouted) later.routers = [...new Set([...later.routers, planned])];
    if (isRouted || later.orders.some((before) => members.has(before))) {
      later.orders = [...new Set([...later.orders, planned])];
    }
  }
}

/** Marks the nodes that may run more than once: those that jumps or retries repeat, and those of the workflows they run. */
export function markRepeatable(main: MutableWorkflow, tasks: ReadonlyMap<string, MutableWorkflow>): void {
  const workflows = [main, ...tasks.values()];
  for (const { nodes } of workflows) for (const planned of nodes) markRestartsOf(planned);
  const open = workflows.flatMap(({ nodes }) => nodes.filter(({ node }) => node.kind === 'workflow'));
  for (let caller = open.pop(); caller !== undefined; caller = open.pop()) {
    const { node, mayStartOver } = caller;
    const called = node.kind === 'workflow' ? tasks.get(node.workflow) : undefined;
    const isRepeatable = caller.isRepeatable || isRepeated(caller);
    for (const inner of called?.nodes ?? []) {
      if ((inner.isRepeatable || !isRepeatable) && (inner.mayStartOver || !mayStartOver)) continue;
      inner.isRepeatable ||= isRepeatable;
      inner.mayStartOver ||= mayStartOver;
      if (inner.node.kind === 'workflow') open.push(inner);
    }
  }
}

function markRestartsOf(planned: MutableNode): void {
  if (planned.node.kind !== 'goto') return;
  for (const each of [...planned.slice, planned]) markRestarted(each);
}

function markRestarted(planned: MutableNode): void {
  if (planned.mayStartOver) return;
  planned.mayStartOver = true;
  const mark = ({ nodes }: MutableScope): void => nodes.forEach(markRestarted);
  planned.parts.forEach(mark);
}
