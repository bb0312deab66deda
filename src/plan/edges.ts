import { references } from '../graph/expression/references.js';
import type { Expr } from '../graph/expression/tree.js';
import { compensationsOf, sideExpressions, valueExpressions } from '../graph/node-expressions.js';
import { type PlanFault, planFailures } from './faults.js';
import { type MutableNode, type MutableScope, type MutableWorkflow, NONE } from './nodes.js';
import type { PlannedNode, RunnableNode } from './plan.js';
import { visibilityOf } from './visibility.js';

/** Lists of no more nodes are searched, longer ones sorted out at the end. */
const FEW = 8;

/** What naming a step means: the join looks at it, or it only orders. The input of a call that undoes names its own. */
type Use = 'join' | 'order' | 'undo';

/**
 * What each node waits for: `after`, and whatever it or anything inside it names in the scope it stands in. Only `after`
 * and the plain references of values count in the join. [G10]
 */
export function addEdges(workflow: MutableWorkflow, faults: PlanFault[]): void {
  addEdgesIn(workflow.root, faults);
  const lists = new Lists(workflow.nodes.length);
  for (const planned of workflow.nodes) {
    const { after, orders, joins, sources } = planned;
    planned.after = lists.distinct(after, NONE);
    planned.orders = orders === after ? planned.after : lists.distinct(orders, planned.after);
    planned.joins = joins === after ? planned.after : lists.distinct(joins, planned.orders);
    planned.sources = sources === after ? planned.after : lists.distinct(sources, planned.orders);
    if (collects(workflow)) planned.needs = lists.distinct([...planned.needs, ...presupposed(planned)], NONE);
  }
}

function collects({ graph }: MutableWorkflow): boolean {
  return graph.errorStrategy?.kind === 'collect';
}

/** Makes lists of nodes that hold each node once. */
class Lists {
  /** By the nodes' ordinals: the last list that each of them was found in. */
  readonly #seenIn: Int32Array;
  #count = 0;

  constructor(nodes: number) {
    this.#seenIn = new Int32Array(nodes);
  }

  /** The nodes of a list, each where it comes first; `known` where that holds the same. */
  distinct(list: readonly MutableNode[], known: readonly MutableNode[]): readonly MutableNode[] {
    if (list.length === 0) return NONE;
    const once = list.length === 1 ? list : this.#once(list);
    const isKnown = once.length === known.length && once.every((each, place) => each === known[place]);
    return isKnown ? known : once;
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
  // Most nodes wait for nothing else: then one list serves for all.
  planned.after = targets;
  planned.orders = targets;
  planned.joins = targets;
  planned.sources = targets;
}

function addReferences(
  planned: MutableNode | undefined,
  scope: MutableScope,
  expr: Expr,
  use: Use,
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

/** The edge of a reference runs between those that stand in one scope: the two nodes, or what they stand in. */
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

/** A list of what a user waits for and one more. What is listed in a long list is found when all is known. */
function added(list: readonly MutableNode[], source: MutableNode, user: MutableNode): readonly MutableNode[] {
  if (list.length <= FEW && list.includes(source)) return list;
  if (list === user.after || list.length === 0) return [...list, source];
  (list as MutableNode[]).push(source);
  return list;
}

/**
 * The steps whose success a condition takes for granted. To a check that ends the run these are all it names: what
 * never came is no finding.
 */
function presupposed({ node, scope }: MutableNode): MutableNode[] {
  const { when, kind }: RunnableNode = node;
  if (when === undefined) return [];
  return references(when).flatMap(({ ref, guarded }) => {
    if (ref.root !== 'steps' || (guarded && kind !== 'error')) return [];
    const target = scope.workflow.byId.get(String(ref.path[0]));
    return target === undefined ? [] : (holderIn(scope, target) ?? []);
  });
}

/** The node of `scope` that is `target`, or that it stands in. */
function holderIn(scope: MutableScope, target: MutableNode): MutableNode | undefined {
  let holder: MutableNode | undefined = target;
  while (holder !== undefined && holder.scope !== scope) holder = holder.scope.container;
  return holder;
}

/** Ids of the nodes no order of execution ever gets to, because they wait for each other: in order or in selection. */
export function stuckIn(nodes: readonly MutableNode[]): string[] {
  // Where everything waits for what is declared before it, nothing can wait for itself.
  if (nodes.every((planned) => isBehind(planned, planned.orders) && isBehind(planned, planned.routers)))
    return [];
  const left = new Map<PlannedNode, Set<PlannedNode>>(
    nodes.map((planned) => [planned, new Set([...planned.orders, ...planned.routers])]),
  );
  dropFree(left);
  return nodes.filter((planned) => left.has(planned)).map(({ node: { id } }) => id);
}

function isBehind({ index }: MutableNode, others: readonly MutableNode[]): boolean {
  return others.every((other) => other.index < index);
}

/**
 * Cycles that share no node, each in the order of waiting, beginning with the node that was declared first.
 *
 * @param waits what each node waits for, in declaration order.
 */
export function cyclesIn(waits: ReadonlyMap<PlannedNode, Iterable<PlannedNode>>): PlannedNode[][] {
  const left = new Map([...waits].map(([node, targets]) => [node, new Set(targets)]));
  const cycles: PlannedNode[][] = [];
  for (dropFree(left); left.size > 0; dropFree(left)) {
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

/** Takes out every node that waits, directly or not, for none of those that are left. */
function dropFree(left: Map<PlannedNode, Set<PlannedNode>>): void {
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

/** Every node that is left waits for another one that is left, so that following them comes round. */
function cycleIn(left: ReadonlyMap<PlannedNode, ReadonlySet<PlannedNode>>): PlannedNode[] {
  const path: PlannedNode[] = [];
  const places = new Map<PlannedNode, number>();
  let [node] = left.keys();
  while (node !== undefined && !places.has(node)) {
    places.set(node, path.length);
    path.push(node);
    [node] = left.get(node) ?? [];
  }
  return path.slice(node === undefined ? 0 : places.get(node));
}
