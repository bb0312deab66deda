import { type Diagnostic, diagnostic } from '../graph/diagnostics/diagnostic.js';
import type { Graph } from '../graph/model.js';
import type { PlannedNode, ScopePlan, WorkflowPlan } from '../plan/plan.js';
import { reachabilityOf } from '../plan/reachability.js';
import { describeScope, placeOfNode, relatedPlace } from './places.js';

/**
 * SW4013 steps that wait for one that always ends the run or its scope, SW4020 scopes in which nothing can begin,
 * SW4021 steps that nothing can select.
 */
export function checkReach(plan: WorkflowPlan, hasCycles: boolean): Diagnostic[] {
  const { graph } = plan;
  const { endedBy, unselectable } = reachabilityOf(plan);
  return plan.scopes.flatMap((scope) => [
    ...scope.nodes.flatMap((planned) => {
      const end = endedBy.get(planned);
      return end === undefined ? [] : [neverReached(planned, end, graph)];
    }),
    ...scope.nodes
      .filter((planned) => unselectable.has(planned))
      .map(({ node }) => diagnostic('SW4021', placeOfNode(node, graph), { step: node.id })),
    // Steps that wait for each other cannot begin either, and that is said already.
    ...(hasCycles ? [] : checkStart(scope, graph)),
  ]);
}

function neverReached({ node, scope }: PlannedNode, { node: end }: PlannedNode, graph: Graph): Diagnostic {
  const related = relatedPlace('the run ends here', end.source);
  const isInside = end.kind === 'error' && scope.container !== undefined;
  const ends = isInside ? { ends: describeScope(scope) } : {};
  return diagnostic('SW4013', placeOfNode(node, graph), { step: node.id, end: end.id, ...ends }, { related });
}

function checkStart(scope: ScopePlan, graph: Graph): Diagnostic[] {
  if (scope.nodes.length === 0) return [];
  const mayBegin = scope.nodes.some(({ node, after, needsSelection }) => {
    // What it waits for in vain is a fault of its own.
    const waitsInVain = node.after.some((id) => !after.some((each) => each.node.id === id));
    return waitsInVain || (node.after.length === 0 && !needsSelection);
  });
  if (mayBegin) return [];
  const place = scope.container === undefined ? graph.source : placeOfNode(scope.container.node, graph);
  return [diagnostic('SW4020', place, { scope: describeScope(scope) })];
}
