import { type Diagnostic, diagnostic } from '../graph/diagnostics/diagnostic.js';
import type { Node } from '../graph/model.js';
import { fallbackValue, valueExpressions } from '../graph/node-expressions.js';
import type { Place } from '../graph/place.js';
import type { PlannedNode, WorkflowPlan } from '../plan/plan.js';
import { followersOf, maySkipWithout, reachabilityOf } from '../plan/reachability.js';
import { type Reader, visibilityOf } from '../plan/visibility.js';
import { takenSchema } from './calls.js';
import type { CheckEnvironment } from './environment.js';
import { type Guards, guardsIn } from './guards.js';
import { type Need, neededSteps } from './needs.js';
import { placeOfExpr, placeOfNode } from './places.js';
import { requiredKeys, viewOf } from './schema-view.js';

/**
 * SW4024: steps that are read from where they may have been skipped, and nothing provides for that. A guess in favour
 * of the author: whatever asks for the step before, in whichever way, is taken to have asked the right thing.
 */
export function checkSkipped(plan: WorkflowPlan, environment: CheckEnvironment): Diagnostic[] {
  const { graph, nodes, scopes, byId, duplicates } = plan;
  const { skippable } = reachabilityOf(plan);
  let guards: Guards | undefined;
  const followers = new Map<PlannedNode, ReadonlySet<PlannedNode>>();

  const check = (needs: readonly Need[], reader: Reader, source: Place | undefined): Diagnostic[] => {
    const found = new Map<string, Diagnostic>();
    for (const { ref, given } of needs) {
      const name = String(ref.path[0]);
      const target = duplicates.has(name) ? undefined : byId.get(name);
      const visible = target === undefined || found.has(name) ? undefined : visibilityOf(target, reader);
      if (target === undefined || visible?.kind !== 'visible' || visible.source === visible.user) continue;
      const doubts = doubtsAbout(target, visible.source, skippable);
      if (doubts === 'none') continue;
      guards ??= guardsIn(plan);
      if (guards.asks(reader, given, target)) continue;
      if (doubts === 'condition' && guards.implies(reader, given, target)) continue;
      if (target === visible.source && visible.user !== undefined) {
        const sure = followers.get(target) ?? followersOf(target);
        followers.set(target, sure);
        if (sure.has(visible.user)) continue;
      }
      const step = reader.node?.node.id ?? reader.scope.container?.node.id ?? graph.name;
      found.set(name, diagnostic('SW4024', placeOfExpr(ref, source), { name, step }));
    }
    return [...found.values()];
  };

  const ofNodes = nodes.flatMap((each) => {
    const needs = neededBy(each.node, environment);
    return check(needs, { scope: each.scope, node: each }, placeOfNode(each.node, graph));
  });
  const ofScopes = scopes.flatMap((scope) => {
    const source = scope.container === undefined ? graph.source : placeOfNode(scope.container.node, graph);
    return scope.value === undefined ? [] : check(neededSteps(scope.value, false), { scope }, source);
  });
  return [...ofNodes, ...ofScopes];
}

/**
 * A condition asks for what it names, whatever it then makes of it. What a compensation refers to need not be there:
 * then there is nothing to undo.
 */
function neededBy(node: Node, environment: CheckEnvironment): Need[] {
  const fallback = fallbackValue(node);
  return [...valueExpressions(node), ...(fallback === undefined ? [] : [fallback])].flatMap((expr) => {
    const schema = takenSchema(node, environment);
    if (schema === undefined || !('input' in node) || expr !== node.input) return neededSteps(expr, false);
    const required = requiredKeys(viewOf(schema));
    return node.input.entries.flatMap((entry) =>
      'key' in entry
        ? neededSteps(entry.value, required.includes(entry.key))
        : neededSteps(entry.spread, false),
    );
  });
}

/** Whether a step may be without a value when what it stands in is done: on its own condition alone, or otherwise. */
function doubtsAbout(
  target: PlannedNode,
  source: PlannedNode,
  skippable: ReadonlySet<PlannedNode>,
): 'none' | 'condition' | 'other' {
  for (let each = target; each !== source; ) {
    const { container } = each.scope;
    if (container === undefined || leavesOut(container.node)) return 'other';
    if (each !== target && skippable.has(each)) return 'other';
    each = container;
  }
  if (target !== source && skippable.has(source)) return 'other';
  if (!skippable.has(target)) return 'none';
  return target === source && !maySkipWithout(target, skippable) ? 'condition' : 'other';
}

/** Whether a container may be done although one of its parts is not. */
function leavesOut(node: Node): boolean {
  if (fallbackValue(node) !== undefined) return true;
  if (node.kind === 'parallel') return node.onPartialFailure === 'continue';
  return node.kind === 'branch' && node.cases.length + (node.else === undefined ? 0 : 1) > 1;
}
