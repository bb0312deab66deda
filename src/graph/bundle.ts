import type { Graph } from './model.js';
import { nodesOf } from './node-expressions.js';

/**
 * A graph with everything it needs to run: each workflow that its `workflow` nodes name, directly or not, stands among
 * its `tasks`, sorted by name and without tasks of its own. A workflow that runs itself is among them as well. What
 * `lookup` does not know is taken from the tasks the graph has already. A graph that runs no other comes back as it is.
 *
 * The same workflows give an equal graph. It goes through all of them: whoever needs it often keeps the result.
 * @throws Error naming every workflow that is missing; the check has reported them (`SW4026`).
 */
export function bundle(graph: Graph, lookup: (name: string) => Graph | undefined): Graph {
  const own = new Map(graph.tasks?.map((task) => [task.name, task]));
  const found = new Map<string, Graph>();
  const missing = new Set<string>();
  const open = [...workflowsIn(graph)];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (found.has(name) || missing.has(name)) continue;
    const task = lookup(name) ?? own.get(name);
    if (task === undefined) missing.add(name);
    else {
      found.set(name, withoutTasks(task));
      open.push(...workflowsIn(task));
    }
  }
  if (missing.size > 0) {
    throw new Error(
      `workflow ${graph.name} runs workflows that are not there: ${[...missing].sort().join(', ')}`,
    );
  }
  if (found.size === 0) return graph;
  const tasks = [...found].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, task]) => task);
  return { ...graph, tasks };
}

/** The workflows that a graph's own nodes name, nested ones included. */
export function workflowsIn(graph: Pick<Graph, 'nodes'>): ReadonlySet<string> {
  return new Set(nodesOf(graph).flatMap((node) => (node.kind === 'workflow' ? [node.workflow] : [])));
}

function withoutTasks({ tasks: _, ...task }: Graph): Graph {
  return task;
}
