import { canonicalJson } from '../graph/canonical.js';
import type { ResultKind } from '../graph/expression/function.js';
import { expressionFunctions } from '../graph/expression/functions.js';
import { type DataPath, dataPath, references } from '../graph/expression/traversal.js';
import type { CallExpr, DictExpr, EachExpr, Expr, GetExpr, RefExpr } from '../graph/expression/tree.js';
import { isJsonObject, type Json, unreachable } from '../graph/json.js';
import { SETTLED_NODE } from '../graph/nodes.js';
import { type Fact, followPath, formsMatching, narrowingOf } from './narrowing.js';
import {
  type JsonType,
  requiredKeys,
  type SchemaView,
  stepInto,
  typeOfJson,
  typesIn,
} from './schema-view.js';
import {
  ABSENT,
  alternativesOf,
  itemOf,
  ofJson,
  ofSchema,
  ofTypes,
  read,
  typesOf,
  UNKNOWN,
  unionOf,
  type ValueType,
} from './value-type.js';

/** The types of the roots of references. */
export interface Names {
  readonly inputs: (name: string) => ValueType;
  /** The inputs that a caller may leave out, without a default. */
  readonly optionalInputs?: ReadonlySet<string>;
  readonly state: (name: string) => ValueType;
  readonly steps: (name: string) => ValueType;
  /** The items of the loops around. */
  readonly item: (name: string) => ValueType;
  /** The facts that hold where the expression is evaluated. Default: none. */
  readonly facts?: readonly Fact[];
  /** Whether a condition elsewhere in the graph tests the root of a path. */
  readonly isAskedElsewhere?: (ref: RefExpr) => boolean;
}

/** Adds the fact that a condition holds, or does not. */
export function where(names: Names, test: Expr, holds: boolean): Names {
  return { ...names, facts: [...(names.facts ?? []), { test, holds }] };
}

export const SETTLED: ValueType = ofSchema(SETTLED_NODE);

export type Locals = ReadonlyMap<string, ValueType>;
export const NO_LOCALS: Locals = new Map();

/**
 * Infers the type of an expression's value. Any value may be absent as well; `ABSENT` is the type of a value that always
 * is.
 */
export function typeOf(expr: Expr, names: Names, locals: Locals = NO_LOCALS): ValueType {
  switch (expr.kind) {
    case 'literal':
      return expr.value === undefined ? ABSENT : ofJson(expr.value);
    case 'ref':
    case 'get': {
      const path = dataPath(expr);
      if (path?.complete === true) return followed(path, names, locals).valueType;
      return expr.kind === 'get' ? typeOfGet(expr, (part) => typeOf(part, names, locals)) : UNKNOWN;
    }
    default:
      return typeOfParts(expr, names, locals);
  }
}

function typeOfParts(
  expr: Exclude<Expr, { kind: 'literal' | 'ref' | 'get' }>,
  names: Names,
  locals: Locals,
): ValueType {
  const inside = (part: Expr): ValueType => typeOf(part, names, locals);
  switch (expr.kind) {
    case 'slice': {
      const of = inside(expr.of);
      const types = typesOf(of);
      if (types?.size !== 1) return UNKNOWN;
      return types.has('array') ? { kind: 'list', item: itemOf(of) } : of;
    }
    case 'text':
      return ofTypes('string');
    case 'not':
    case 'compare':
      return ofTypes('boolean');
    case 'and':
    case 'or':
      return unionOf(
        ...inTurn(expr.items, names, testOf, expr.kind === 'and', (item, innerNames) =>
          typeOf(item, innerNames, locals),
        ),
      );
    case 'arithmetic':
      return expr.op === 'add.js' ? ofTypes('number', 'string') : ofTypes('number');
    case 'negate':
      return ofTypes('number');
    case 'conditional':
      return unionOf(
        typeOf(expr.then, where(names, expr.test, true), locals),
        expr.else === undefined ? ABSENT : typeOf(expr.else, where(names, expr.test, false), locals),
      );
    case 'list':
      return {
        kind: 'list',
        item: unionOf(
          ...expr.items.map(({ value, spread }) => (spread ? itemOf(inside(value)) : inside(value))),
        ),
      };
    case 'dict':
      return typeOfDict(expr, inside);
    case 'call':
      return typeOfCall(expr, names, locals);
    case 'each':
      return typeOfEach(expr, names, locals);
    case 'let':
      return typeOf(expr.body, names, new Map([...locals, [expr.name, inside(expr.value)]]));
    default:
      return unreachable(expr);
  }
}

/**
 * Visits operands in their order, each with the names that hold for it: the results of the operands before it are facts.
 * `test` gives the condition that an operand decides.
 */
export function inTurn<T>(
  operands: readonly Expr[],
  names: Names,
  test: (operand: Expr) => Expr,
  holds: boolean,
  visit: (operand: Expr, names: Names, index: number) => T,
): T[] {
  let innerNames = names;
  return operands.map((operand, index) => {
    const value = visit(operand, innerNames, index);
    if (index < operands.length - 1) innerNames = where(innerNames, test(operand), holds);
    return value;
  });
}

/** An operand of `and` or `or` is a condition itself. */
export function testOf(operand: Expr): Expr {
  return operand;
}

