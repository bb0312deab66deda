import { canonicalJson } from '../graph/canonical.js';
import { isJsonObject, type Json } from '../graph/json.js';
import { requiredKeys, type SchemaView, stepInto, typeOfJson, typesIn } from './schema-view.js';
import { describeTypes } from './type-mismatch.js';

/**
 * Why a value that is written out is not what a schema describes, as a sentence about it; nothing where it may be. Like
 * the view, it does not read keywords that only narrow further.
 */
export function misfitOf(value: Json, view: SchemaView, path = ''): string | undefined {
  const { shapes } = view;
  if (shapes === 'unknown') return undefined;
  const what = path === '' ? 'it' : `\`${path.slice(1)}\``;
  const type = typeOfJson(value);
  const expected = typesIn(view);
  if (expected !== undefined && !expected.has(type) && !(type === 'integer' && expected.has('number')))
    return `${what} is ${describeTypes(new Set([type]))}, not ${describeTypes(expected)}`;
  const listed = shapes.map(({ const: only, enum: some }) => (only === undefined ? some : [only]));
  if (listed.length > 0 && listed.every((values) => Array.isArray(values))) {
    const known = listed.flat().map((each) => canonicalJson(each ?? null));
    if (!known.includes(canonicalJson(value)))
      return `${what} is \`${canonicalJson(value)}\`, not ${known.map((each) => `\`${each}\``).join(' or ')}`;
  }
  if (Array.isArray(value)) {
    return first(value.entries(), ([index, item]) => misfitAt(item, view, index, `${path}.${index}`));
  }
  if (!isJsonObject(value)) return undefined;
  const missing = requiredKeys(view).find((key) => !Object.hasOwn(value, key));
  if (missing !== undefined) return `${what} has no \`${missing}\``;
  return first(Object.entries(value), ([key, part]) => misfitAt(part, view, key, `${path}.${key}`));
}

function misfitAt(part: Json, view: SchemaView, key: string | number, path: string): string | undefined {
  const step = stepInto(view, key);
  return step.kind === 'missing' ? `\`${path.slice(1)}\` is too much` : misfitOf(part, step.view, path);
}

function first<T>(parts: Iterable<T>, problemOf: (part: T) => string | undefined): string | undefined {
  for (const part of parts) {
    const problem = problemOf(part);
    if (problem !== undefined) return problem;
  }
  return undefined;
}
