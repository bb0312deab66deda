import { type Diagnostic, diagnostic } from '../diagnostics/diagnostic.js';
import { references } from '../expression/references.js';
import type { Expr, RefExpr } from '../expression/tree.js';
import type { Node } from '../model.js';
import { sideExpressions, valueExpressions } from '../node-expressions.js';
import type { Place } from '../place.js';
import { nearestName } from '../suggest.js';
import { placeOfExpr, placeOfNode, relatedPlace, type Subject } from './places.js';

/** SW3001 unknown bindings, SW3002 undeclared arguments, SW3004 steps that are bound after their use. */
export function checkReferences(subject: Subject): Diagnostic[] {
  const { graph } = subject;
  const found = graph.nodes.flatMap((node, index) => {
    const source = placeOfNode(node, graph);
    return refsOf([...valueExpressions(node), ...sideExpressions(node)]).flatMap((ref) =>
      checkReference(subject, ref, placeOfExpr(ref, source), { node, index }),
    );
  });
  const returned = graph.returns === undefined ? [] : refsOf([graph.returns]);
  return [
    ...found,
    ...returned.flatMap((ref) => checkReference(subject, ref, placeOfExpr(ref, graph.source))),
  ];
}

function refsOf(exprs: readonly Expr[]): RefExpr[] {
  return exprs.flatMap(references).map(({ ref }) => ref);
}

function checkReference(
  { graph, nodes }: Subject,
  ref: RefExpr,
  place: Place | undefined,
  user?: { readonly node: Node; readonly index: number },
): Diagnostic[] {
  const name = String(ref.path[0]);
  if (ref.root === 'inputs') {
    const known = graph.inputs.map((input) => input.name);
    if (known.includes(name)) return [];
    return [diagnostic('SW3002', place, { name, suggestion: nearestName(name, known) })];
  }
  if (ref.root !== 'steps') return [];
  const target = nodes.get(name);
  if (target === undefined) {
    return [diagnostic('SW3001', place, { name, suggestion: nearestName(name, nodes.keys()) })];
  }
  if (user === undefined || target.index <= user.index) return [];
  const related = relatedPlace('bound here', target.node.source);
  return [diagnostic('SW3004', place, { name, step: user.node.id }, { related })];
}
