import type { Node } from '../graph/kinds/node.js';
import type { Graph } from '../graph/model.js';
import type { Place, Span } from '../graph/span.js';
import type { ScopePlan } from '../plan/plan.js';

/** The source location of a node, or of its graph. */
export function locationOfNode(node: Node, graph: Graph): Place | undefined {
  return node.source ?? graph.source;
}

/** The source location of an expression, or of its node if the front end recorded none. */
export function locationOfExpr(
  expr: { readonly at?: Span } | undefined,
  source: Place | undefined,
): Place | undefined {
  return source === undefined || expr?.at === undefined ? source : { file: source.file, span: expr.at };
}

/** A related location, if it is known. */
export function relatedLocation(
  message: string,
  place: Place | undefined,
): { message: string; place: Place }[] {
  return place === undefined ? [] : [{ message, place }];
}

/** The name of a scope in messages: `the workflow`, ``arm `a` of step `x` ``. */
export function describeScope({ container, arm }: ScopePlan): string {
  if (container === undefined) return 'the workflow';
  const { id } = container.node;
  return arm === undefined ? `loop \`${id}\`` : `arm \`${arm}\` of step \`${id}\``;
}
