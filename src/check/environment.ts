import type { Json, JsonSchema } from '../graph/json.js';
import type { Graph } from '../graph/model.js';
import { workflowsIn } from '../graph/nodes.js';
import type { ToolEffects } from '../graph/tool-safety.js';

/** The registered tools, resources and workflows that a graph may use. */
export interface CheckEnvironment {
  /** By name. */
  readonly tools: ReadonlyMap<string, ToolSignature>;
  /** By name. Their URIs are checked where they are declared. */
  readonly resources: ReadonlyMap<string, { readonly uri: string }>;
  /** By name. If missing, the workflows that a graph runs are not checked. */
  readonly workflows?: ReadonlyMap<string, Graph>;
}

/** Why a value does not fit a schema, as the end of a sentence about it; `undefined` for one that fits. */
export type ValueFault = (schema: JsonSchema, value: Json) => string | undefined;

/** The input, the output and the side effects of a tool. */
export interface ToolSignature extends ToolEffects {
  readonly inputSchema: JsonSchema;
  /** If missing, the output is unknown. */
  readonly outputSchema?: JsonSchema;
  /** The inputs whose values must not be shown. */
  readonly secret?: readonly string[] | undefined;
  /** The tool of an upstream server that it calls, which spec files may name as `server/tool`. */
  readonly upstream?: { readonly server: string; readonly tool: string } | undefined;
}

/** What graphs may use of a registry beside these workflows. */
export function environmentOf(
  {
    tools,
    resources,
  }: {
    readonly tools: Readonly<Record<string, ToolSignature>>;
    readonly resources: Readonly<Record<string, { readonly uri: string }>>;
  },
  graphs: readonly Graph[],
): CheckEnvironment {
  return {
    tools: byName(tools),
    resources: byName(resources),
    workflows: new Map(graphs.map((graph) => [graph.name, graph])),
  };
}

/** Adds a graph's own tasks. A registered workflow of the same name takes precedence. */
export function withTasks(environment: CheckEnvironment, { tasks }: Graph): CheckEnvironment {
  if (tasks === undefined) return environment;
  const workflows = new Map([
    ...tasks.map((task) => [task.name, task] as const),
    ...(environment.workflows ?? []),
  ]);
  return { ...environment, workflows };
}

/** The workflows that nodes run, directly or indirectly. */
export function reachableFrom(
  part: Pick<Graph, 'nodes'>,
  { workflows }: CheckEnvironment,
): {
  readonly graphs: readonly Graph[];
  /** False if some of them are unknown. */
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
  const callees = [...graphs.values()].filter((graph) => graph !== undefined);
  return { graphs: callees, isWhole: callees.length === graphs.size };
}

const MAPS = new WeakMap<object, ReadonlyMap<string, unknown>>();

/** The entries of a part of a registry by name: one map, so that results about it can be recalled. */
function byName<T>(entries: Readonly<Record<string, T>>): ReadonlyMap<string, T> {
  const map = (MAPS.get(entries) as ReadonlyMap<string, T> | undefined) ?? new Map(Object.entries(entries));
  MAPS.set(entries, map);
  return map;
}

const runsOthers = oncePerGraph((graph) => workflowsIn(graph).size > 0);
const ALONE: ReturnType<typeof reachableFrom> = { graphs: [], isWhole: true };

/**
 * Results about graphs that follow from a graph, the workflows that it runs, and the tools and resources of one registry.
 * Graphs are equal if they are one object: what reads files again gives unchanged graphs as they were.
 */
export class GraphMemo<T> {
  readonly #entries = new WeakMap<Graph, { readonly uses: readonly Graph[]; readonly value: T }>();

  get(graph: Graph, environment: CheckEnvironment, make: () => T): T {
    const { graphs: uses, isWhole } = runsOthers(graph)
      ? reachableFrom(graph, withTasks(environment, graph))
      : ALONE;
    // What is not there may be suggested by its name: that depends on all workflows.
    if (!isWhole) return make();
    const entry = this.#entries.get(graph);
    const isSame =
      entry !== undefined &&
      entry.uses.length === uses.length &&
      entry.uses.every((each, index) => each === uses[index]);
    if (isSame) return entry.value;
    const value = make();
    this.#entries.set(graph, { uses, value });
    return value;
  }
}

/** A function of graphs alone that is evaluated once for each graph. */
export function oncePerGraph<T>(make: (graph: Graph) => T): (graph: Graph) => T {
  const values = new WeakMap<Graph, { readonly value: T }>();
  return (graph) => {
    const entry = values.get(graph) ?? { value: make(graph) };
    values.set(graph, entry);
    return entry.value;
  };
}
