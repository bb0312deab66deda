import type { Json, JsonObject } from '../../graph/json.js';
import { thrownText } from './thrown.js';

/** How deeply a result or an input may nest. */
export const DEPTH_LIMIT = 512;
/** How many values a result or an input may hold, counted where shared parts are repeated, as JSON repeats them. */
export const SIZE_LIMIT = 1_000_000;

export type ToJson =
  | { readonly ok: true; readonly value: Json }
  /** `pointer` is a JSON pointer to the fault; `problem` completes "it is …". */
  | { readonly ok: false; readonly pointer: string; readonly problem: string };

/**
 * A copy of `value` as plain JSON, or where and why it is none. It follows `JSON.stringify` (`toJSON` is honoured,
 * absent members are dropped, absent items become null) but refuses what that would lose or distort in silence:
 * functions, symbols, NaN, Map and other built-in objects. Absent as a whole is null. It never throws: getters,
 * proxies and `toJSON` methods may.
 */
export function toJson(value: unknown): ToJson {
  const walk: Walk = { path: [], ancestors: [], left: SIZE_LIMIT };
  try {
    return { ok: true, value: convert(value, '', walk) ?? null };
  } catch (error) {
    if (error instanceof NotJson) return { ok: false, pointer: error.pointer, problem: error.message };
    return {
      ok: false,
      pointer: pointerOf(walk.path),
      problem: `an object whose reading failed: ${thrownText(error)}`,
    };
  }
}

interface Walk {
  readonly path: string[];
  readonly ancestors: object[];
  left: number;
}

class NotJson extends Error {
  constructor(
    readonly pointer: string,
    problem: string,
  ) {
    super(problem);
  }
}

function convert(value: unknown, key: string, walk: Walk): Json | undefined {
  if (--walk.left < 0) throw tooLarge(walk);
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      if (!Number.isFinite(value)) throw refuse(walk, `${value}`);
      return value === 0 ? 0 : value;
    case 'undefined':
      return undefined;
    case 'bigint':
      throw refuse(walk, 'a bigint');
    case 'function':
      throw refuse(walk, 'a function');
    case 'symbol':
      throw refuse(walk, 'a symbol');
    case 'object':
      return value === null ? null : convertObject(value, key, walk);
  }
}

function convertObject(object: object, key: string, walk: Walk): Json | undefined {
  const seen = walk.ancestors.indexOf(object);
  if (seen !== -1)
    throw refuse(
      walk,
      `a cycle: the same object as ${seen === 0 ? 'the result itself' : pointerOf(walk.path.slice(0, seen))}`,
    );
  if (walk.ancestors.length >= DEPTH_LIMIT) throw refuse(walk, `nested more than ${DEPTH_LIMIT} levels deep`);
  walk.ancestors.push(object);
  try {
    if ('toJSON' in object && typeof object.toJSON === 'function') {
      if (object instanceof Date && Number.isNaN(object.getTime())) throw refuse(walk, 'an invalid date');
      return convertPlain(object.toJSON(key), walk);
    }
    return convertPlain(object, walk);
  } finally {
    walk.ancestors.pop();
  }
}

/** As `convert`, but without `toJSON`, which counts once only. */
function convertPlain(value: unknown, walk: Walk): Json | undefined {
  if (typeof value !== 'object' || value === null) return convert(value, '', walk);
  if (Array.isArray(value)) return convertArray(value, walk);
  if (!isPlain(value)) {
    const tag = Object.prototype.toString.call(value).slice(8, -1);
    if (tag !== 'Object') throw refuse(walk, `an object of the kind ${tag}`);
  }
  const result: Record<string, Json> = {};
  for (const key of Object.keys(value)) {
    walk.path.push(key);
    const member = convert((value as Record<string, unknown>)[key], key, walk);
    walk.path.pop();
    if (member !== undefined) setOwn(result, key, member);
  }
  return result;
}

/** An object without a class, which has no name to look up. */
function isPlain(value: object): boolean {
  return Object.getPrototypeOf(value) === Object.prototype && !(Symbol.toStringTag in value);
}

function convertArray(array: readonly unknown[], walk: Walk): Json[] {
  if (array.length > walk.left) throw tooLarge(walk);
  const result: Json[] = [];
  for (let index = 0; index < array.length; index++) {
    walk.path.push(String(index));
    result.push(convert(array[index], String(index), walk) ?? null);
    walk.path.pop();
  }
  return result;
}

/** Plain assignment of `__proto__` would change the prototype instead of adding a member. */
function setOwn(target: Record<string, Json>, key: string, value: Json): void {
  if (key === '__proto__') {
    Object.defineProperty(target, key, { value, enumerable: true, writable: true, configurable: true });
  } else {
    target[key] = value;
  }
}

function tooLarge(walk: Walk): NotJson {
  return refuse(walk, `part of more than ${SIZE_LIMIT} values`);
}

function refuse(walk: Walk, problem: string): NotJson {
  return new NotJson(pointerOf(walk.path), problem);
}

/** RFC 6901. */
export function pointerOf(path: readonly (string | number)[]): string {
  return path.map((segment) => `/${String(segment).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** The pointer to an object that has `__proto__` as a member of its own, at any depth; nothing where none does. */
export function findProtoKey(value: Json): string | undefined {
  return hasProtoKey(value) ? pointerToProtoKey(value) : undefined;
}

/** Most values have none: no pointers are made for them. Not for more than {@link DEPTH_LIMIT} levels. */
function hasProtoKey(value: Json): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some(hasProtoKey);
  if (Object.hasOwn(value, '__proto__')) return true;
  for (const key of Object.keys(value)) if (hasProtoKey((value as JsonObject)[key] ?? null)) return true;
  return false;
}

function pointerToProtoKey(value: Json): string | undefined {
  const stack: { readonly value: Json; readonly path: readonly string[] }[] = [{ value, path: [] }];
  for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
    if (typeof at.value !== 'object' || at.value === null) continue;
    if (Object.hasOwn(at.value, '__proto__')) return pointerOf(at.path);
    for (const [key, member] of Object.entries(at.value as JsonObject)) {
      stack.push({ value: member, path: [...at.path, key] });
    }
  }
  return undefined;
}
