import type { Node } from '../graph/kinds/node.js';
import type { GotoNode } from '../graph/model.js';
import { type PlanFault, planFailures } from './faults.js';
import { isRepeated, type MutableNode, type MutableScope, type MutableWorkflow } from './nodes.js';
import type { PlannedNode } from './plan.js';

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
  return planned.routers.filter((router) => isRollbackOf(router, planned));
}

/** Whether `router` is a `parallel` that rolls back with the given node. */
function isRollbackOf(router: PlannedNode, { node: { id } }: PlannedNode): boolean {
  return router.node.kind === 'parallel' && router.node.compensateNode === id;
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
