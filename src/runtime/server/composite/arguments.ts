import type { SchemaCompiler } from '../../../formats/json-schema/schema-compiler.js';
import {
  isJsonObject,
  type Json,
  type JsonObject,
  type JsonSchema,
  ownProperty,
} from '../../../graph/json.js';
import type { Graph } from '../../../graph/model.js';
import { checkInput } from '../../catalogue/check-input.js';
import { oneLine } from '../../catalogue/encode-text.js';
import type { Failure } from '../../engine/contract.js';
import { texts } from './texts.js';

export type CheckedArguments =
  | { readonly ok: true; readonly input: JsonObject }
  /** `E_INPUT_INVALID`, with all problems at once. */
  | { readonly ok: false; readonly failure: Failure };

/**
 * Checks arguments against a whole schema. Nothing is coerced: where a value has the right content and the wrong type,
 * the refusal says what to send.
 *
 * @param secret names of arguments whose values are not repeated.
 */
export async function checkArguments(
  tool: string,
  given: JsonObject,
  schema: JsonSchema,
  schemas: SchemaCompiler,
  secret: readonly string[] = [],
): Promise<CheckedArguments> {
  const checked = await checkInput(given, { tool, jsonSchema: schema }, schemas);
  if (checked.ok) return { ok: true, input: checked.input as JsonObject };
  const { failure } = checked;
  const repairs = problemsOf(failure).flatMap((pointer) => repairOf(given, pointer, schema, schemas, secret));
  if (repairs.length === 0) return { ok: false, failure };
  return {
    ok: false,
    failure: { ...failure, message: oneLine(`${failure.message}. ${repairs.join('; ')}`) },
  };
}

/** The input of a run: what was given, and what stands in for the rest. */
export function withDefaults({ inputs }: Pick<Graph, 'inputs'>, given: JsonObject): JsonObject {
  return Object.fromEntries(
    inputs.flatMap(({ name, default: standing }) => {
      const value = ownProperty(given, name) ?? (Object.hasOwn(given, name) ? null : standing);
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
}

function problemsOf({ details }: Failure): string[] {
  if (!isJsonObject(details) || !Array.isArray(details.problems)) return [];
  const pointers = details.problems.map((problem: Json) =>
    isJsonObject(problem) ? problem.pointer : undefined,
  );
  return [
    ...new Set(pointers.filter((pointer) => typeof pointer === 'string' && pointer !== '')),
  ] as string[];
}

/** How the value at a place is put right, where it only has the wrong type. */
function repairOf(
  given: JsonObject,
  pointer: string,
  schema: JsonSchema,
  schemas: SchemaCompiler,
  secret: readonly string[],
): string[] {
  const path = pointer
    .slice(1)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  const wrong = valueAt(given, path);
  const right = wrong === undefined ? undefined : otherType(wrong);
  if (wrong === undefined || right === undefined) return [];
  const repaired = replaced(given, path, right);
  const isRight = !schemas
    .check(schema, repaired)
    .some(({ instancePath }) => instancePath === pointer || instancePath.startsWith(`${pointer}/`));
  return isRight && !secret.includes(path[0] ?? '') ? [texts.sendInstead(right, wrong)] : [];
}

/** The same in the type it was probably meant in: `5` for `"5"`, `"5"` for `5`. */
function otherType(value: Json): Json | undefined {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'string') return undefined;
  try {
    return JSON.parse(value) as Json;
  } catch {
    return undefined;
  }
}

function valueAt(value: Json, path: readonly string[]): Json | undefined {
  let current: Json | undefined = value;
  for (const key of path) {
    if (typeof current !== 'object' || current === null) return undefined;
    current = Object.hasOwn(current, key) ? (current as Readonly<Record<string, Json>>)[key] : undefined;
  }
  return current;
}

function replaced(value: Json, [key, ...rest]: readonly string[], by: Json): Json {
  if (key === undefined) return by;
  if (Array.isArray(value)) {
    return value.map((item: Json, index) => (String(index) === key ? replaced(item, rest, by) : item));
  }
  if (!isJsonObject(value)) return value;
  return { ...value, [key]: replaced(value[key] ?? null, rest, by) };
}
