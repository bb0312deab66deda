import type { Json } from '../../../graph/json.js';
import { isJsonObject } from '../../../graph/json.js';
import { bodyText, cutText } from '../../../graph/printable-text.js';

/** The longest title or description that a list has, in UTF-16 code units. */
const LIMIT = 10_000;

/** Members of schemas that hold data, which stays as it is. */
const DATA: ReadonlySet<string> = new Set(['default', 'const', 'enum', 'examples', '_meta', 'icons']);
/** Members of schemas with names of their own as keys. */
const NAMED: ReadonlySet<string> = new Set(['properties', 'patternProperties', '$defs', 'definitions']);

/**
 * Entries of a list with readable titles and descriptions, those in schemas among them: unprintable characters are
 * written as `\u…`, and a long text is cut with a note. Many come from upstream servers and spec files.
 */
export function listedTexts<T>(entries: readonly T[]): readonly T[] {
  return entries.map((entry) => readable(entry as Json) as T);
}

/** Schemas that catalogues which follow each other have in common. */
const READABLE = new WeakMap<object, Json>();

function readable(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value;
  const known = READABLE.get(value) ?? readableParts(value, false);
  READABLE.set(value, known);
  return known;
}

function readableParts(value: Json, hasNames: boolean): Json {
  if (Array.isArray(value)) {
    const items = value.map((item: Json) => readable(item));
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).map(([key, member]): [string, Json] => {
    if (hasNames) return [key, readable(member)];
    if (typeof member === 'string') return [key, isShown(key) ? readableText(member) : member];
    return [key, DATA.has(key) ? member : NAMED.has(key) ? readableParts(member, true) : readable(member)];
  });
  return entries.every(([key, member]) => member === value[key]) ? value : Object.fromEntries(entries);
}

function isShown(key: string): boolean {
  return key === 'description' || key === 'title';
}

function readableText(text: string): string {
  const shown = bodyText(text.slice(0, LIMIT + 2));
  if (text.length <= LIMIT && shown.length <= LIMIT) return shown;
  return `${cutText(shown, LIMIT)}… (cut: it has ${text.length} characters)`;
}
