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

/** A key as a segment of a JSON pointer (RFC 6901). */
export function pointerKey(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

export function pointerOf(path: readonly PropertyKey[]): string {
  return path.map((key) => `/${pointerKey(String(key))}`).join('');
}

export function keysOf(pointer: string): string[] {
  const keys = pointer.split('/').slice(1);
  return keys.map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** A member of an object or an item of a list; `undefined` for keys that the value does not have. */
export function memberOf(value: Json | undefined, key: string): Json | undefined {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? (value as JsonObject)[key]
    : undefined;
}

/** The value that a `$ref` names, such as `#/$defs/page`. References to other documents are not followed. */
export function referredValue(ref: string, root: Json): Json | undefined {
  return /^#(?:\/|$)/.test(ref)
    ? keysOf(ref)
        .map(decoded)
        .reduce(memberOf, root as Json | undefined)
    : undefined;
}

/** A segment of a fragment may be percent-encoded. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** The value of a text; undefined for one that is not JSON. */
export function jsonOf(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** Ends a `switch` over a union: reaching it is a fault of our own. */
export function unreachable(value: never): never {
  throw new TypeError(`unexpected ${String(value)}`);
}

/** Whether the results of a tool with this output schema are `{ result: value }`, and steps bind the value alone. */
export function isWrapped(outputSchema: JsonSchema | undefined): boolean {
  return outputSchema?.['x-fastmcp-wrap-result'] === true;
}
