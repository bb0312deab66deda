import { type Diagnostic, diagnostic } from '../diagnostics/diagnostic.js';
import { BINDING_RULE, isValidBinding, isValidName, NAME_RULE } from '../names.js';
import type { Place } from '../place.js';
import { placeOfNode, relatedPlace, type Subject } from './places.js';

/** SW1002 bad names, SW1008 and SW4009 duplicates, SW4008 empty names and descriptions. */
export function checkNames(subject: Subject): Diagnostic[] {
  const { graph } = subject;
  const found: Diagnostic[] = [];
  const named = `workflow \`${graph.name}\``;
  if (isBlank(graph.name)) found.push(empty('the name of a workflow', graph.source));
  else if (!isValidName(graph.name)) found.push(badName('workflow', graph.name, NAME_RULE, graph.source));
  if (isBlank(graph.description)) found.push(empty(`the description of ${named}`, graph.source));
  return [...found, ...checkArguments(subject), ...checkSteps(subject)];
}

function checkArguments({ graph }: Subject): Diagnostic[] {
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
    else if (!isValidBinding(name)) found.push(badName('argument', name, BINDING_RULE, place));
    if (isBlank(description)) found.push(empty(`the description of argument \`${name}\``, place));
  }
  return found;
}

function checkSteps({ graph, nodes }: Subject): Diagnostic[] {
  return graph.nodes.flatMap((node) => {
    const place = placeOfNode(node, graph);
    const first = nodes.get(node.id)?.node;
    if (first !== undefined && first !== node) {
      const related = relatedPlace('first used here', first.source);
      return [diagnostic('SW4009', place, { id: node.id }, { related })];
    }
    if (isBlank(node.id)) return [empty(`the id of a step of workflow \`${graph.name}\``, place)];
    return isValidBinding(node.id) ? [] : [badName('step', node.id, BINDING_RULE, place)];
  });
}

function isBlank(text: string): boolean {
  return text.trim() === '';
}

function empty(what: string, place: Place | undefined): Diagnostic {
  return diagnostic('SW4008', place, { what });
}

function badName(kind: string, name: string, rule: RegExp, place: Place | undefined): Diagnostic {
  return diagnostic('SW1002', place, { kind, name, rule: rule.source });
}
