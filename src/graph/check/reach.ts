import { type Diagnostic, diagnostic } from '../diagnostics/diagnostic.js';
import type { Graph, Node } from '../model.js';
import { dependencies } from './order.js';
import { placeOfNode, relatedPlace, type Subject } from './places.js';

/** SW4013: steps that wait for one that always ends the run. */
export function checkReach(subject: Subject): Diagnostic[] {
  const { graph, nodes } = subject;
  const waitsFor = dependencies(subject);
  /** For each step that is never reached the step that ends the run before it. */
  const ends = new Map<string, Node>();
  const found: Diagnostic[] = [];
  for (const node of graph.nodes) {
    // Forward edges are faults of their own, so that one pass in declaration order sees everything.
    for (const id of waitsFor.get(node.id) ?? []) {
      const before = nodes.get(id)?.node;
      if (before === undefined || before === node) continue;
      const end = ends.get(id) ?? (alwaysEnds(before, graph) ? before : undefined);
      if (end !== undefined && !ends.has(node.id)) ends.set(node.id, end);
    }
    const end = ends.get(node.id);
    if (end === undefined) continue;
    const related = relatedPlace('the run ends here', end.source);
    const params = { step: node.id, end: end.id };
    found.push(diagnostic('SW4013', placeOfNode(node, graph), params, { related }));
  }
  return found;
}

/** A step that is skipped ends nothing, so every way for it to be skipped must be closed. */
function alwaysEnds(node: Node, graph: Graph): boolean {
  if (node.when !== undefined || (node.kind !== 'return' && node.kind !== 'error')) return false;
  if (node.join === 'all_done') return true;
  const stopsAtFailure = graph.failFast !== false && graph.errorStrategy?.kind !== 'collect';
  return node.join === 'none_failed' && stopsAtFailure;
}
