import { oncePerGraph } from '../check/environment.js';
import { references } from '../graph/expression/traversal.js';
import type { Expr } from '../graph/expression/tree.js';
import type { JsonObject } from '../graph/json.js';
import type { Graph } from '../graph/model.js';
import { nodesOf, repeatedTools } from '../graph/nodes.js';
import { planOf } from '../plan/compile.js';
import type { PlannedNode, WorkflowPlan } from '../plan/plan.js';
import { nodesBefore } from '../plan/reachability.js';
import { fallbackOf, sourcesOf } from '../print/shapes.js';
import type { PlanningHints } from './tool.js';

export interface ToolUse {
  /** Tools directly before it in half of the workflows that call it, or more: a habit of authors, and no law. */
  readonly oftenAfter: readonly string[];
  /** Tools that give it values in all workflows that call it. */
  readonly requires: readonly string[];
}

interface ToolCall {
  readonly tool: string;
  readonly planned: PlannedNode;
  /** The calls directly before it. */
  readonly previous: readonly PlannedNode[];
}

/** The use of tools in graphs, by tool. It is computed from the graphs alone, and so is never stale. */
export function toolUses(graphs: Iterable<Graph>): ReadonlyMap<string, ToolUse> {
  /** For each tool, its workflows, and the tools before it in each of them. */
  const previous = new Map<string, Map<Graph, Set<string>>>();
  const sources = new Map<string, Set<string>>();
  /** Pairs of tools of which one has given the other a value. */
  const flows = new Set<string>();
  for (const graph of graphs) {
    for (const { tool, before, all, own } of usesIn(graph)) {
      const byGraph = previous.get(tool) ?? new Map<Graph, Set<string>>();
      previous.set(tool, byGraph.set(graph, new Set([...(byGraph.get(graph) ?? []), ...before])));
      for (const source of all) flows.add(JSON.stringify([source, tool]));
      const others = sources.get(tool);
      sources.set(tool, others === undefined ? own : new Set([...others].filter((each) => own.has(each))));
    }
  }
  return new Map(
    [...previous].map(([tool, byGraph]) => {
      const before = [...byGraph.values()];
      const isOften = (other: string): boolean =>
        2 * before.filter((each) => each.has(other)).length >= before.length;
      const goesBack = (source: string): boolean => flows.has(JSON.stringify([tool, source]));
      const requires = [...(sources.get(tool) ?? [])].filter((each) => each !== tool && !goesBack(each));
      const oftenAfter = [...union(before)].filter(
        (each) => each !== tool && !requires.includes(each) && isOften(each),
      );
      return [tool, { oftenAfter: oftenAfter.sort(), requires: requires.sort() }];
    }),
  );
}

/** The calls of a workflow: for each the tools before it, all that give it values, and those that it requires. */
const usesIn = oncePerGraph((graph) => {
  const { main } = planOf(graph);
  // What a generic tool gives depends on its input, and so does what it takes.
  const generic = repeatedTools(main.nodes.map(({ node }) => node));
  return callsIn(main).map(({ tool, planned, previous }) => {
    const all = toolsBehind(planned, main);
    const own = new Set([...all].filter((each) => !generic.has(each) && !generic.has(tool)));
    return { tool, before: previous.flatMap((each) => toolOf(each) ?? []), all, own };
  });
});

/** Declared hints, completed by the use of the tool in workflows; undefined without either. */
export function withUse(declared: JsonObject | undefined, use: ToolUse | undefined): JsonObject | undefined {
  const { oftenAfter = [], requires = [] } = use ?? {};
  const all = {
    ...(requires.length === 0 ? {} : { requires }),
    ...(oftenAfter.length === 0 ? {} : { oftenAfter }),
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
