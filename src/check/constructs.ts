import { type Diagnostic, diagnostic } from '../graph/diagnostics/diagnostic.js';
import { failureCodeFault } from '../graph/failure-code.js';
import type { AskNode, ForeachNode } from '../graph/model.js';
import { parseTime } from '../graph/rfc3339.js';
import type { WorkflowPlan } from '../plan/plan.js';
import { itemOf, typesOf } from './known.js';
import { placeOfExpr, placeOfNode } from './places.js';
import { describeTypes } from './type-mismatch.js';
import { type Names, typeOf } from './type-of.js';
import { type NamesIn, textsOf } from './values.js';

/**
 * SW4029 loops over what is no list, SW4030 options of questions,
 * SW4034 times that are none, SW4036 codes of failures that an author may not use.
 */
export function checkConstructs({ graph, nodes }: WorkflowPlan, namesIn: NamesIn): Diagnostic[] {
  return nodes.flatMap(({ node, scope }) => {
    const place = placeOfNode(node, graph);
    switch (node.kind) {
      case 'foreach': {
        const actual = noList(node, namesIn(scope));
        if (actual === undefined) return [];
        return [diagnostic('SW4029', placeOfExpr(node.items, place), { step: node.id, actual })];
      }
      case 'ask': {
        const problem = problemOfOptions(node, namesIn(scope));
        if (problem === undefined) return [];
        return [diagnostic('SW4030', placeOfExpr(node.options, place), { step: node.id, problem })];
      }
      case 'wait': {
        const { until } = node;
        const text = until?.kind === 'literal' && typeof until.value === 'string' ? until.value : undefined;
        if (text === undefined || parseTime(text) !== undefined) return [];
        return [diagnostic('SW4034', placeOfExpr(until, place), { step: node.id, text })];
      }
      case 'error': {
        const { code } = node;
        const problem = code === undefined ? undefined : failureCodeFault(code);
        if (code === undefined || problem === undefined) return [];
        return [diagnostic('SW4036', place, { step: node.id, code, problem })];
      }
      default:
        return [];
    }
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
