import { references } from '../graph/expression/traversal.js';
import type { Expr } from '../graph/expression/tree.js';
import { times } from '../graph/kinds/descriptor.js';
import { routesOf } from '../plan/edges.js';
import type { PlannedNode, WorkflowPlan } from '../plan/plan.js';
import { endOf } from '../plan/reachability.js';
import { visibilityOf } from '../plan/visibility.js';
import { printExpr } from './expression.js';
import { sourcesOf } from './shapes.js';

/** The arrows to a node from its dependencies. A node that selects it has an arrow of its own. */
export function sourcesInOrder(planned: PlannedNode): PlannedNode[] {
  return sourcesOf(planned).filter((source) => !planned.selectors.includes(source));
}

/** Whether a node can run after another one has run. */
export function follows(planned: PlannedNode, source: PlannedNode): boolean {
  const end = endOf(source);
  return end === undefined || (end === 'failure' && planned.node.join === 'all_done');
}

/** The nodes at the top of a workflow whose values its result reads, in declaration order. */
export function resultSources(value: Expr, { byId, root }: WorkflowPlan): readonly PlannedNode[] {
  const sources = new Set<PlannedNode>();
  for (const { ref } of references(value)) {
    const target = ref.root === 'steps' ? byId.get(String(ref.path[0])) : undefined;
    const visible = target === undefined ? undefined : visibilityOf(target, { scope: root });
    if (visible?.kind === 'visible') sources.add(visible.source);
  }
  return root.nodes.filter((planned) => sources.has(planned));
}

/** The way from a node to another one of its scope that it selects. */
export interface RouteArrow {
  /** `arm` leaves the decision of a branch, `undo` leads to a compensation. */
  readonly kind: 'arm' | 'fallback' | 'undo' | 'back';
  readonly text: string;
  readonly target: PlannedNode;
}

/** The ways on which a node selects others. */
export function routeArrows(planned: PlannedNode): RouteArrow[] {
  const { node, scope } = planned;
  const arrow = (kind: RouteArrow['kind'], text: string, id: string): RouteArrow[] => {
    const target = scope.workflow.byId.get(id);
    return target?.scope === scope ? [{ kind, text, target }] : [];
  };
  const routes = routesOf(node).flatMap(({ kind, target, arm }) => {
    if (kind === 'fallbackNode') return arrow('fallback', 'on failure', target);
    if (kind === 'compensateNode') return arrow('undo', 'undone by', target);
    const armCase = node.kind === 'branch' ? node.cases.find(({ id }) => id === arm) : undefined;
    return arrow('arm', armCase === undefined ? 'else' : printExpr(armCase.when), target);
  });
  const back = node.kind === 'goto' ? arrow('back', `again, at most ${times(node.max)}`, node.target) : [];
  return [...routes, ...back];
}
