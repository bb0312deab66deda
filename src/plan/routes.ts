import type { Draft } from './draft.js';
import { type PlanFault, planFailures } from './fault.js';
import type { RunnableNode } from './plan.js';

/** A node that names another one of its scope, to be run where it decides so. */
interface Route {
  readonly target: string;
  readonly by: 'goto' | 'fallback' | 'rollback';
}

/**
 * Tells the nodes that `draft` may select. One without `after`, and every `compensate` node, needs to be selected;
 * another one has to wait until a branch that names it has settled. [G1, G2]
 */
export function addRoutes(draft: Draft, faults: PlanFault[]): void {
  const { node, scope } = draft;
  if (node.kind === 'compensate') draft.needsSelection = true;
  for (const { target, by } of routesOf(node)) {
    const named = scope.workflow.byId.get(target);
    if (named === undefined || named.scope !== scope) {
      faults.push({ failure: planFailures.unknownRoute(node.id, target) });
    } else if (by === 'rollback' && named.node.kind !== 'compensate') {
      faults.push({ failure: planFailures.noCompensateNode(node.id, target) });
    } else if (named.node.kind === 'compensate' || named.node.after.length === 0) {
      named.needsSelection = true;
      named.routers = [...new Set([...named.routers, draft])];
    } else if (by === 'goto') {
      named.orders = [...new Set([...named.orders, draft])];
    }
  }
}

function routesOf(node: RunnableNode): Route[] {
  const routes: Route[] = [];
  if (node.onError !== undefined && 'fallbackNode' in node.onError) {
    routes.push({ target: node.onError.fallbackNode, by: 'fallback' });
  }
  if (node.kind === 'parallel' && node.compensateNode !== undefined) {
    routes.push({ target: node.compensateNode, by: 'rollback' });
  }
  if (node.kind === 'branch') {
    for (const arm of [...node.cases, ...(node.else === undefined ? [] : [node.else])]) {
      if ('goto' in arm) routes.push({ target: arm.goto, by: 'goto' });
    }
  }
  return routes;
}

/**
 * A `parallel` settles after the node that undoes for it, so that this node cannot wait for it, nor for anything behind
 * it. Nothing there can have happened when it rolls back.
 */
export function freeRollbacks(nodes: readonly Draft[]): void {
  for (const draft of nodes) {
    const { node } = draft;
    if (node.kind !== 'parallel' || node.compensateNode === undefined) continue;
    const undoes = nodes.find(({ node: { id } }) => id === node.compensateNode);
    if (undoes === undefined) continue;
    const behind = new Set<Draft>();
    const open: Draft[] = [draft];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (behind.has(next) || next === undoes) continue;
      behind.add(next);
      open.push(...next.successors, ...next.routes, ...undoneBy(next));
    }
    for (const before of undoes.orders) {
      if (behind.has(before)) before.successors = before.successors.filter((each) => each !== undoes);
    }
    undoes.orders = undoes.orders.filter((before) => !behind.has(before));
    undoes.joins = undoes.joins.filter((before) => !behind.has(before));
  }
}

/** The `parallel` nodes that may have to wait for this node, because it undoes for them. */
function undoneBy({ node, routers }: Draft): Draft[] {
  if (node.kind !== 'compensate') return [];
  return routers.filter(
    (router) => 'compensateNode' in router.node && router.node.compensateNode === node.id,
  );
}
