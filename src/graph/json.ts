/** Any value JSON can hold. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

/** A JSON object. Keys whose value is absent are dropped, never stored as `undefined`. */
export interface JsonObject {
  readonly [key: string]: Json;
}

/**
 * What an expression may evaluate to: JSON, or `undefined` for absent.
 * Absent and null are different: absent keys are left out of objects, null is kept.
 */
export type Value = Json | undefined;

/** A JSON Schema (draft 2020-12), kept as plain data. */
export type JsonSchema = JsonObject;

/** True for a JSON object: neither an array nor null. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Reads an own property; inherited members such as `constructor` and `__proto__` are never reached. */
export function ownProperty<T>(object: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** Ends a `switch` over a union: reaching it is a fault of our own. */
export function unreachable(value: never): never {
  throw new TypeError(`unexpected ${String(value)}`);
}

/** Whether the results of a tool with this output schema are `{ result: value }`, and steps bind the value alone. */
export function isWrapped(outputSchema: JsonSchema | undefined): boolean {
  return outputSchema?.['x-fastmcp-wrap-result'] === true;
}
