import { type Diagnostic, type DiagnosticDetails, diagnostic } from '../graph/diagnostics/diagnostic.js';
import type { Node } from '../graph/kinds/node.js';
import { MAX_WORKFLOW_DEPTH } from '../graph/limits.js';
import type { Graph } from '../graph/model.js';
import { didYouMean, nearestName } from '../graph/names.js';
import { workflowsIn } from '../graph/nodes.js';
import { locationOfNode, relatedLocation } from '../graph/source-location.js';
import { planOf } from '../plan/compile.js';
import { cyclesIn, type Route, routesOf } from '../plan/edges.js';
import type { PlannedNode, ScopePlan, WorkflowPlan } from '../plan/plan.js';
import { nodesBefore, reachabilityOf } from '../plan/reachability.js';
import { locationOfScope, visibilityOf } from '../plan/visibility.js';
import type { CheckEnvironment } from './environment.js';

/**
 * SW4017 targets of `after` and of routes outside the node's scope, SW3005 unknown steps in `after`, SW4019 waiting for a
 * step that runs only when selected, SW4025 a `goto` to a later step.
 */
export function checkRoutes(plan: WorkflowPlan): Diagnostic[] {
  const diagnostics: Diagnostic[] = [];
  for (const planned of plan.nodes) {
    for (const target of planned.node.after) diagnostics.push(...checkAfter(planned, target, plan));
    for (const { kind, target } of routesOf(planned.node))
      diagnostics.push(...checkRoute(planned, kind, target, plan));
    diagnostics.push(...checkGoto(planned, plan));
  }
  return diagnostics;
}

/** What most steps have. */
const NONE: readonly Diagnostic[] = [];

function checkAfter(planned: PlannedNode, target: string, plan: WorkflowPlan): readonly Diagnostic[] {
  const { node, scope } = planned;
  const location = locationOfNode(node, plan.graph);
  const source = plan.byId.get(target);
  if (source === undefined) {
    const suggestion = nearestName(target, idsBeside(planned));
    return [diagnostic('SW3005', location, { step: node.id, target, suggestion })];
  }
  if (plan.duplicates.has(target)) return NONE;
  if (source.scope !== scope) return [misplaced(planned, 'after', source, plan)];
  const { kind } = source.node;
  if (kind !== 'compensate' && (kind !== 'error' || !source.needsSelection)) return NONE;
  return [diagnostic('SW4019', location, { step: node.id, target, kind })];
}

function checkRoute(
  planned: PlannedNode,
  option: Route['kind'],
  target: string,
  plan: WorkflowPlan,
): Diagnostic[] {
  const targetNode = beside(planned, option, target, plan);
  if (!('node' in targetNode)) return [targetNode];
  const fault = (why: string): Diagnostic[] => [routeFault(planned, option, target, why, plan)];
  if (targetNode === planned) return fault('which is the step itself');
  if (option === 'compensateNode' && targetNode.node.kind !== 'compensate')
    return fault('which is not of the kind `compensate`');
  return [];
}

function checkGoto(planned: PlannedNode, plan: WorkflowPlan): readonly Diagnostic[] {
  const { node } = planned;
  if (node.kind !== 'goto') return NONE;
  const targetNode = beside(planned, 'target', node.target, plan);
  if (!('node' in targetNode)) return [targetNode];
  if (targetNode.index < planned.index) return [];
  return [diagnostic('SW4025', locationOfNode(node, plan.graph), { step: node.id, target: node.target })];
}

/** The node of this name in the same scope, or why there is none. */
function beside(
  planned: PlannedNode,
  option: string,
  target: string,
  plan: WorkflowPlan,
): PlannedNode | Diagnostic {
  const targetNode = plan.byId.get(target);
  if (targetNode !== undefined)
    return targetNode.scope === planned.scope ? targetNode : misplaced(planned, option, targetNode, plan);
  const suggestion = nearestName(target, idsBeside(planned));
  const hint = suggestion === undefined ? {} : { hint: didYouMean(suggestion) };
  return routeFault(planned, option, target, 'which is not a step of this workflow', plan, hint);
}

/** The hint names the container of the target that is in the node's scope. */
function misplaced(
  planned: PlannedNode,
  option: string,
  targetNode: PlannedNode,
  plan: WorkflowPlan,
): Diagnostic {
  const visible = visibilityOf(targetNode, { scope: planned.scope, node: planned });
  const container =
    visible.kind === 'visible' && visible.user === planned ? visible.source.node.id : undefined;
  const hint = option === 'after' && container !== undefined ? { hint: `wait for \`${container}\`` } : {};
  return routeFault(planned, option, targetNode.node.id, 'which is in another list of steps', plan, hint);
}

function routeFault(
  { node }: PlannedNode,
  option: string,
  target: string,
  why: string,
  { graph }: WorkflowPlan,
  details: DiagnosticDetails = {},
): Diagnostic {
  return diagnostic('SW4017', locationOfNode(node, graph), { step: node.id, option, target, why }, details);
}

