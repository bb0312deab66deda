import type { Json } from '../../graph/json.js';
import type { Place } from '../../graph/place.js';
import type { ExpressionSyntax } from '../syntax.js';

export type StaticRead =
  | { readonly ok: true; readonly value: Json | undefined }
  /** Where the first part stands that is not a literal, and the way to it. */
  | { readonly ok: false; readonly place: Place; readonly path: readonly (string | number)[] };

/** The value of an expression that consists of literals only. Absent keys are dropped, absent items become null. */
export function readStatic(syntax: ExpressionSyntax): StaticRead {
  return read(syntax, []);
}

function read(syntax: ExpressionSyntax, path: readonly (string | number)[]): StaticRead {
  switch (syntax.kind) {
    case 'literal':
      if (syntax.constant !== undefined) return { ok: false, place: syntax.place, path };
      return { ok: true, value: syntax.value };
    case 'undefined':
      return { ok: true, value: undefined };
    case 'parenthesized':
      return read(syntax.inner, path);
    case 'array': {
      const items: Json[] = [];
      for (const [index, item] of syntax.items.entries()) {
        if (item.spread) return { ok: false, place: item.value.place, path: [...path, index] };
        const value = read(item.value, [...path, index]);
        if (!value.ok) return value;
        items.push(value.value ?? null);
      }
      return { ok: true, value: items };
    }
    case 'object': {
      const entries = new Map<string, Json>();
      for (const entry of syntax.entries) {
        if ('spread' in entry) return { ok: false, place: entry.spread.place, path: [...path, '...'] };
        if ('unsupported' in entry) return { ok: false, place: entry.place, path };
        // As a literal this key sets the prototype and is no key at all.
        if (entry.key === '__proto__')
          return { ok: false, place: entry.keyPlace, path: [...path, entry.key] };
        const value = read(entry.value, [...path, entry.key]);
        if (!value.ok) return value;
        entries.delete(entry.key);
        if (value.value !== undefined) entries.set(entry.key, value.value);
      }
      return { ok: true, value: Object.fromEntries(entries) };
    }
    default:
      return { ok: false, place: syntax.place, path };
  }
}
