import type { Expr } from '../graph/expression/tree.js';
import { typesOf } from './known.js';
import { type JsonType, type SchemaView, typesIn } from './schema-view.js';
import { type Names, typeOf } from './type-of.js';

/** What is expected and what is given, where no value the expression may have is of a type that fits. */
export function typeMismatch(
  expr: Expr,
  view: SchemaView,
  names: Names,
): { readonly expected: string; readonly actual: string } | undefined {
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

/** `a string or null`. */
export function describeTypes(types: ReadonlySet<JsonType>): string {
  return [...types].map((type) => articles[type]).join(' or ');
}
