import type { Graph, Node } from '../model.js';
import type { Place, Span } from '../place.js';

/** A graph with an index of its steps, as every family of checks needs it. */
export interface Subject {
  readonly graph: Graph;
  /** By id; of two nodes with one id the first. */
  readonly nodes: ReadonlyMap<string, { readonly node: Node; readonly index: number }>;
}

export function subjectOf(graph: Graph): Subject {
  const nodes = new Map<string, { node: Node; index: number }>();
  for (const [index, node] of graph.nodes.entries()) {
    if (!nodes.has(node.id)) nodes.set(node.id, { node, index });
  }
  return { graph, nodes };
}

/** Where a node was written, or else its graph. */
export function placeOfNode(node: Node, graph: Graph): Place | undefined {
  return node.source ?? graph.source;
}

/** Where an expression of a node was written, as precisely as the front end said. */
export function placeOfExpr(
  expr: { readonly at?: Span } | undefined,
  source: Place | undefined,
): Place | undefined {
  return source === undefined || expr?.at === undefined ? source : { file: source.file, span: expr.at };
}

/** A related place, where there is one. */
export function relatedPlace(message: string, place: Place | undefined): { message: string; place: Place }[] {
  return place === undefined ? [] : [{ message, place }];
}
