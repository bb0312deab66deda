import type { Json } from '../../graph/json.js';

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

/** Whether a value's JSON text has at most `limit` bytes of UTF-8. Most values are far below: no text of them is made. */
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
function textSize(text: string, left: number): number {
  const least = text.length + 2;
  return least > left ? least : Buffer.byteLength(JSON.stringify(text));
}
