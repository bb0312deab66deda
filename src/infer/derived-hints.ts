import { references } from '../graph/expression/traversal.js';
import type { Expr } from '../graph/expression/tree.js';
import type { JsonObject } from '../graph/json.js';
import type { Graph } from '../graph/model.js';
import { nodesOf, repeatedTools } from '../graph/nodes.js';
import { planOf } from '../plan/compile.js';
import type { PlannedNode, WorkflowPlan } from '../plan/plan.js';
import { nodesBefore, reachabilityOf } from '../plan/reachability.js';
import { fallbackOf, soleBody, sourcesOf } from '../print/shapes.js';
import type { PlanningHints } from './tool.js';

/** The use of a tool in workflows. */
export interface ToolUse {
  /** Tools that are called directly after it, in some workflow. */
  readonly next: readonly string[];
  /**
   * Tools whose results it takes, and tools that are surely called directly before it, in all workflows that call it:
   * `after` and `depends_on` name them, or what they give decides whether it is called.
   */
  readonly requires: readonly string[];
}

/** A call of a tool in a workflow. */
interface ToolCall {
  readonly tool: string;
  readonly planned: PlannedNode;
  /** The calls directly before it. */
  readonly previous: readonly PlannedNode[];
}

/** The use of tools in graphs, by tool. It is computed from the graphs alone, and so is never stale. */
export function toolUses(graphs: Iterable<Graph>): ReadonlyMap<string, ToolUse> {
  const next = new Map<string, Set<string>>();
  const requires = new Map<string, Set<string>>();
  for (const graph of graphs) {
    const { main } = planOf(graph);
    const calls = callsIn(main);
    const repeated = repeatedTools(main.nodes.map(({ node }) => node));
    for (const { tool, planned, previous } of calls) {
      next.set(tool, next.get(tool) ?? new Set());
      for (const before of previous) {
        const other = toolOf(before);
        if (other !== undefined && other !== tool) next.set(other, (next.get(other) ?? new Set()).add(tool));
      }
      const sources = toolsBehind(planned, main);
      for (const before of surelyBefore(planned, new Set())) {
        const other = toolOf(before);
        // The name of a generic tool does not say which of its calls has to be made.
        if (other !== undefined && !repeated.has(other)) sources.add(other);
      }
      sources.delete(tool);
      const earlier = requires.get(tool);
      requires.set(
        tool,
        earlier === undefined ? sources : new Set([...earlier].filter((each) => sources.has(each))),
      );
    }
  }
  return new Map(
    [...next].map(([tool, followers]) => [
      tool,
      { next: [...followers].sort(), requires: [...(requires.get(tool) ?? [])].sort() },
    ]),
  );
}

/** Declared hints, completed by the use of the tool in workflows; undefined without either. */
export function withUse(declared: JsonObject | undefined, use: ToolUse | undefined): JsonObject | undefined {
  const { next = [], requires = [] } = use ?? {};
  const all = {
    ...(next.length === 0 ? {} : { next }),
    ...(requires.length === 0 ? {} : { requires }),
    ...declared,
  };
  return declared === undefined && Object.keys(all).length === 0 ? undefined : all;
}

/** The calls of tools in a workflow, each with those directly before it. */
function callsIn({ nodes }: WorkflowPlan): ToolCall[] {
  return nodes.flatMap((planned) => {
    const tool = toolOf(planned);
    return tool === undefined ? [] : [{ tool, planned, previous: [...callsBefore(planned, new Set())] }];
  });
}

function toolOf({ node }: PlannedNode): string | undefined {
  return node.kind === 'call' ? node.tool : undefined;
}

/** The calls directly before a node: of its dependencies, or else of the container around it. */
function callsBefore(planned: PlannedNode, visited: Set<PlannedNode>): Set<PlannedNode> {
  if (visited.has(planned)) return new Set();
  visited.add(planned);
  const { node, scope } = planned;
  // A step that takes over from a failed one does not follow its success.
  const routers = planned.selectors.filter(
    (router) => fallbackOf(router.node) !== node.id && router.ordinal < planned.ordinal,
  );
  const sources = sourcesOf(planned);
  const earlier = planned.needsSelection ? nodesBefore(routers) : new Set();
  const before = [...sources.filter((source) => !earlier.has(source)), ...routers];
  if (before.length > 0) return union(before.map((each) => lastCalls(each, visited)));
  return scope.container === undefined ? new Set() : callsBefore(scope.container, visited);
}

