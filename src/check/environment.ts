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
    tools: new Map(Object.entries(tools)),
    resources: new Map(Object.entries(resources)),
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
