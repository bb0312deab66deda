import { canonicalJson } from '../graph/canonical.js';
import type { Expr } from '../graph/expression/tree.js';
import { isJsonObject, type Json } from '../graph/json.js';
import {
  type JsonType,
  requiredKeys,
  type SchemaView,
  stepInto,
  typeOfJson,
  typesIn,
} from './schema-view.js';
import { type Names, typeOf } from './type-of.js';
import { typesOf } from './value-type.js';

/** The expected and the actual types, if no possible value of the expression matches the schema. */
export function typeMismatch(
  expr: Expr,
  view: SchemaView,
  names: Names,
): { readonly expected: string; readonly actual: string } | undefined {
  const expected = typesIn(view);
  const actual = typesOf(typeOf(expr, names));
  if (expected === undefined || actual === undefined || expected.size === 0 || actual.size === 0)
    return undefined;
  for (const type of actual) if (fits(type, expected)) return undefined;
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

/**
 * Why a literal value does not match a schema, as a sentence; `undefined` if it may match. Like the view, it ignores
 * keywords that only narrow further.
 */
export function schemaMismatch(value: Json, view: SchemaView, path = ''): string | undefined {
  const { shapes } = view;
  if (shapes === 'unknown') return undefined;
  const what = path === '' ? 'it' : `\`${path.slice(1)}\``;
  const type = typeOfJson(value);
  const expected = typesIn(view);
  if (expected !== undefined && !expected.has(type) && !(type === 'integer' && expected.has('number')))
    return `${what} is ${describeTypes(new Set([type]))}, not ${describeTypes(expected)}`;
  const listed = shapes.map(({ const: only, enum: some }) => (only === undefined ? some : [only]));
  if (listed.length > 0 && listed.every((values) => Array.isArray(values))) {
    const valueTexts = listed.flat().map((each) => canonicalJson(each ?? null));
    if (!valueTexts.includes(canonicalJson(value)))
      return `${what} is \`${canonicalJson(value)}\`, not ${valueTexts.map((each) => `\`${each}\``).join(' or ')}`;
  }
  if (Array.isArray(value)) {
    return first(value.entries(), ([index, item]) => mismatchAt(item, view, index, `${path}.${index}`));
  }
  if (!isJsonObject(value)) return undefined;
  const missing = requiredKeys(view).find((key) => !Object.hasOwn(value, key));
  if (missing !== undefined) return `${what} has no \`${missing}\``;
  return first(Object.entries(value), ([key, part]) => mismatchAt(part, view, key, `${path}.${key}`));
}

function mismatchAt(part: Json, view: SchemaView, key: string | number, path: string): string | undefined {
  const step = stepInto(view, key);
  return step.kind === 'missing' ? `\`${path.slice(1)}\` is too much` : schemaMismatch(part, step.view, path);
}

function first<T>(parts: Iterable<T>, problemOf: (part: T) => string | undefined): string | undefined {
  for (const part of parts) {
    const problem = problemOf(part);
    if (problem !== undefined) return problem;
  }
  return undefined;
}