/** The last calls of a node: itself, those at the end of its bodies, or else those before it. */
function lastCalls(planned: PlannedNode, visited: Set<PlannedNode>): Set<PlannedNode> {
  if (toolOf(planned) !== undefined) return new Set([planned]);
  const ends = planned.parts.flatMap(({ nodes }) =>
    nodes.filter(({ successors }) => successors.length === 0),
  );
  const inside = union(ends.map((each) => lastCalls(each, visited)));
  return inside.size > 0 ? inside : callsBefore(planned, visited);
}

function union<T>(sets: readonly ReadonlySet<T>[]): Set<T> {
  return new Set(sets.flatMap((set) => [...set]));
}

/**
 * The calls that every run makes directly before a node, if it comes to the node: of what it waits for, and of what
 * decides whether it runs; or else of the container around it. None that may be skipped, and none that may have failed.
 */
function surelyBefore(planned: PlannedNode, visited: Set<PlannedNode>): Set<PlannedNode> {
  if (visited.has(planned)) return new Set();
  visited.add(planned);
  const { node, scope, after, selectors } = planned;
  const [selector, ...others] = selectors;
  const isSelected = selector !== undefined && others.length === 0 && selector.node.kind === 'branch';
  const waits = node.join !== 'all_done' && node.join !== 'one_success' ? after : [];
  const conditions = [
    ...(node.when === undefined ? [] : [node.when]),
    ...(node.kind === 'branch' ? node.cases.map(({ when }) => when) : []),
  ];
  const calls = union([
    ...[...waits, ...(isSelected ? [selector] : [])].map((each) => lastSureCalls(each, visited)),
    sureCalls(conditions, scope.workflow),
  ]);
  if (calls.size > 0 || scope.container === undefined) return calls;
  return surelyBefore(scope.container, visited);
}

/** The last calls of a node that it surely makes: itself, those at the end of bodies that all run, or else those before. */
function lastSureCalls(planned: PlannedNode, visited: Set<PlannedNode>): Set<PlannedNode> {
  const { node, scope, parts } = planned;
  if (reachabilityOf(scope.workflow).skippable.has(planned)) return new Set();
  if (toolOf(planned) !== undefined) return new Set([planned]);
  const runsAll =
    node.kind === 'parallel' ? node.onPartialFailure !== 'continue' : soleBody(node) !== undefined;
  const ends = runsAll
    ? parts.flatMap(({ nodes }) => nodes.filter(({ successors }) => successors.length === 0))
    : [];
  const inside = union(ends.map((each) => lastSureCalls(each, visited)));
  return inside.size > 0 ? inside : surelyBefore(planned, visited);
}

/** The calls whose results conditions read, without those that may be skipped. */
function sureCalls(conditions: readonly Expr[], plan: WorkflowPlan): Set<PlannedNode> {
  const { skippable } = reachabilityOf(plan);
  return new Set([...callsBehind(conditions, plan)].filter((each) => !skippable.has(each)));
}

/** The tools whose results a call takes, directly or by way of computed steps. */
function toolsBehind({ node }: PlannedNode, plan: WorkflowPlan): Set<string> {
  const calls = node.kind === 'call' ? callsBehind([node.input], plan) : [];
  return new Set([...calls].flatMap((each) => toolOf(each) ?? []));
}

/** The calls whose results expressions read, directly or by way of computed steps. */
function callsBehind(exprs: readonly Expr[], { byId }: WorkflowPlan): Set<PlannedNode> {
  const calls = new Set<PlannedNode>();
  const visited = new Set<PlannedNode>();
  const open = [...exprs];
  for (let expr = open.pop(); expr !== undefined; expr = open.pop()) {
    for (const { ref } of references(expr)) {
      const [id] = ref.path;
      const source = ref.root === 'steps' && typeof id === 'string' ? byId.get(id) : undefined;
      if (source === undefined || visited.has(source)) continue;
      visited.add(source);
      if (toolOf(source) !== undefined) calls.add(source);
      else if (source.node.kind === 'compute' && source.node.value !== undefined)
        open.push(source.node.value);
    }
  }
  return calls;
}

