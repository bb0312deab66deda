import type { DictExpr, Expr } from '../graph/expression/tree.js';
import type { Json, JsonSchema } from '../graph/json.js';
import { clip, jsonText } from '../graph/printable-text.js';
import type { ValueFault } from './environment.js';
import {
  requiredKeys,
  type SchemaView,
  schemaAt,
  stepInto,
  typeOfJson,
  typesIn,
  unnamedBeside,
  viewOf,
} from './schema-view.js';
import { type Names, typeMismatch, typeOf } from './type-of.js';
import { keysOf, UNKNOWN } from './value-type.js';
export type InputFault = { readonly key: string; readonly at: Expr } /** A key that the schema refuses. */ & (
  | { readonly kind: 'unknown'; readonly candidates: readonly string[]; readonly isSpread?: true }
  /** A key that the schema takes without naming it. */
  | { readonly kind: 'unnamed'; readonly candidates: readonly string[] }
  | { readonly kind: 'mismatch'; readonly expected: string; readonly actual: string }
  | { readonly kind: 'missing' }
  /** A constant that the schema refuses; the key is its path. */
  | { readonly kind: 'refused'; readonly value: string; readonly problem: string }
);

export const NO_TYPES: Names = {
  inputs: () => UNKNOWN,
  state: () => UNKNOWN,
  steps: () => UNKNOWN,
  item: () => UNKNOWN,
};

/** Compares the input of a call with the schema of what it calls. */
export function inputFaults(
  input: DictExpr,
  schema: JsonSchema,
  names: Names,
  valueFault: ValueFault,
): InputFault[] {
  const view = viewOf(schema);
  const ofEntries = input.entries.flatMap((entry): InputFault[] =>
    'key' in entry
      ? entryFaults(entry.key, entry.value, view, names)
      : surplusKeys(entry.spread, view, names).map((key) => {
          return { kind: 'unknown', key, at: entry.spread, candidates: [], isSpread: true };
        }),
  );
  return [
    ...ofEntries,
    ...missingInputs(input, view).map((key): InputFault => ({ kind: 'missing', key, at: input })),
    ...refusedConstants(input, schema, valueFault),
  ];
}

function entryFaults(key: string, at: Expr, view: SchemaView, names: Names): InputFault[] {
  const step = stepInto(view, key);
  if (step.kind === 'missing') return [{ kind: 'unknown', key, at, candidates: step.keys }];
  const candidates = unnamedBeside(view, key);
  const mismatch = typeMismatch(at, step.view, names);
  return [
    ...(candidates === undefined ? [] : [{ kind: 'unnamed', key, at, candidates } as const]),
    ...(mismatch === undefined ? [] : [{ kind: 'mismatch', key, at, ...mismatch } as const]),
  ];
}

function refusedConstants({ entries }: DictExpr, schema: JsonSchema, valueFault: ValueFault): InputFault[] {
  return entries.flatMap((entry) => {
    const place = 'key' in entry ? schemaAt(schema, [entry.key]) : undefined;
    if (!('key' in entry) || place === undefined) return [];
    return constantFaults(entry.value, place, valueFault).map(({ at, path, value, problem }): InputFault => {
      return { kind: 'refused', key: [entry.key, ...path].join('.'), at, value, problem };
    });
  });
}

/** The keys of a spread value that the schema does not have. */
function surplusKeys(spread: Expr, view: SchemaView, names: Names): readonly string[] {
  return keysOf(typeOf(spread, names)).filter((key) => stepInto(view, key).kind === 'missing');
}

/** The required inputs that are missing in every run. */
function missingInputs({ entries }: DictExpr, view: SchemaView): readonly string[] {
  const required = requiredKeys(view);
  if (required.length === 0) return required;
  const suppliedKeys = new Set<string>();
  for (const entry of entries) {
    // A spread value may have any key.
    if (!('key' in entry)) return [];
    // A literal absent value is not sent.
    if (entry.value.kind !== 'literal' || entry.value.value !== undefined) suppliedKeys.add(entry.key);
  }
  return required.filter((input) => !suppliedKeys.has(input));
}

/** A constant that the schema of its place refuses. */
interface ConstantFault {
  readonly at: Expr;
  /** Where the constant is in the whole value. */
  readonly path: readonly (string | number)[];
  /** The constant, as text. */
  readonly value: string;
  readonly problem: string;
}

/** The constants in a value that the schema refuses in every run; a value of another type is left to the check of types. */
export function constantFaults(
  at: Expr,
  schema: JsonSchema,
  valueFault: ValueFault,
  path: ConstantFault['path'] = [],
): ConstantFault[] {
  const place = schemaAt(schema, path);
  if (place === undefined) return [];
  const constant = constantOf(at);
  if (constant !== undefined && NARROWING.test(JSON.stringify(place))) {
    const problem = typeMatches(constant, place) ? faultOf(place, constant, valueFault) : undefined;
    return problem === undefined ? [] : [{ at, path, value: clip(jsonText(constant)), problem }];
  }
  const inside = (part: Expr, key: string | number) =>
    constantFaults(part, schema, valueFault, [...path, key]);
  if (at.kind === 'dict')
    return at.entries.flatMap((entry) => ('key' in entry ? inside(entry.value, entry.key) : []));
  if (at.kind !== 'list') return [];
  return at.items.flatMap(({ value, spread }, index) => (spread === true ? [] : inside(value, index)));
}

/** Keywords that compare more of a value than its type. Most schemas have none of them, and need no compiler. */
const NARROWING =
  /"(?:m(?:in|ax)imum|exclusiveM(?:in|ax)imum|multipleOf|m(?:in|ax)(?:Length|Items|Properties)|pattern|format|enum|const|uniqueItems|propertyNames|patternProperties)":/;

/** Why a schema refuses a value; nothing for a schema that cannot be used. */
export function faultOf(schema: JsonSchema, value: Json, valueFault: ValueFault): string | undefined {
  try {
    return valueFault(schema, value);
  } catch {
    // A schema that cannot be used is reported where it is.
    return undefined;
  }
}

/** A value of another type is SW4012. */
function typeMatches(value: Json, schema: JsonSchema): boolean {
  const types = typesIn(viewOf(schema));
  const type = typeOfJson(value);
  return types === undefined || types.has(type) || (type === 'integer' && types.has('number'));
}

/** The value of an expression of literals alone. */
function constantOf(expr: Expr): Json | undefined {
  switch (expr.kind) {
    case 'literal':
      return expr.value;
    case 'list': {
      const items = expr.items.map(({ value, spread }) => (spread === true ? undefined : constantOf(value)));
      return items.includes(undefined) ? undefined : (items as readonly Json[]);
    }
    case 'dict': {
      const entries = expr.entries.map((entry) =>
        'key' in entry ? ([entry.key, constantOf(entry.value)] as const) : undefined,
      );
      return entries.some((entry) => entry?.[1] === undefined)
        ? undefined
        : (Object.fromEntries(entries as readonly (readonly [string, Json])[]) as Json);
    }
    default:
      return undefined;
  }
}
