import { type Diagnostic, diagnostic } from '../graph/diagnostics/diagnostic.js';
import { textsOf } from '../graph/expression/texts.js';
import { kindOf } from '../graph/kinds/kinds.js';
import type { AskNode, ForeachNode } from '../graph/model.js';
import type { WorkflowPlan } from '../plan/plan.js';
import { itemOf, typesOf } from './known.js';
import { placeOfExpr, placeOfNode } from './places.js';
import { describeTypes } from './type-mismatch.js';
import { type Names, typeOf } from './type-of.js';
import type { NamesIn } from './values.js';

/**
 * What the descriptors of nodes find: SW4015 numbers out of their range, SW4034 times that are none, SW4036 codes of
 * failures that an author may not use. And what needs to know values: SW4029 loops over what is no list, SW4030
 * options of questions.
 */
export function checkConstructs({ graph, nodes }: WorkflowPlan, namesIn: NamesIn): Diagnostic[] {
  return nodes.flatMap(({ node, scope }) => {
    const place = placeOfNode(node, graph);
    const own = kindOf(node)
      .faults(node)
      .map(({ code, params, at }) => diagnostic(code, placeOfExpr(at, place), params));
    if (node.kind === 'foreach') {
      const actual = noList(node, namesIn(scope));
      if (actual !== undefined)
        own.push(diagnostic('SW4029', placeOfExpr(node.items, place), { step: node.id, actual }));
    }
    if (node.kind === 'ask') {
      const problem = problemOfOptions(node, namesIn(scope));
      if (problem !== undefined)
        own.push(diagnostic('SW4030', placeOfExpr(node.options, place), { step: node.id, problem }));
    }
    return own;
  });
}

function noList({ items }: ForeachNode, names: Names): string | undefined {
  const types = typesOf(typeOf(items, names));
  return types === undefined || types.size === 0 || types.has('array') ? undefined : describeTypes(types);
}

function problemOfOptions({ options }: AskNode, names: Names): string | undefined {
  if (options === undefined) return undefined;
  const texts = textsOf(options);
  if (texts !== undefined) {
    if (texts.length === 0) return 'are none';
    const twice = texts.find((text, index) => texts.indexOf(text) < index);
    return twice === undefined ? undefined : `hold \`${twice}\` twice`;
  }
  const known = typeOf(options, names);
  const types = typesOf(known);
  if (types === undefined || types.size === 0) return undefined;
  if (!types.has('array')) return `are no list, but ${describeTypes(types)}`;
  const items = typesOf(itemOf(known));
  if (items === undefined || items.size === 0 || items.has('string')) return undefined;
  return `are no texts, but each is ${describeTypes(items)}`;
}
