import type { Graph } from '../graph/model.js';
import { workflowsIn } from '../graph/nodes.js';
import { type CheckEnvironment, reachableFrom } from './environment.js';

const runsOthers = oncePerGraph((graph) => workflowsIn(graph).size > 0);
const ALONE: ReturnType<typeof reachableFrom> = { graphs: [], isWhole: true };

/**
 * Results about graphs that follow from a graph, the workflows that it runs, and the tools and resources of one registry.
 * Graphs are equal if they are one object: what reads files again gives unchanged graphs as they were.
 */
export class GraphMemo<T> {
  readonly #entries = new WeakMap<Graph, { readonly uses: readonly Graph[]; readonly value: T }>();

  get(graph: Graph, environment: CheckEnvironment, make: () => T): T {
    const { graphs: uses, isWhole } = runsOthers(graph) ? reachableFrom(graph, environment) : ALONE;
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
