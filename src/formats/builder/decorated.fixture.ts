import type { Expr } from '../../graph/expression/tree.js';
import type { Json } from '../../graph/json.js';
import { GRAPH_VERSION, type Graph, type JoinRule, type Node } from '../../graph/model.js';

/** What codegen makes of a decorated workflow, written by hand. Every function gives one piece of that form. */

export const literal = (value: Json): Expr => ({ kind: 'literal', value });

/** `this.task`, for an argument. */
export const inputs = (name: string): Expr => ({ kind: 'ref', root: 'inputs', path: [name] });

/** `this.list.pages[0]`, for a step. */
export const steps = (...path: (string | number)[]): Expr => ({ kind: 'ref', root: 'steps', path });

export const dict = (entries: Readonly<Record<string, Expr>>): Extract<Expr, { kind: 'dict' }> => ({
  kind: 'dict',
  entries: Object.entries(entries).map(([key, value]) => ({ key, value })),
});

/** The text of a resource node: `read(R)`. */
export const textOf = (id: string): Expr => ({ kind: 'get', of: steps(id), key: literal('text') });

/** What is left to say about a node: everything but its place in the order. */
type Bare<N> = N extends Node ? Omit<N, 'after' | 'join' | 'executor'> : never;

/** A workflow class whose fields make these nodes, each after the one before it. */
export function decorated(
  graph: Pick<Graph, 'name' | 'description'> & Partial<Omit<Graph, 'nodes'>>,
  nodes: readonly Bare<Node>[],
  join: JoinRule = 'none_failed',
): Graph {
  const inOrder = nodes.map(
    (node, index) =>
      ({
        ...node,
        after: nodes
          .slice(0, index)
          .slice(-1)
          .map(({ id }) => id),
        join,
        executor: 'server',
      }) as Node,
  );
  return { graphVersion: GRAPH_VERSION, inputs: [], instructions: [], ...graph, nodes: inOrder };
}
