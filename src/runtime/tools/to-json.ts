import { isJsonObject, type Json, type JsonObject, pointerOf } from '../../graph/json.js';
import { thrownText } from './exceptions.js';

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
  const walk: Walk = { path: [], ancestors: [], remaining: SIZE_LIMIT };
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
  remaining: number;
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
  if (--walk.remaining < 0) throw tooLarge(walk);
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
  const index = walk.ancestors.indexOf(object);
  if (index !== -1)
    throw refuse(
      walk,
      `a cycle: the same object as ${index === 0 ? 'the result itself' : pointerOf(walk.path.slice(0, index))}`,
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
  if (array.length > walk.remaining) throw tooLarge(walk);
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

/** Deeper values are left to `toJson`, which says what is wrong with a cycle. */
const DEPTH = 64;

/**
 * A copy of a value that is plain JSON; nothing for any other, and for one that nests deeply. Members that are absent
 * are left out.
 */
export function copyJson(value: unknown, depth = 0): Json | undefined {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      // JSON has no -0: adding zero turns it into 0.
      return Number.isFinite(value) ? value + 0 : undefined;
    case 'object':
      break;
    default:
      return undefined;
  }
  if (value === null) return null;
  if (depth > DEPTH) return undefined;
  if (Array.isArray(value)) return copyList(value, depth + 1);
  if (!isJsonObject(value)) return undefined;
  const prototype: unknown = Object.getPrototypeOf(value);
  if ((prototype !== Object.prototype && prototype !== null) || 'toJSON' in value) return undefined;
  const copy: Record<string, Json> = {};
  for (const key of Object.keys(value)) {
    const member = value[key];
    if (member === undefined) continue;
    const copied = copyJson(member, depth + 1);
    if (copied === undefined || key === '__proto__') return undefined;
    copy[key] = copied;
  }
  return copy;
}

function copyList(list: readonly unknown[], depth: number): Json | undefined {
  const copy: Json[] = [];
  for (let index = 0; index < list.length; index += 1) {
    const copied = copyJson(list[index], depth);
    if (copied === undefined) return undefined;
    copy.push(copied);
  }
  return copy;
}

/**
 * The size of a value's JSON text in bytes of UTF-8: exact up to `limit`, at least this much beyond. The text itself
 * is not made, since that of a value with shared parts may be longer than a string can be.
 */
export function jsonSize(value: Json, limit: number): number {
  let size = 0;
  const stack: Json[] = [value];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    if (typeof next === 'string') size += textSize(next, limit - size);
    else if (typeof next !== 'object' || next === null) size += String(next).length;
    else if (Array.isArray(next)) {
      size += 2 + Math.max(0, next.length - 1);
      for (const item of next) stack.push(item);
    } else {
      const members = Object.entries(next);
      size += 2 + Math.max(0, members.length - 1);
      for (const [key, member] of members) {
        size += textSize(key, limit - size) + 1;
        stack.push(member);
      }
    }
  }
  return size;
}

/**
 * Whether a value's JSON text has at most `limit` bytes of UTF-8. Most values are far below: no text of them is made.
 */
export function isWithin(value: Json, limit: number): boolean {
  return mostSize(value, limit) <= limit || jsonSize(value, limit) <= limit;
}

/** What the size is at most, or more than `limit`: a UTF-16 code unit takes six bytes, a number 24. */
function mostSize(value: Json, limit: number): number {
  if (typeof value === 'string') return value.length * 6 + 2;
  if (typeof value !== 'object' || value === null) return 25;
  let size = 2;
  if (Array.isArray(value)) {
    for (const item of value as readonly Json[]) {
      size += mostSize(item, limit) + 1;
      if (size > limit) break;
    }
    return size;
  }
  for (const key of Object.keys(value)) {
    size += key.length * 6 + 4 + mostSize((value as Readonly<Record<string, Json>>)[key] ?? null, limit);
    if (size > limit) break;
  }
  return size;
}

/** Where the limit is passed in any case, the number of characters will do. */
function textSize(text: string, limit: number): number {
  const least = text.length + 2;
  return least > limit ? least : Buffer.byteLength(JSON.stringify(text));
}
