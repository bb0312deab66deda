import { type Diagnostic, diagnostic } from '../graph/diagnostics/diagnostic.js';
import type { ForeachNode } from '../graph/model.js';
import { isValidName, NAME_RULES, type NamedKind } from '../graph/names.js';
import type { Place } from '../graph/place.js';
import { armIdsOf } from '../plan/faults.js';
import type { PlannedNode, WorkflowPlan } from '../plan/plan.js';
import { placeOfNode, relatedPlace } from './places.js';

/**
 * SW1002 bad names, SW1008 and SW4009 duplicates, SW4008 empty names and descriptions, SW4016 two arms of one name,
 * SW4032 loops inside each other that name the same.
 */
export function checkNames(plan: WorkflowPlan): Diagnostic[] {
  const { graph } = plan;
  const found: Diagnostic[] = [];
  const named = `workflow \`${graph.name}\``;
  if (isBlank(graph.name)) found.push(empty('the name of a workflow', graph.source));
  else found.push(...nameFault('workflow', graph.name, graph.source));
  if (isBlank(graph.description)) found.push(empty(`the description of ${named}`, graph.source));
  return [...found, ...checkArguments(plan), ...checkFields(plan), ...checkSteps(plan)];
}

function checkArguments({ graph }: WorkflowPlan): Diagnostic[] {
  const found: Diagnostic[] = [];
  const seen = new Map<string, Place | undefined>();
  for (const { name, description, source } of graph.inputs) {
    const place = source ?? graph.source;
    if (seen.has(name)) {
      const related = relatedPlace('first bound here', seen.get(name));
      found.push(diagnostic('SW1008', place, { field: name }, { related }));
      continue;
    }
    seen.set(name, place);
    if (isBlank(name)) found.push(empty(`the name of an argument of workflow \`${graph.name}\``, place));
    else found.push(...nameFault('argument', name, place));
    if (isBlank(description)) found.push(empty(`the description of argument \`${name}\``, place));
  }
  return found;
}

function checkFields({ graph }: WorkflowPlan): Diagnostic[] {
  const seen = new Map<string, Place | undefined>();
  return (graph.state ?? []).flatMap(({ name, source }) => {
    const place = source ?? graph.source;
    if (seen.has(name)) {
      const related = relatedPlace('first bound here', seen.get(name));
      return [diagnostic('SW1008', place, { field: name }, { related })];
    }
    seen.set(name, place);
    return nameFault('step', name, place, 'state field');
  });
}

function checkSteps(plan: WorkflowPlan): Diagnostic[] {
  return plan.nodes.flatMap((planned) => [
    ...checkId(planned, plan),
    ...checkArms(planned, plan),
    ...checkLoop(planned, plan),
  ]);
}

function checkId(planned: PlannedNode, { graph, byId }: WorkflowPlan): Diagnostic[] {
  const { node } = planned;
  const place = placeOfNode(node, graph);
  const first = byId.get(node.id);
  if (first !== undefined && first !== planned) {
    const related = relatedPlace('first used here', first.node.source);
    return [diagnostic('SW4009', place, { id: node.id }, { related })];
  }
  if (isBlank(node.id)) return [empty(`the id of a step of workflow \`${graph.name}\``, place)];
  return nameFault('step', node.id, place);
}

function checkArms({ node }: PlannedNode, { graph }: WorkflowPlan): Diagnostic[] {
  const arms = armIdsOf(node);
  const twice = new Set(arms.filter((arm, index) => arms.indexOf(arm) < index));
  return [...twice].map((arm) => diagnostic('SW4016', placeOfNode(node, graph), { step: node.id, arm }));
}

function checkLoop({ node, scope }: PlannedNode, { graph }: WorkflowPlan): Diagnostic[] {
  if (node.kind !== 'foreach') return [];
  const place = placeOfNode(node, graph);
  const names = namesOfLoop(node);
  const bad = names.flatMap((name) => nameFault('step', name, place, 'item'));
  const taken = [...scope.loops].reverse().flatMap(({ node: outer }) => {
    const outerNames = outer.kind === 'foreach' ? namesOfLoop(outer) : [];
    const name = names.find((each) => outerNames.includes(each));
    return name === undefined ? [] : [diagnostic('SW4032', place, { step: node.id, name, outer: outer.id })];
  });
  return [...bad, ...taken];
}

function namesOfLoop({ as, indexAs }: ForeachNode): string[] {
  return indexAs === undefined ? [as] : [as, indexAs];
}

function isBlank(text: string): boolean {
  return text.trim() === '';
}

function empty(what: string, place: Place | undefined): Diagnostic {
  return diagnostic('SW4008', place, { what });
}

/** @param called what has the name, in the message. Default: its kind. */
function nameFault(
  kind: NamedKind,
  name: string,
  place: Place | undefined,
  called: string = kind,
): Diagnostic[] {
  if (isValidName(kind, name)) return [];
  return [diagnostic('SW1002', place, { kind: called, name, rule: NAME_RULES[kind].source })];
}
