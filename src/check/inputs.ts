import type { DictExpr, Expr } from '../graph/expression/tree.js';
import type { JsonSchema } from '../graph/json.js';
import { constantFaults } from './constants.js';
import type { ValueFault } from './environment.js';
import { requiredKeys, type SchemaView, schemaAt, stepInto, unnamedBeside, viewOf } from './schema-view.js';
import { type Names, typeMismatch, typeOf } from './type-of.js';
import { keysOf, UNKNOWN } from './value-type.js';

/** A fault of an input in every run. */
export type InputFault = { readonly key: string; readonly at: Expr } /** A key that the schema refuses. */ & (
  | { readonly kind: 'unknown'; readonly candidates: readonly string[]; readonly isSpread?: true }
  /** A key that the schema takes without naming it. */
  | { readonly kind: 'unnamed'; readonly candidates: readonly string[] }
  | { readonly kind: 'mismatch'; readonly expected: string; readonly actual: string }
  | { readonly kind: 'missing' }
  /** A constant that the schema refuses; the key is its path. */
  | { readonly kind: 'refused'; readonly value: string; readonly problem: string }
);

/** Names of which no type is known. */
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
