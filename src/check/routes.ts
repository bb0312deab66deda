import { type Diagnostic, type DiagnosticDetails, diagnostic } from '../graph/diagnostics/diagnostic.js';
import { didYouMean, nearestName } from '../graph/suggest.js';
import type { PlannedNode, WorkflowPlan } from '../plan/plan.js';
import { type Route, routesOf } from '../plan/routes.js';
import { visibilityOf } from '../plan/visibility.js';
import { placeOfNode } from './places.js';

/**
 * SW4017 names in `after` and in routes that do not stand beside the node, SW3005 such names in `after` that stand
 * nowhere, SW4019 waiting for what only runs when it is selected, SW4025 going on with `goto` instead of back.
 */
export function checkRoutes(plan: WorkflowPlan): Diagnostic[] {
  return plan.nodes.flatMap((planned) => [
    ...planned.node.after.flatMap((target) => checkAfter(planned, target, plan)),
    ...routesOf(planned.node).flatMap(({ kind, target }) => checkRoute(planned, kind, target, plan)),
    ...checkGoto(planned, plan),
  ]);
}

function checkAfter(planned: PlannedNode, target: string, plan: WorkflowPlan): Diagnostic[] {
  const { node, scope } = planned;
  const place = placeOfNode(node, plan.graph);
  const found = plan.byId.get(target);
  if (found === undefined) {
    const suggestion = nearestName(target, idsBeside(planned));
    return [diagnostic('SW3005', place, { step: node.id, target, suggestion })];
  }
  if (plan.duplicates.has(target)) return [];
  if (found.scope !== scope) return [misplaced(planned, 'after', found, plan)];
  const { kind } = found.node;
  if (kind !== 'compensate' && (kind !== 'error' || !found.needsSelection)) return [];
  return [diagnostic('SW4019', place, { step: node.id, target, kind })];
}

function checkRoute(
  planned: PlannedNode,
  option: Route['kind'],
  target: string,
  plan: WorkflowPlan,
): Diagnostic[] {
  const found = beside(planned, option, target, plan);
  if (!('node' in found)) return [found];
  const fault = (why: string): Diagnostic[] => [routeFault(planned, option, target, why, plan)];
  if (found === planned) return fault('which is the step itself');
  if (option === 'compensateNode' && found.node.kind !== 'compensate')
    return fault('which is not of the kind `compensate`');
  return [];
}

function checkGoto(planned: PlannedNode, plan: WorkflowPlan): Diagnostic[] {
  const { node } = planned;
  if (node.kind !== 'goto') return [];
  const found = beside(planned, 'target', node.target, plan);
  if (!('node' in found)) return [found];
  if (found.index < planned.index) return [];
  return [diagnostic('SW4025', placeOfNode(node, plan.graph), { step: node.id, target: node.target })];
}

/** The node of this name in the same scope, or why there is none. */
function beside(
  planned: PlannedNode,
  option: string,
  target: string,
  plan: WorkflowPlan,
): PlannedNode | Diagnostic {
  const found = plan.byId.get(target);
  if (found !== undefined)
    return found.scope === planned.scope ? found : misplaced(planned, option, found, plan);
  const suggestion = nearestName(target, idsBeside(planned));
  const hint = suggestion === undefined ? {} : { hint: didYouMean(suggestion) };
  return routeFault(planned, option, target, 'which is not a step of this workflow', plan, hint);
}

/** The hint names the container that stands beside the node in the place of what it holds. */
function misplaced(planned: PlannedNode, option: string, found: PlannedNode, plan: WorkflowPlan): Diagnostic {
  const visible = visibilityOf(found, { scope: planned.scope, node: planned });
  const container =
    visible.kind === 'visible' && visible.user === planned ? visible.source.node.id : undefined;
  const hint = option === 'after' && container !== undefined ? { hint: `wait for \`${container}\`` } : {};
  return routeFault(planned, option, found.node.id, 'which stands in another list of steps', plan, hint);
}

function routeFault(
  { node }: PlannedNode,
  option: string,
  target: string,
  why: string,
  { graph }: WorkflowPlan,
  details: DiagnosticDetails = {},
): Diagnostic {
  return diagnostic('SW4017', placeOfNode(node, graph), { step: node.id, option, target, why }, details);
}

function idsBeside({ node, scope }: PlannedNode): string[] {
  return scope.nodes.map((other) => other.node.id).filter((id) => id !== node.id);
}
