import type { Graph } from '../graph/model.js';
import { nodesOf } from '../graph/nodes.js';
import { planOf } from '../plan/compile.js';
import type { PlannedNode } from '../plan/plan.js';
import { callsIn } from './derived-hints.js';
import type { PlanningHints } from './tool.js';

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
  const found = new Map<string, HintContradiction>();
  const byName = new Map(graphs.map((graph) => [graph.name, graph]));
  const inside = new Set(graphs.flatMap((graph) => workflowsIn(graph)));
  for (const graph of graphs) {
    const before = toolsBefore(graph, byName);
    const report = (tool: string, hint: 'requires' | 'next', named: string): void => {
      const key = JSON.stringify([tool, hint, named]);
      if (!found.has(key)) found.set(key, { tool, hint, named, workflow: graph.name });
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
  return [...found.values()];
}

/** Each call of a workflow with the tools that may have been called before it. */
function toolsBefore(
  graph: Graph,
  byName: ReadonlyMap<string, Graph>,
): { readonly tool: string; readonly earlier: ReadonlySet<string> }[] {
  const { main } = planOf(graph);
  return callsIn(main).map(({ tool, planned }) => {
    const earlier = new Set<string>();
    for (const node of nodesBefore(planned)) for (const each of toolsIn(node, byName)) earlier.add(each);
    return { tool, earlier };
  });
}

/** The nodes that a node waits for, directly or not, and those that the containers around it wait for. */
function nodesBefore(planned: PlannedNode): Set<PlannedNode> {
  const found = new Set<PlannedNode>();
  const left: PlannedNode[] = [planned];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const around = next.scope.container;
    for (const each of [...next.orders, ...next.selectors]) {
      if (found.has(each)) continue;
      found.add(each);
      left.push(each);
    }
    // What a container waits for comes before what is in it; the container itself does not.
    if (around !== undefined && !found.has(around)) left.push(around);
  }
  found.delete(planned);
  return found;
}

/** The tools that a node calls, with its bodies and the workflows that it runs. */
function toolsIn(
  { node }: PlannedNode,
  byName: ReadonlyMap<string, Graph>,
  seen: ReadonlySet<string> = new Set(),
): string[] {
  return nodesOf({ nodes: [node] }).flatMap((each) => {
    if (each.kind === 'call') return [each.tool];
    if (each.kind !== 'workflow' || seen.has(each.workflow)) return [];
    const graph = byName.get(each.workflow);
    if (graph === undefined) return [];
    const within = new Set([...seen, each.workflow]);
    return planOf(graph).main.root.nodes.flatMap((inner) => toolsIn(inner, byName, within));
  });
}

function workflowsIn(graph: Graph): string[] {
  return nodesOf(graph).flatMap((node) => (node.kind === 'workflow' ? [node.workflow] : []));
}
