import { type Diagnostic, diagnostic } from '../diagnostics/diagnostic.js';
import type { Expr } from '../expression/tree.js';
import type { CallNode } from '../model.js';
import { nearestName } from '../suggest.js';
import type { CheckEnvironment, ToolSignature } from './environment.js';
import { typesOf } from './known.js';
import { placeOfExpr, placeOfNode, type Subject } from './places.js';
import { type JsonType, requiredKeys, type SchemaView, stepInto, typesIn, viewOf } from './schema-view.js';
import { type Names, typeOf } from './type-of.js';

/** SW4001 unknown tools, SW4003 missing and SW4004 unknown inputs, SW4012 inputs of a type that cannot fit. */
export function checkCalls(subject: Subject, environment: CheckEnvironment, names: Names): Diagnostic[] {
  const { graph } = subject;
  return graph.nodes.flatMap((node) => {
    if (node.kind !== 'call') return [];
    const tool = environment.tools.get(node.tool);
    if (tool !== undefined) return checkInput(node, tool, subject, names);
    const suggestion = nearestName(node.tool, environment.tools.keys());
    const params = { workflow: graph.name, tool: node.tool, suggestion };
    return [diagnostic('SW4001', placeOfNode(node, graph), params)];
  });
}

function checkInput(node: CallNode, tool: ToolSignature, subject: Subject, names: Names): Diagnostic[] {
  const source = placeOfNode(node, subject.graph);
  const view = viewOf(tool.inputSchema);
  const found: Diagnostic[] = [];
  const given = new Set<string>();
  let mayGiveMore = false;
  for (const entry of node.input.entries) {
    if (!('key' in entry)) {
      mayGiveMore = true;
      continue;
    }
    // Plainly absent entries never reach the tool.
    if (entry.value.kind !== 'literal' || entry.value.value !== undefined) given.add(entry.key);
    const place = placeOfExpr(entry.value, source);
    const about = { step: node.id, tool: node.tool, input: entry.key };
    const step = stepInto(view, entry.key);
    if (step.kind === 'missing') {
      found.push(diagnostic('SW4004', place, { ...about, suggestion: nearestName(entry.key, step.known) }));
      continue;
    }
    const mismatch = typeMismatch(entry.value, step.view, names);
    if (mismatch !== undefined) found.push(diagnostic('SW4012', place, { ...about, ...mismatch }));
  }
  if (mayGiveMore) return found;
  const place = placeOfExpr(node.input, source);
  for (const input of requiredKeys(view)) {
    if (!given.has(input)) found.push(diagnostic('SW4003', place, { step: node.id, tool: node.tool, input }));
  }
  return found;
}

/** Where no value the expression may have is of a type that fits. */
function typeMismatch(
  expr: Expr,
  view: SchemaView,
  names: Names,
): { expected: string; actual: string } | undefined {
  const expected = typesIn(view);
  const actual = typesOf(typeOf(expr, names));
  if (expected === undefined || actual === undefined || expected.size === 0 || actual.size === 0)
    return undefined;
  if ([...actual].some((type) => fits(type, expected))) return undefined;
  return { expected: describeTypes(expected), actual: describeTypes(actual) };
}

/** A number may be an integer, and an integer is a number. */
function fits(type: JsonType, expected: ReadonlySet<JsonType>): boolean {
  return (
    expected.has(type) ||
    (type === 'integer' && expected.has('number')) ||
    (type === 'number' && expected.has('integer'))
  );
}

const articles: Readonly<Record<JsonType, string>> = {
  null: 'null',
  boolean: 'a boolean',
  integer: 'an integer',
  number: 'a number',
  string: 'a string',
  array: 'an array',
  object: 'an object',
};

function describeTypes(types: ReadonlySet<JsonType>): string {
  return [...types].map((type) => articles[type]).join(' or ');
}
