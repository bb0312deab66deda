import { type Diagnostic, diagnostic } from '../diagnostics/diagnostic.js';
import { references, unboundLocals } from '../expression/references.js';
import type { Expr, RefExpr } from '../expression/tree.js';
import type { Node } from '../model.js';
import { fallbackValue, sideExpressions, valueExpressions } from '../node-expressions.js';
import type { Place } from '../place.js';
import { nearestName } from '../suggest.js';
import { placeOfExpr, placeOfNode, relatedPlace, type Subject } from './places.js';

/** What is known of a failure, as `error` in the value that stands in for it. */
const ERROR_FIELDS = ['code', 'message', 'attempts', 'node'];

/**
 * SW3001 unknown bindings and local names, SW3002 undeclared arguments, SW3004 steps that are bound after their use,
 * SW3012 failures named where there is none.
 */
export function checkReferences(subject: Subject): Diagnostic[] {
  const { graph } = subject;
  const found = graph.nodes.flatMap((node, index) => {
    const source = placeOfNode(node, graph);
    const fallback = fallbackValue(node);
    return [...valueExpressions(node), ...sideExpressions(node), ...summaryOf(node)].flatMap((expr) => [
      ...refsOf(expr).flatMap((ref) =>
        checkReference(subject, ref, placeOfExpr(ref, source), { node, index }),
      ),
      ...checkErrors(node, expr, expr === fallback, source),
      ...checkLocals(expr, source),
    ]);
  });
  if (graph.returns === undefined) return found;
  const returned = refsOf(graph.returns);
  return [
    ...found,
    ...returned.flatMap((ref) => checkReference(subject, ref, placeOfExpr(ref, graph.source))),
    ...checkLocals(graph.returns, graph.source),
  ];
}

function summaryOf({ summary }: Node): Expr[] {
  return summary === undefined ? [] : [summary];
}

function refsOf(expr: Expr): RefExpr[] {
  return references(expr).map(({ ref }) => ref);
}

function checkErrors(node: Node, expr: Expr, isFallback: boolean, source: Place | undefined): Diagnostic[] {
  return refsOf(expr).flatMap((ref) => {
    if (ref.root !== 'error') return [];
    const place = placeOfExpr(ref, source);
    if (!isFallback) return [diagnostic('SW3012', place, { step: node.id })];
    const field = String(ref.path[0]);
    if (ERROR_FIELDS.includes(field)) return [];
    const suggestion = nearestName(field, ERROR_FIELDS);
    return [diagnostic('SW3001', place, { name: `error.${field}`, suggestion })];
  });
}

function checkLocals(expr: Expr, source: Place | undefined): Diagnostic[] {
  return unboundLocals(expr).map((ref) =>
    diagnostic('SW3001', placeOfExpr(ref, source), { name: String(ref.path[0]) }),
  );
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
