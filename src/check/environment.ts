import { workflowsIn } from '../graph/bundle.js';
import type { JsonSchema } from '../graph/json.js';
import type { Graph } from '../graph/model.js';
import type { ToolEffects } from '../graph/tool-safety.js';

/** What a graph may use: everything that is registered beside it. */
export interface CheckEnvironment {
  /** By name. */
  readonly tools: ReadonlyMap<string, ToolSignature>;
  /** By name. Their URIs are checked where they are declared. */
  readonly resources: ReadonlyMap<string, { readonly uri: string }>;
  /** By name. Without them nothing is said of the workflows a graph runs. */
  readonly workflows?: ReadonlyMap<string, Graph>;
}

/** What a call of a tool takes and gives. */
export interface ToolSignature extends ToolEffects {
  readonly inputSchema: JsonSchema;
  /** Without it nothing is known about the output. */
  readonly outputSchema?: JsonSchema;
}

/** A graph's own tasks are there wherever nothing of the same name is registered. */
export function withTasks(environment: CheckEnvironment, { tasks }: Graph): CheckEnvironment {
  if (tasks === undefined) return environment;
  const workflows = new Map([
    ...tasks.map((task) => [task.name, task] as const),
    ...(environment.workflows ?? []),
  ]);
  return { ...environment, workflows };
}

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
