import type { Graph, Node } from '../graph/model.js';
import type { Place, Span } from '../graph/place.js';
import type { ScopePlan } from '../plan/plan.js';

/** Where a node was written, or else its graph. */
export function locationOfNode(node: Node, graph: Graph): Place | undefined {
  return node.source ?? graph.source;
}

/** Where an expression of a node was written, as precisely as the front end said. */
export function locationOfExpr(
  expr: { readonly at?: Span } | undefined,
  source: Place | undefined,
): Place | undefined {
  return source === undefined || expr?.at === undefined ? source : { file: source.file, span: expr.at };
}

/** A related place, where there is one. */
export function relatedLocation(
  message: string,
  place: Place | undefined,
): { message: string; place: Place }[] {
  return place === undefined ? [] : [{ message, place }];
}

/** As a text names it: `the workflow`, ``arm `a` of step `x` ``. */
export function describeScope({ container, arm }: ScopePlan): string {
  if (container === undefined) return 'the workflow';
  const { id } = container.node;
  return arm === undefined ? `loop \`${id}\`` : `arm \`${arm}\` of step \`${id}\``;
}