function idsBeside({ node, scope }: PlannedNode): string[] {
  return scope.nodes.map((other) => other.node.id).filter((id) => id !== node.id);
}

/** SW4006: steps that wait for each other, because of `after`, references, routes or a `goto`. */
export function checkCycles(plan: WorkflowPlan): Diagnostic[] {
  // Without a wait for a later step, or for the step itself, there is no cycle.
  if (plan.nodes.every((each) => waitsForEarlier(each))) return [];
  // Only the first of two steps with one id counts: otherwise they would seem to wait for themselves. See SW4009.
  const nodes = plan.nodes.filter((each) => plan.byId.get(each.node.id) === each);
  const waits = nodes.map((each) => {
    const targets = waitsOf(each).filter((target) => target === each || target.node.id !== each.node.id);
    return [each, targets] as const;
  });
  return cyclesIn(new Map(waits)).map((cycle) => reportCycle(plan, cycle));
}

/** The nodes that a node waits for. A read of a later node is SW3004 and does not count. */
function waitsOf({ index, sources, selectors, slice, orders, routers }: PlannedNode): PlannedNode[] {
  const jumps = [...orders, ...routers].filter((each) => each.node.kind === 'goto' && each.index < index);
  return [...sources, ...selectors, ...slice, ...jumps];
}

/** Whether a node waits for earlier nodes of its list only. */
function waitsForEarlier({ index, sources, selectors, slice }: PlannedNode): boolean {
  const isEarlier = (other: PlannedNode): boolean => other.index < index;
  return sources.every(isEarlier) && selectors.every(isEarlier) && slice.every(isEarlier);
}

function reportCycle({ graph }: WorkflowPlan, cycle: readonly PlannedNode[]): Diagnostic {
  const [first, ...others] = cycle;
  const location = first === undefined ? graph.source : locationOfNode(first.node, graph);
  const related = others.flatMap(({ node }) => relatedLocation(`\`${node.id}\` waits here`, node.source));
  const shown = [...cycle, ...(first === undefined ? [] : [first])].map(({ node }) => node.id).join(' → ');
  return diagnostic('SW4006', location, { cycle: shown }, { related });
}

/**
 * SW4013 steps after one that always ends the run or its scope, SW4020 scopes in which no step can start, SW4021 steps
 * that nothing can select.
 */
export function checkReachability(plan: WorkflowPlan, hasCycles: boolean): Diagnostic[] {
  const { graph } = plan;
  const { endedBy, unselectable } = reachabilityOf(plan);
  return plan.scopes.flatMap((scope) => [
    ...scope.nodes.flatMap((planned) => {
      const end = endedBy.get(planned);
      return end === undefined ? [] : [reportUnreachable(planned, end, graph)];
    }),
    ...scope.nodes
      .filter((planned) => unselectable.has(planned))
      .map(({ node }) => diagnostic('SW4021', locationOfNode(node, graph), { step: node.id })),
    // Steps in a cycle cannot start either, which SW4006 reports.
    ...(hasCycles ? [] : checkStart(scope)),
  ]);
}

function reportUnreachable(
  { node, scope }: PlannedNode,
  { node: end }: PlannedNode,
  graph: Graph,
): Diagnostic {
  const related = relatedLocation('the run ends here', end.source);
  const isInside = end.kind === 'error' && scope.container !== undefined;
  const ends = isInside ? { ends: describeScope(scope) } : {};
  return diagnostic(
    'SW4013',
    locationOfNode(node, graph),
    { step: node.id, end: end.id, ...ends },
    { related },
  );
}

function checkStart(scope: ScopePlan): Diagnostic[] {
  if (scope.nodes.length === 0) return [];
  const mayBegin = scope.nodes.some(({ node, after, needsSelection }) => {
    // An unknown step in `after` is SW3005.
    const waitsInVain = node.after.some((id) => !after.some((each) => each.node.id === id));
    return waitsInVain || (node.after.length === 0 && !needsSelection);
  });
  if (mayBegin) return [];
  return [diagnostic('SW4020', locationOfScope(scope), { scope: describeScope(scope) })];
}

/** SW4027: workflows that run each other without a condition, and workflows nested too deeply. */
export function checkNesting(plan: WorkflowPlan, environment: CheckEnvironment): Diagnostic[] {
  const { graph, nodes } = plan;
  const { workflows } = environment;
  if (workflows === undefined) return [];
  const endless = endlessPath(plan, workflows);
  if (endless !== undefined && isReportedElsewhere(endless, workflows)) return [];
  const path = endless ?? deepestPath(graph, workflows, MAX_WORKFLOW_DEPTH + 1, new Map());
  // If the called workflow is too deep by itself, it has its own diagnostic.
  if (endless === undefined && path.length !== MAX_WORKFLOW_DEPTH + 1) return [];
  const at = nodes.find(({ node }) => node.kind === 'workflow' && node.workflow === path[1]);
  const location = at === undefined ? graph.source : locationOfNode(at.node, graph);
  const limit = endless === undefined ? { limit: MAX_WORKFLOW_DEPTH } : {};
  return [diagnostic('SW4027', location, { path: shownPath(path), ...limit })];
}

