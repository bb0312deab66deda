import { references } from '../graph/expression/traversal.js';
import type { Expr } from '../graph/expression/tree.js';
import { compensationsOf, sideExpressions, valueExpressions } from '../graph/nodes.js';
import { type PlanFault, planFailures } from './faults.js';
import { type MutableNode, type MutableScope, type MutableWorkflow, NO_NODES } from './nodes.js';
import type { PlannedNode, RunnableNode } from './plan.js';
import { visibilityOf } from './visibility.js';

/** Lists up to this length are searched for duplicates; longer ones are deduplicated at the end. */
const SCAN_LIMIT = 8;

/** How a reference counts: in the join, or only in the order. The input of a compensation may name its own node. */
type ReferenceUse = 'join' | 'order' | 'undo';

/**
 * Adds the edges of each node: `after`, and each node of its scope that it or its content refers to. Only `after` and the
 * unguarded references of values count in the join. [G10]
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
    if (ref.root !== 'steps') continue;
    const id = String(ref.path[0]);
    const target = scope.workflow.byId.get(id);
    if (target === undefined) {
      const reader = planned ?? scope.container;
      faults.push({ failure: planFailures.unknownNode(reader?.node.id ?? '', id) });
    } else if (use !== 'undo' || target !== planned) {
      addReference(planned, scope, target, use === 'join' && !guarded);
    }
  }
}

/** Adds the edge of a reference between two nodes of one scope: the two nodes themselves or containers of them. */
function addReference(
  planned: MutableNode | undefined,
  scope: MutableScope,
  target: MutableNode,
  isJoined: boolean,
): void {
  const found = visibilityOf(target, planned === undefined ? { scope } : { scope, node: planned });
  if (found.kind === 'inOtherArm' || found.user === undefined) return;
  const source = found.source as MutableNode;
  const user = found.user as MutableNode;
  if (found.kind === 'inLoop' && source === user) return;
  user.orders = added(user.orders, source, user);
  if (found.kind === 'visible' && source.index <= user.index)
    user.sources = added(user.sources, source, user);
  if (!isJoined) return;
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
  const { when, kind }: RunnableNode = node;
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
  const left = new Map<PlannedNode, Set<PlannedNode>>(
    nodes.map((planned) => [planned, new Set([...planned.orders, ...planned.routers])]),
  );
  dropUnblocked(left);
  return nodes.filter((planned) => left.has(planned)).map(({ node: { id } }) => id);
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
  const left = new Map([...waits].map(([node, targets]) => [node, new Set(targets)]));
  const cycles: PlannedNode[][] = [];
  for (dropUnblocked(left); left.size > 0; dropUnblocked(left)) {
    const cycle = cycleIn(left);
    for (const node of cycle) left.delete(node);
    cycles.push(cycle);
  }
  return cycles.map((cycle) => {
    const first = Math.min(...cycle.map(({ ordinal }) => ordinal));
    const start = cycle.findIndex(({ ordinal }) => ordinal === first);
    return [...cycle.slice(start), ...cycle.slice(0, start)];
  });
}

/** Removes every node that waits for no remaining node, directly or indirectly. */
function dropUnblocked(left: Map<PlannedNode, Set<PlannedNode>>): void {
  const waiting = new Map<PlannedNode, PlannedNode[]>();
  const free: PlannedNode[] = [];
  for (const [node, targets] of left) {
    for (const target of targets) {
      const users = waiting.get(target);
      if (!left.has(target)) targets.delete(target);
      else if (users === undefined) waiting.set(target, [node]);
      else users.push(node);
    }
    if (targets.size === 0) free.push(node);
  }
  for (let node = free.pop(); node !== undefined; node = free.pop()) {
    left.delete(node);
    for (const user of waiting.get(node) ?? []) {
      const targets = left.get(user);
      targets?.delete(node);
      if (targets?.size === 0) free.push(user);
    }
  }
}

/** A cycle. Each remaining node waits for a remaining node, so a walk along the edges meets a node twice. */
function cycleIn(left: ReadonlyMap<PlannedNode, ReadonlySet<PlannedNode>>): PlannedNode[] {
  const path: PlannedNode[] = [];
  const positions = new Map<PlannedNode, number>();
  let [node] = left.keys();
  while (node !== undefined && !positions.has(node)) {
    positions.set(node, path.length);
    path.push(node);
    [node] = left.get(node) ?? [];
  }
  return path.slice(node === undefined ? 0 : positions.get(node));
}
