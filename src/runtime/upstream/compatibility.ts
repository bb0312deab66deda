import {
  itemsIn,
  type JsonType,
  propertyNames,
  requiredKeys,
  type SchemaView,
  stepInto,
  typesIn,
  viewOf,
} from '../../check/schema-view.js';
import { describeTypes, schemaMismatch } from '../../check/type-of.js';
import { canonicalJson } from '../../graph/canonical.js';
import type { Expr } from '../../graph/expression/tree.js';
import type { Json, JsonSchema } from '../../graph/json.js';
import type { OutputUse, Path } from './contract.js';

/** A value that no longer fits, and why, as the end of a sentence about it. */
export interface Misfit {
  readonly path: Path;
  readonly problem: string;
}

/** Nested schemas are compared down to here: a recursive one has no end. */
const DEEPEST = 12;

/** What a step can no longer read of a result; nothing where everything is as it was. */
export function readMisfit(
  { path, isWhole }: OutputUse,
  recorded: JsonSchema,
  live: JsonSchema,
): Misfit | undefined {
  let [was, is] = [viewOf(recorded), viewOf(live)];
  for (const [index, key] of path.entries()) {
    const at = path.slice(0, index + 1);
    const before = stepInto(was, key);
    // It was not there before either.
    if (before.kind === 'missing') return undefined;
    const now = stepInto(is, key);
    if (now.kind === 'missing') return { path: at, problem: 'is not in the output any more' };
    const isRequired = (view: SchemaView): boolean =>
      view.shapes !== 'unknown' && requiredKeys(view).includes(String(key));
    if (typeof key === 'string' && isRequired(was) && !isRequired(is) && key !== 'length')
      return { path: at, problem: 'may be missing now' };
    [was, is] = [before.view, now.view];
  }
  return isWhole ? misfit(is, was, path, 'read') : typeMisfit(is, was, path);
}

/** What a tool no longer accepts of the input that a step passes; nothing where it accepts everything. */
export function inputMisfit(expr: Expr, recorded: JsonSchema, live: JsonSchema): Misfit | undefined {
  return passedMisfit(expr, viewOf(recorded), viewOf(live), []);
}

function passedMisfit(expr: Expr, was: SchemaView, is: SchemaView, path: Path): Misfit | undefined {
  if (expr.kind === 'literal') {
    const { value } = expr;
    if (value === undefined || schemaMismatch(value, was) !== undefined) return undefined;
    const problem = schemaMismatch(value, is);
    return problem === undefined ? undefined : { path, problem: `is not accepted any more: ${problem}` };
  }
  if (expr.kind === 'list') {
    const [before, now] = [itemsIn(was), itemsIn(is)];
    const wrong = typesIn(is)?.has('array') === false ? typeMisfit(was, is, path) : undefined;
    if (wrong !== undefined || before === undefined || now === undefined) return wrong;
    return first(expr.items, ({ value, spread }) =>
      spread === undefined ? passedMisfit(value, before, now, [...path, 0]) : undefined,
    );
  }
  if (expr.kind !== 'dict') return misfit(was, is, path, 'pass');
  const wrong = typesIn(is)?.has('object') === false ? typeMisfit(was, is, path) : undefined;
  if (wrong !== undefined) return wrong;
  const isOpen = expr.entries.some((entry) => !('key' in entry));
  const keys = new Set<string>();
  for (const entry of expr.entries) {
    if (!('key' in entry)) continue;
    const at = [...path, entry.key];
    keys.add(entry.key);
    const [before, now] = [stepInto(was, entry.key), stepInto(is, entry.key)];
    if (before.kind === 'missing') continue;
    if (now.kind === 'missing') return { path: at, problem: 'is not accepted any more' };
    const inner = passedMisfit(entry.value, before.view, now.view, at);
    if (inner !== undefined) return inner;
  }
  const requiredBefore = requiredKeys(was);
  const missing = requiredKeys(is).find((key) => !keys.has(key) && !requiredBefore.includes(key));
  return missing === undefined || isOpen
    ? undefined
    : { path: [...path, missing], problem: 'is required now' };
}

/**
 * Where values of one schema may not fit another, down to a limit.
 *
 * @param use `pass`: the other schema may refuse what it does not name; `read`: a reader ignores it.
 */
function misfit(
  offered: SchemaView,
  wanted: SchemaView,
  path: Path,
  use: 'pass' | 'read',
): Misfit | undefined {
  const wrong = typeMisfit(offered, wanted, path) ?? valueMisfit(offered, wanted, path);
  if (wrong !== undefined || path.length > DEEPEST) return wrong;
  if (offered.shapes === 'unknown' || wanted.shapes === 'unknown') return undefined;
  const [items, wantedItems] = [itemsIn(offered), itemsIn(wanted)];
  if (items !== undefined && wantedItems !== undefined && typesIn(wanted)?.has('array') === true) {
    const inner = misfit(items, wantedItems, [...path, 0], use);
    if (inner !== undefined) return inner;
  }
  const required = requiredKeys(offered);
  for (const key of requiredKeys(wanted)) {
    if (!required.includes(key))
      return { path: [...path, key], problem: use === 'pass' ? 'is required now' : 'may be missing now' };
  }
  const names = use === 'pass' ? propertyNames(offered) : propertyNames(wanted);
  return first(names, (key) => {
    const [one, other] = [stepInto(offered, key), stepInto(wanted, key)];
    if (one.kind === 'missing') return undefined;
    if (other.kind === 'missing') return { path: [...path, key], problem: 'is not accepted any more' };
    return misfit(one.view, other.view, [...path, key], use);
  });
}

function typeMisfit(offered: SchemaView, wanted: SchemaView, path: Path): Misfit | undefined {
  const [types, allowed] = [typesIn(offered), typesIn(wanted)];
  if (allowed === undefined || allowed.size === 0) return undefined;
  if (types === undefined)
    return { path, problem: `may be anything now, and is used as ${describeTypes(allowed)}` };
  const isAllowed = (type: JsonType): boolean =>
    allowed.has(type) || (type === 'integer' && allowed.has('number'));
  if ([...types].every(isAllowed)) return undefined;
  return { path, problem: `is ${describeTypes(types)}, where it has to be ${describeTypes(allowed)}` };
}

/** A value that is not among the listed ones. */
function valueMisfit(offered: SchemaView, wanted: SchemaView, path: Path): Misfit | undefined {
  const [values, allowed] = [listedIn(offered), listedIn(wanted)];
  if (allowed === undefined) return undefined;
  if (values === undefined) return { path, problem: `has to be one of ${allowed.join(', ')}` };
  const other = values.find((value) => !allowed.includes(value));
  return other === undefined
    ? undefined
    : { path, problem: `may be ${other}, which is not one of ${allowed.join(', ')}` };
}

/** All values of a view, as JSON; nothing where they are not listed. */
function listedIn({ shapes }: SchemaView): readonly string[] | undefined {
  if (shapes === 'unknown' || shapes.length === 0) return undefined;
  const lists = shapes.map(({ const: only, enum: some }): Json | undefined =>
    only === undefined ? some : [only],
  );
  if (!lists.every((list) => Array.isArray(list))) return undefined;
  return lists.flatMap((list) => (list as readonly Json[]).map((value) => canonicalJson(value)));
}

function first<T>(parts: Iterable<T>, misfitOf: (part: T) => Misfit | undefined): Misfit | undefined {
  for (const part of parts) {
    const first = misfitOf(part);
    if (first !== undefined) return first;
  }
  return undefined;
}
