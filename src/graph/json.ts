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

/** A JSON pointer (RFC 6901) of keys and indices. */
export function pointerOf(path: readonly PropertyKey[]): string {
  return path.map((key) => `/${pointerSegment(String(key))}`).join('');
}

/** A key in a JSON pointer. */
export function pointerSegment(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** The keys of a JSON pointer. */
export function pointerKeys(pointer: string): readonly string[] {
  const segments = pointer.split('/').slice(1);
  return segments.map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** A member of an object or an item of a list; `undefined` for keys that the value does not have. */
export function memberOf(value: Json | undefined, key: string): Json | undefined {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? (value as Readonly<Record<string, Json>>)[key]
    : undefined;
}

/** The value that a reference within a schema names: `#`, or `#` and a JSON pointer. */
export function referredSchema(reference: string, root: JsonSchema): Json | undefined {
  if (!/^#(?:\/|$)/.test(reference)) return undefined;
  return pointerKeys(reference).map(decoded).reduce<Json | undefined>(memberOf, root);
}

/** A segment of a fragment may be percent-encoded. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