/** The operands of `??` are visited while those before them are nullish. */
export function isNullish(operand: Expr): Expr {
  return { kind: 'call', fn: 'isNullish', args: [operand] };
}

/** The type at the end of a path, and the first key that not every form has. */
export function followed(path: DataPath, names: Names, locals: Locals): ReturnType<typeof followPath> {
  const start = typeOfName(path.ref, String(path.ref.path[0]), names, locals);
  const isAskedElsewhere = names.isAskedElsewhere?.(path.ref) ?? false;
  return followPath(path, start, narrowingOf(names.facts ?? [], path, isAskedElsewhere));
}

function typeOfName({ root }: RefExpr, name: string, names: Names, locals: Locals): ValueType {
  switch (root) {
    case 'inputs':
      return names.inputs(name);
    case 'steps':
      return names.steps(name);
    case 'nodes':
      return SETTLED;
    case 'local':
      return locals.get(name) ?? UNKNOWN;
    case 'error':
      return name === 'attempts' ? ofTypes('integer') : ofTypes('string');
    case 'state':
      return names.state(name);
    case 'item':
      return names.item(name);
    case 'index':
      return ofTypes('integer');
    case 'run':
      return UNKNOWN;
    default:
      return unreachable(root);
  }
}

function typeOfGet(expr: GetExpr, inside: (part: Expr) => ValueType): ValueType {
  const key = expr.key.kind === 'literal' ? expr.key.value : undefined;
  return typeof key === 'string' || typeof key === 'number' ? readOrAbsent(inside(expr.of), key) : UNKNOWN;
}

function readOrAbsent(valueType: ValueType, key: string | number): ValueType {
  const step = read(valueType, key);
  return step.kind === 'found' ? step.valueType : ABSENT;
}

function typeOfDict(expr: DictExpr, inside: (part: Expr) => ValueType): ValueType {
  const entries = new Map<string, ValueType>();
  let isOpen = false;
  for (const entry of expr.entries) {
    if ('key' in entry) {
      entries.set(entry.key, inside(entry.value));
      continue;
    }
    const spread = inside(entry.spread);
    if (spread.kind !== 'dict' || spread.isOpen) isOpen = true;
    // A spread value may be absent, and so may each of its entries.
    else
      for (const [key, value] of spread.entries) entries.set(key, unionOf(value, entries.get(key) ?? value));
  }
  return { kind: 'dict', entries, isOpen };
}

function typeOfCall(expr: CallExpr, names: Names, locals: Locals): ValueType {
  const result = expressionFunctions.get(expr.fn)?.result;
  // `parseGraph` refuses unknown functions.
  if (result === undefined) return UNKNOWN;
  if (result === 'items of items') {
    const item = itemOf(typeOf(expr.args[0] as Expr, names, locals));
    const types = typesOf(item);
    return types?.size === 1 && types.has('array') ? { kind: 'list', item: itemOf(item) } : ANY_LIST;
  }
  if (result === 'item') return unionOf(itemOf(typeOf(expr.args[0] as Expr, names, locals)), ABSENT);
  if (result !== 'first argument') return RESULTS[result];
  const valueType = unionOf(
    ...inTurn(expr.args, names, isNullish, true, (arg, inside) => typeOf(arg, inside, locals)),
  );
  // A type assertion of the author selects a form that the analysis does not know.
  const isClaimed = expr.args.length === 1 && (alternativesOf(valueType)?.length ?? 0) > 1;
  return isClaimed ? UNKNOWN : valueType;
}

const ANY_LIST: ValueType = { kind: 'list', item: UNKNOWN };

const RESULTS: Readonly<
  Record<Exclude<ResultKind, 'first argument' | 'item' | 'items of items'>, ValueType>
> = {
  any: UNKNOWN,
  boolean: ofTypes('boolean'),
  number: ofTypes('number'),
  text: ofTypes('string'),
  'list of texts': { kind: 'list', item: ofTypes('string') },
};

function typeOfEach(expr: EachExpr, names: Names, locals: Locals): ValueType {
  const items = typeOf(expr.in, names, locals);
  const item = itemOf(items);
  switch (expr.mode) {
    case 'map': {
      const inner = new Map([...locals, [expr.as, item]]);
      if (expr.indexAs !== undefined) inner.set(expr.indexAs, ofTypes('integer'));
      return {
        kind: 'list',
        item: typeOf(expr.body, without(names, [expr.as, expr.indexAs ?? expr.as]), inner),
      };
    }
    case 'filter':
      return { kind: 'list', item: formsMatching(item, expr.as, expr.body) };
    case 'find':
      return unionOf(formsMatching(item, expr.as, expr.body), ABSENT);
    case 'some':
    case 'every':
      return ofTypes('boolean');
    default:
      return unreachable(expr);
  }
}

/** Removes the facts about shadowed names. */
export function without(names: Names, hidden: Iterable<string>): Names {
  if (names.facts === undefined) return names;
  const hiddenNames = new Set<string | number | undefined>(hidden);
  const isHidden = ({ test }: Fact): boolean =>
    references(test).some(({ ref }) => ref.root === 'local' && hiddenNames.has(ref.path[0]));
  return { ...names, facts: names.facts.filter((fact) => !isHidden(fact)) };
}

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