/** A declared hint that a workflow contradicts. */
export interface HintContradiction {
  readonly tool: string;
  readonly hint: 'requires' | 'next';
  /** The tool that the hint names. */
  readonly named: string;
  readonly workflow: string;
}

/**
 * Compares hints with workflows: a workflow calls the tool, and what it requires not before it; or it calls what is said
 * to follow before it, and not after it. Each contradiction is reported for one workflow.
 */
export function contradictedHints(
  graphs: readonly Graph[],
  hints: ReadonlyMap<string, PlanningHints>,
): HintContradiction[] {
  const contradictions = new Map<string, HintContradiction>();
  const byName = new Map(graphs.map((graph) => [graph.name, graph]));
  const inside = new Set(graphs.flatMap((graph) => workflowsIn(graph)));
  for (const graph of graphs) {
    const before = toolsBefore(graph, byName);
    const report = (tool: string, hint: 'requires' | 'next', named: string): void => {
      const key = JSON.stringify([tool, hint, named]);
      if (!contradictions.has(key)) contradictions.set(key, { tool, hint, named, workflow: graph.name });
    };
    for (const { tool, earlier } of before) {
      const { requires = [], next = [] } = hints.get(tool) ?? {};
      // A workflow that others run may rely on what they have called.
      const missing = inside.has(graph.name) ? [] : requires.filter((named) => !earlier.has(named));
      for (const named of missing) if (named !== tool) report(tool, 'requires', named);
      const isAfter = (named: string) => before.some((each) => each.tool === named && each.earlier.has(tool));
      for (const named of next) if (earlier.has(named) && !isAfter(named)) report(tool, 'next', named);
    }
  }
  return [...contradictions.values()];
}

/** Each call of a workflow with the tools that may have been called before it. */
function toolsBefore(
  graph: Graph,
  byName: ReadonlyMap<string, Graph>,
): { readonly tool: string; readonly earlier: ReadonlySet<string> }[] {
  const { main } = planOf(graph);
  return callsIn(main).map(({ tool, planned }) => {
    const earlier = new Set<string>();
    for (const node of allNodesBefore(planned)) for (const each of toolsIn(node, byName)) earlier.add(each);
    return { tool, earlier };
  });
}

/** The nodes that a node waits for, directly or not, and those that the containers around it wait for. */
function allNodesBefore(planned: PlannedNode): Set<PlannedNode> {
  const nodes = new Set<PlannedNode>();
  const open: PlannedNode[] = [planned];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const around = next.scope.container;
    for (const each of [...next.orders, ...next.selectors]) {
      if (nodes.has(each)) continue;
      nodes.add(each);
      open.push(each);
    }
    // The nodes that a container waits for come before its content; the container itself does not.
    if (around !== undefined && !nodes.has(around)) open.push(around);
  }
  nodes.delete(planned);
  return nodes;
}

/** The tools that a node calls, with its bodies and the workflows that it runs. */
function toolsIn(
  { node }: PlannedNode,
  byName: ReadonlyMap<string, Graph>,
  visited: ReadonlySet<string> = new Set(),
): string[] {
  return nodesOf({ nodes: [node] }).flatMap((each) => {
    if (each.kind === 'call') return [each.tool];
    if (each.kind !== 'workflow' || visited.has(each.workflow)) return [];
    const graph = byName.get(each.workflow);
    if (graph === undefined) return [];
    const within = new Set([...visited, each.workflow]);
    return planOf(graph).main.root.nodes.flatMap((inner) => toolsIn(inner, byName, within));
  });
}

function workflowsIn(graph: Graph): string[] {
  return nodesOf(graph).flatMap((node) => (node.kind === 'workflow' ? [node.workflow] : []));
}
