import { type Diagnostic, diagnostic } from '../graph/diagnostics/diagnostic.js';
import type { Place } from '../graph/place.js';
import { nearestName } from '../graph/suggest.js';
import { uriFault } from '../graph/uri.js';
import type { WorkflowPlan } from '../plan/plan.js';
import type { CheckEnvironment } from './environment.js';
import { placeOfExpr, placeOfNode } from './places.js';

/** SW4002 unknown resources, SW4007 URIs that are none. A resource's own URI is reported where it is declared. */
export function checkResources({ graph, nodes }: WorkflowPlan, environment: CheckEnvironment): Diagnostic[] {
  const found: Diagnostic[] = [];
  const check = (
    resource: string,
    uri: unknown,
    place: Place | undefined,
    uriPlace: Place | undefined,
  ): void => {
    const registered = environment.resources.get(resource);
    if (registered === undefined) {
      const suggestion = nearestName(resource, environment.resources.keys());
      found.push(diagnostic('SW4002', place, { workflow: graph.name, resource, suggestion }));
    }
    if (uri === undefined || uri === registered?.uri) return;
    const why = typeof uri === 'string' ? uriFault(uri) : 'it is not text';
    if (why !== undefined) found.push(diagnostic('SW4007', uriPlace, { uri: String(uri), why }));
  };
  for (const { resource, uri, source } of graph.instructions) {
    const place = source ?? graph.source;
    check(resource, uri, place, place);
  }
  for (const { node } of nodes) {
    if (node.kind !== 'resource') continue;
    const place = placeOfNode(node, graph);
    const uri = node.uri.kind === 'literal' ? node.uri.value : undefined;
    check(node.resource, uri, place, placeOfExpr(node.uri, place));
  }
  return found;
}
