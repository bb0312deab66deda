import type { Expr } from '../graph/expression/tree.js';
import type { Json, JsonSchema } from '../graph/json.js';
import { clip, jsonText } from '../graph/printable-text.js';
import type { ValueFault } from './environment.js';
import { schemaAt, typeOfJson, typesIn, viewOf } from './schema-view.js';

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
export function constantFaults(value: Expr, schema: JsonSchema, valueFault: ValueFault): ConstantFault[] {
  return partFaults(value, schema, [], valueFault);
}

function partFaults(
  at: Expr,
  schema: JsonSchema,
  path: ConstantFault['path'],
  valueFault: ValueFault,
): ConstantFault[] {
  const place = schemaAt(schema, path);
  if (place === undefined) return [];
  const constant = constantOf(at);
  if (constant !== undefined && NARROWING.test(JSON.stringify(place))) {
    const problem = typeMatches(constant, place) ? faultOf(place, constant, valueFault) : undefined;
    return problem === undefined ? [] : [{ at, path, value: clip(jsonText(constant)), problem }];
  }
  const inside = (part: Expr, key: string | number) => partFaults(part, schema, [...path, key], valueFault);
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
