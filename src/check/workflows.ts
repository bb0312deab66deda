import { workflowsIn } from '../graph/bundle.js';
import { type Diagnostic, diagnostic } from '../graph/diagnostics/diagnostic.js';
import { MAX_WORKFLOW_DEPTH } from '../graph/limits.js';
import type { Graph, Node } from '../graph/model.js';
import { planOf } from '../plan/compile.js';
import type { WorkflowPlan } from '../plan/plan.js';
import { nodesBefore } from '../plan/reachability.js';
import type { CheckEnvironment } from './environment.js';
import { placeOfNode } from './places.js';

/** The workflows that nodes run, directly or not. */
export function reachableFrom(
  part: Pick<Graph, 'nodes'>,
  { workflows }: CheckEnvironment,
): {
  readonly graphs: readonly Graph[];
  /** False where some of them are not known. */
  readonly isWhole: boolean;
} {
  const graphs = new Map<string, Graph | undefined>();
  const open = [...workflowsIn(part)];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (graphs.has(name)) continue;
    const graph = workflows?.get(name);
    graphs.set(name, graph);
    if (graph !== undefined) open.push(...workflowsIn(graph));
  }
  const known = [...graphs.values()].filter((graph) => graph !== undefined);
  return { graphs: known, isWhole: known.length === graphs.size };
}

/** SW4027: workflows that run each other without a condition, and more of them inside each other than may run. */
export function checkNesting(plan: WorkflowPlan, environment: CheckEnvironment): Diagnostic[] {
  const { graph, nodes } = plan;
  const { workflows } = environment;
  if (workflows === undefined) return [];
  const endless = endlessPath(plan, workflows);
  const path = endless ?? deepestPath(graph, workflows, new Map());
  // Where the next workflow is too deep already, that is said there.
  if (endless === undefined && path.length !== MAX_WORKFLOW_DEPTH + 1) return [];
  const at = nodes.find(({ node }) => node.kind === 'workflow' && node.workflow === path[1]);
  const place = at === undefined ? graph.source : placeOfNode(at.node, graph);
  const limit = endless === undefined ? { limit: MAX_WORKFLOW_DEPTH } : {};
  return [diagnostic('SW4027', place, { path: path.join(' → '), ...limit })];
}

/** The names from a graph to the one furthest in. Ways that come round are left out: how often they do depends. */
function deepestPath(
  graph: Graph,
  workflows: ReadonlyMap<string, Graph>,
  known: Map<string, readonly string[]>,
): readonly string[] {
  const path = known.get(graph.name);
  if (path !== undefined) return path;
  known.set(graph.name, []);
  let deepest: readonly string[] = [];
  for (const name of workflowsIn(graph)) {
    const next = workflows.get(name);
    const below = next === undefined ? [] : deepestPath(next, workflows, known);
    if (below.length > deepest.length) deepest = below;
  }
  const whole = [graph.name, ...deepest];
  known.set(graph.name, whole);
  return whole;
}

/** How a graph comes back to itself in every run that does not fail before. */
function endlessPath(
  plan: WorkflowPlan,
  workflows: ReadonlyMap<string, Graph>,
): readonly string[] | undefined {
  const { name } = plan.graph;
  const seen = new Set<string>();
  const follow = (current: WorkflowPlan, path: readonly string[]): readonly string[] | undefined => {
    for (const next of certainRuns(current)) {
      if (next === name) return [...path, next];
      const graph = workflows.get(next);
      if (graph === undefined || seen.has(next)) continue;
      seen.add(next);
      const found = follow(planOf(graph).main, [...path, next]);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return follow(plan, [name]);
}

/** The workflows that a graph runs whenever it comes to its end. */
function certainRuns(plan: WorkflowPlan): string[] {
  const { root, nodes } = plan;
  if (!nodes.some(({ node }) => node.kind === 'workflow')) return [];
  const ends = nodes.filter(({ node }) => node.kind === 'return' || node.kind === 'error');
  return root.nodes.flatMap((each) => {
    const { node } = each;
    if (node.kind !== 'workflow' || node.when !== undefined || node.onError !== undefined) return [];
    if (each.needsSelection || mayBeSkipped(node)) return [];
    return ends.every((end) => end.scope === root && nodesBefore([end]).has(each)) ? [node.workflow] : [];
  });
}

/** Because of what it waits for. */
function mayBeSkipped({ join, after }: Node): boolean {
  return join !== 'none_failed' && join !== 'all_done' && after.length > 0;
}
