import { type Diagnostic, diagnostic } from '../graph/diagnostics/diagnostic.js';
import type { Graph } from '../graph/model.js';
import { placeOfNode, relatedPlace } from './places.js';
import { isSelectedOnly, type RoutersOf } from './routes.js';
import { describeScope, type Placed, type PlacedScope, type Subject } from './subject.js';
import type { WaitsOf } from './waits.js';

/**
 * SW4013 steps that wait for one that always ends the run or its scope, SW4020 scopes in which nothing can begin,
 * SW4021 steps that nothing can select.
 */
export function checkReach(
  subject: Subject,
  waitsOf: WaitsOf,
  routersOf: RoutersOf,
  hasCycles: boolean,
): Diagnostic[] {
  return subject.scopes.flatMap((scope) => [
    ...checkEnds(scope, subject.graph, waitsOf, routersOf),
    ...checkSelection(scope, subject.graph, routersOf),
    // Steps that wait for each other cannot begin either, and that is said already.
    ...(hasCycles ? [] : checkStart(scope, subject.graph, routersOf)),
  ]);
}

function checkEnds(scope: PlacedScope, graph: Graph, waitsOf: WaitsOf, routersOf: RoutersOf): Diagnostic[] {
  /** For each step that is never reached the step that ends the run before it. */
  const ends = new Map<Placed, Placed>();
  const found: Diagnostic[] = [];
  for (const placed of scope.nodes) {
    // Forward edges are faults of their own, so that one pass in declaration order sees everything.
    for (const before of waitsOf(placed).all) {
      if (before === placed || ends.has(placed)) continue;
      const end = ends.get(before) ?? (alwaysEnds(before, graph, routersOf) ? before : undefined);
      if (end !== undefined) ends.set(placed, end);
    }
    const end = ends.get(placed);
    if (end === undefined) continue;
    const related = relatedPlace('the run ends here', end.node.source);
    const inner = end.node.kind === 'error' && scope.owner !== undefined;
    const params = {
      step: placed.node.id,
      end: end.node.id,
      ...(inner ? { ends: describeScope(scope) } : {}),
    };
    found.push(diagnostic('SW4013', placeOfNode(placed.node, graph), params, { related }));
  }
  return found;
}

/** A step that is skipped ends nothing, so every way for it to be skipped must be closed. */
function alwaysEnds(placed: Placed, graph: Graph, routersOf: RoutersOf): boolean {
  const { node } = placed;
  if (node.when !== undefined || (node.kind !== 'return' && node.kind !== 'error')) return false;
  if (isSelectedOnly(placed, routersOf)) return false;
  if (node.join === 'all_done') return true;
  const stopsAtFailure = graph.failFast !== false && graph.errorStrategy?.kind !== 'collect';
  return node.join === 'none_failed' && stopsAtFailure;
}

/** A step that only steps select which never run themselves never runs either. */
function checkSelection({ nodes }: PlacedScope, graph: Graph, routersOf: RoutersOf): Diagnostic[] {
  const idle = new Set(nodes.filter((each) => isSelectedOnly(each, routersOf)));
  let before = -1;
  while (idle.size !== before) {
    before = idle.size;
    for (const each of idle) if (routersOf(each).some((router) => !idle.has(router))) idle.delete(each);
  }
  return [...idle].map(({ node }) => diagnostic('SW4021', placeOfNode(node, graph), { step: node.id }));
}

function checkStart(scope: PlacedScope, graph: Graph, routersOf: RoutersOf): Diagnostic[] {
  if (scope.nodes.length === 0) return [];
  const beside = new Set(scope.nodes.map(({ node }) => node.id));
  const mayBegin = scope.nodes.some((each) => {
    const { after } = each.node;
    // What it waits for in vain is a fault of its own.
    return after.some((id) => !beside.has(id)) || (after.length === 0 && !isSelectedOnly(each, routersOf));
  });
  if (mayBegin) return [];
  const place = scope.owner === undefined ? graph.source : placeOfNode(scope.owner.node, graph);
  return [diagnostic('SW4020', place, { scope: describeScope(scope) })];
}