/** How many names of a path are shown. */
const SHOWN_NAMES = 12;

function shownPath(path: readonly string[]): string {
  if (path.length <= SHOWN_NAMES) return path.join(' → ');
  const omitted = path.length - SHOWN_NAMES;
  return [...path.slice(0, SHOWN_NAMES - 1), `… (${omitted} more)`, ...path.slice(-1)].join(' → ');
}

/**
 * The names on the longest path of nested workflows. Recursive paths are left out: their depth is not static.
 *
 * @param most how many workflows are followed below the graph: a longer path ends there.
 */
function deepestPath(
  graph: Graph,
  workflows: ReadonlyMap<string, Graph>,
  most: number,
  memo: Map<string, readonly string[]>,
): readonly string[] {
  const key = `${most} ${graph.name}`;
  const path = memo.get(key) ?? memo.get(graph.name);
  if (path !== undefined) return path;
  if (most === 0) return [graph.name];
  // While it is followed, it is on every path that comes back to it.
  memo.set(graph.name, []);
  let deepest: readonly string[] = [];
  for (const name of workflowsIn(graph)) {
    const next = workflows.get(name);
    const below = next === undefined ? [] : deepestPath(next, workflows, most - 1, memo);
    if (below.length > deepest.length) deepest = below;
  }
  memo.delete(graph.name);
  const whole = [graph.name, ...deepest];
  memo.set(key, whole);
  return whole;
}

/** Whether the same circle is the first that another of its workflows is in: then that one reports it. */
function isReportedElsewhere(path: readonly string[], workflows: ReadonlyMap<string, Graph>): boolean {
  const circle = new Set(path);
  const [first = ''] = [...circle].sort();
  const graph = first === path[0] ? undefined : workflows.get(first);
  const other = graph === undefined ? undefined : endlessPath(planOf(graph).main, workflows);
  return other !== undefined && other.length === path.length && other.every((name) => circle.has(name));
}

/** The path by which a graph calls itself in every run that does not fail before. */
function endlessPath(
  plan: WorkflowPlan,
  workflows: ReadonlyMap<string, Graph>,
): readonly string[] | undefined {
  const { name } = plan.graph;
  const callers = new Map<string, string>();
  const open = [name];
  for (const caller of open) {
    const current = caller === name ? plan : mainOf(workflows.get(caller));
    for (const next of current === undefined ? [] : certainRuns(current)) {
      if (next === name) return [...callersOf(caller, callers), name];
      if (callers.has(next)) continue;
      callers.set(next, caller);
      open.push(next);
    }
  }
  return undefined;
}

function mainOf(graph: Graph | undefined): WorkflowPlan | undefined {
  return graph === undefined ? undefined : planOf(graph).main;
}

/** The names on the way to a workflow, itself included. */
function callersOf(name: string, callers: ReadonlyMap<string, string>): readonly string[] {
  const path: string[] = [];
  for (let each: string | undefined = name; each !== undefined; each = callers.get(each)) path.push(each);
  return path.reverse();
}

const CERTAIN_RUNS = new WeakMap<WorkflowPlan, readonly string[]>();

/** The workflows that a graph calls in every run that completes. */
function certainRuns(plan: WorkflowPlan): readonly string[] {
  const certainRuns = CERTAIN_RUNS.get(plan) ?? findCertainRuns(plan);
  CERTAIN_RUNS.set(plan, certainRuns);
  return certainRuns;
}

function findCertainRuns({ root, nodes }: WorkflowPlan): string[] {
  if (!nodes.some(({ node }) => node.kind === 'workflow')) return [];
  const ends = nodes.filter(({ node }) => node.kind === 'return' || node.kind === 'error');
  return root.nodes.flatMap((each) => {
    const { node } = each;
    if (node.kind !== 'workflow' || node.when !== undefined || node.onError !== undefined) return [];
    if (each.needsSelection || mayBeSkipped(node)) return [];
    return ends.every((end) => end.scope === root && nodesBefore([end]).has(each)) ? [node.workflow] : [];
  });
}

/** Whether a node may be skipped because of a dependency. */
function mayBeSkipped({ join, after }: Node): boolean {
  return join !== 'none_failed' && join !== 'all_done' && after.length > 0;
}

/** The name of a scope in messages: `the workflow`, ``arm `a` of step `x` ``. */
function describeScope({ container, arm }: ScopePlan): string {
  if (container === undefined) return 'the workflow';
  const { id } = container.node;
  return arm === undefined ? `loop \`${id}\`` : `arm \`${arm}\` of step \`${id}\``;
}
