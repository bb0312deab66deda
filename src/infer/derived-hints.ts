import { references } from '../graph/expression/traversal.js';
import type { JsonObject } from '../graph/json.js';
import type { Graph } from '../graph/model.js';
import { planOf } from '../plan/compile.js';
import type { PlannedNode, WorkflowPlan } from '../plan/plan.js';
import { nodesBefore } from '../plan/reachability.js';
import { fallbackOf, sourcesOf } from '../print/shapes.js';

/** What workflows say about the tools that they call. */
export interface ToolUse {
  /** Tools that are called directly after it, in some workflow. */
  readonly next: readonly string[];
  /** Tools whose results it takes, in all workflows that call it. */
  readonly requires: readonly string[];
}

/** A call of a tool in a workflow. */
export interface ToolCall {
  readonly tool: string;
  readonly planned: PlannedNode;
  /** The calls directly before it. */
  readonly previous: readonly PlannedNode[];
}

/** What graphs say about the tools that they call, by tool. It follows from the graphs alone, and so is never stale. */
export function toolUses(graphs: Iterable<Graph>): ReadonlyMap<string, ToolUse> {
  const next = new Map<string, Set<string>>();
  const requires = new Map<string, Set<string>>();
  for (const graph of graphs) {
    const { main } = planOf(graph);
    for (const { tool, planned, previous } of callsIn(main)) {
      next.set(tool, next.get(tool) ?? new Set());
      for (const before of previous) {
        const other = toolOf(before);
        if (other !== undefined && other !== tool) next.set(other, (next.get(other) ?? new Set()).add(tool));
      }
      const sources = toolsRead(planned, main);
      sources.delete(tool);
      const known = requires.get(tool);
      requires.set(
        tool,
        known === undefined ? sources : new Set([...known].filter((each) => sources.has(each))),
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

/** Declared hints, and for what is not declared what the workflows say; nothing if there is neither. */
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
export function callsIn({ nodes }: WorkflowPlan): ToolCall[] {
  return nodes.flatMap((planned) => {
    const tool = toolOf(planned);
    return tool === undefined ? [] : [{ tool, planned, previous: [...callsBefore(planned, new Set())] }];
  });
}

function toolOf({ node }: PlannedNode): string | undefined {
  return node.kind === 'call' ? node.tool : undefined;
}

/** The calls directly before a node: of its dependencies, or else of the container around it. */
function callsBefore(planned: PlannedNode, seen: Set<PlannedNode>): Set<PlannedNode> {
  if (seen.has(planned)) return new Set();
  seen.add(planned);
  const { node, scope } = planned;
  // A step that takes over from a failed one does not follow its success.
  const routers = planned.selectors.filter(
    (router) => fallbackOf(router.node) !== node.id && router.ordinal < planned.ordinal,
  );
  const sources = sourcesOf(planned);
  const earlier = planned.needsSelection ? nodesBefore(routers) : new Set();
  const before = [...sources.filter((source) => !earlier.has(source)), ...routers];
  if (before.length > 0) return union(before.map((each) => lastCalls(each, seen)));
  return scope.container === undefined ? new Set() : callsBefore(scope.container, seen);
}

/** The last calls of a node: itself, those at the end of its bodies, or else those before it. */
function lastCalls(planned: PlannedNode, seen: Set<PlannedNode>): Set<PlannedNode> {
  if (toolOf(planned) !== undefined) return new Set([planned]);
  const ends = planned.parts.flatMap(({ nodes }) =>
    nodes.filter(({ successors }) => successors.length === 0),
  );
  const inside = union(ends.map((each) => lastCalls(each, seen)));
  return inside.size > 0 ? inside : callsBefore(planned, seen);
}

function union<T>(sets: readonly ReadonlySet<T>[]): Set<T> {
  return new Set(sets.flatMap((set) => [...set]));
}

/** The tools whose results a call takes, directly or by way of computed steps. */
function toolsRead(planned: PlannedNode, { byId }: WorkflowPlan): Set<string> {
  const found = new Set<string>();
  const left: PlannedNode[] = [planned];
  const seen = new Set<PlannedNode>(left);
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const { node } = next;
    const expr = node.kind === 'call' ? node.input : node.kind === 'compute' ? node.value : undefined;
    for (const { ref } of expr === undefined ? [] : references(expr)) {
      const [id] = ref.path;
      const source = ref.root === 'steps' && typeof id === 'string' ? byId.get(id) : undefined;
      if (source === undefined || seen.has(source)) continue;
      seen.add(source);
      const tool = toolOf(source);
      if (tool !== undefined) found.add(tool);
      else left.push(source);
    }
  }
  return found;
}
