import { isJsonObject, type Json } from '../../../graph/json.js';

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
