import { type Diagnostic, diagnostic } from '../graph/diagnostics/diagnostic.js';
import { nearestName } from '../graph/suggest.js';
import type { WorkflowPlan } from '../plan/plan.js';
import { misfitOf } from './fitting.js';
import { placeOfExpr, placeOfNode } from './places.js';
import { viewOf } from './schema-view.js';
import { typeMismatch } from './type-mismatch.js';
import type { NamesIn } from './values.js';

/**
 * SW4031 fields of the state that are written or listed and not there, SW4012 values of a type that cannot fit, SW4035
 * first values that do not fit.
 */
export function checkState(plan: WorkflowPlan, namesIn: NamesIn): Diagnostic[] {
  return [...checkInitials(plan), ...checkUses(plan, namesIn)];
}

function checkInitials({ graph }: WorkflowPlan): Diagnostic[] {
  return (graph.state ?? []).flatMap(({ name, schema, initial, source = graph.source }) => {
    const problem = initial === undefined ? undefined : misfitOf(initial, viewOf(schema));
    return problem === undefined ? [] : [diagnostic('SW4035', source, { field: name, problem })];
  });
}

function checkUses({ graph, nodes }: WorkflowPlan, namesIn: NamesIn): Diagnostic[] {
  const fields = new Map(graph.state?.map(({ name, schema }) => [name, schema]));
  return nodes.flatMap(({ node, scope }) => {
    const source = placeOfNode(node, graph);
    const unknown = (field: string, place = source): Diagnostic =>
      diagnostic('SW4031', place, {
        workflow: graph.name,
        field,
        suggestion: nearestName(field, fields.keys()),
      });
    const listed = (node.reads ?? []).filter((field) => !fields.has(field)).map((field) => unknown(field));
    if (node.kind !== 'set') return listed;
    const written = node.updates.flatMap(({ field, value }) => {
      const place = placeOfExpr(value, source);
      const schema = fields.get(field);
      if (schema === undefined) return [unknown(field, place)];
      const mismatch = typeMismatch(value, viewOf(schema), namesIn(scope));
      if (mismatch === undefined) return [];
      return [diagnostic('SW4012', place, { step: node.id, input: field, ...mismatch })];
    });
    return [...listed, ...written];
  });
}
