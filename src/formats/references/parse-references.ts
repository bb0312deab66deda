/** A reference in a text: `$flight.0.id`, `${cart_id?|uri}`. Indexes are those of the text. */
export interface ReferenceToken {
  readonly start: number;
  readonly end: number;
  readonly name: string;
  readonly keys: readonly (string | number)[];
  /** Whether its value may be missing. */
  readonly isOptional: boolean;
  readonly filter?: string;
  readonly filterStart?: number;
}

/** A part of a text that is computed: `${$price * 2}`. `inner` is what is between its braces. */
export interface ExpressionToken {
  readonly start: number;
  readonly end: number;
  readonly inner: { readonly start: number; readonly end: number };
}

/** A part of a text that looks like a reference and has a fault. */
export interface MalformedReference {
  readonly start: number;
  readonly end: number;
  readonly problem: string;
}

export type TextPart = string | ReferenceToken | ExpressionToken | MalformedReference;

const KEYS = '(?:\\.[A-Za-z_][A-Za-z0-9_]*|\\.[0-9]+|\\[[0-9]+\\])*';
const PATH = new RegExp(`([A-Za-z_][A-Za-z0-9_]*)(${KEYS})`, 'y');
const REST = new RegExp(KEYS, 'y');
const KEY = /[A-Za-z_][A-Za-z0-9_]*|[0-9]+/g;
const FILTER = /\|([A-Za-z_]*)/y;

/** Reads the path at an index of a text, without its `$`. */
export function pathAt(
  text: string,
  index: number,
): { readonly name: string; readonly keys: readonly (string | number)[]; readonly end: number } | undefined {
  PATH.lastIndex = index;
  const [all, name = '', rest = ''] = PATH.exec(text) ?? [];
  return all === undefined ? undefined : { name, keys: keysIn(rest), end: index + all.length };
}

/** Reads the keys behind a value that is not a name. */
export function restAt(
  text: string,
  index: number,
): { readonly keys: readonly (string | number)[]; readonly end: number } {
  REST.lastIndex = index;
  const [rest = ''] = REST.exec(text) ?? [];
  return { keys: keysIn(rest), end: index + rest.length };
}

function keysIn(rest: string): (string | number)[] {
  return [...rest.matchAll(KEY)].map(([key]) => (/^[0-9]/.test(key) ? indexOrText(key) : key));
}

/** An index that a number cannot hold stays text: no list has it. */
function indexOrText(key: string): string | number {
  const value = Number(key);
  return Number.isSafeInteger(value) ? value : key;
}

/**
 * Splits a text at its references. `$$` is a dollar sign, and so is a `$` that no name follows. A text that is one
 * reference alone may have a `?` behind it without braces.
 */
export function parseReferences(text: string): readonly TextPart[] {
  if (!text.includes('$')) return text === '' ? [] : [text];
  const parts: TextPart[] = [];
  let literal = '';
  let index = 0;
  const add = (part: Exclude<TextPart, string>): void => {
    if (literal !== '') parts.push(literal);
    literal = '';
    parts.push(part);
    index = part.end;
  };
  while (index < text.length) {
    const next = text.indexOf('$', index);
    if (next === -1) break;
    literal += text.slice(index, next);
    index = next;
    const token = text[next + 1] === '{' ? bracedAt(text, next) : bareAt(text, next);
    if (token !== undefined) {
      add(token);
      continue;
    }
    literal += '$';
    index += text[next + 1] === '$' ? 2 : 1;
  }
  literal += text.slice(index);
  if (literal !== '') parts.push(literal);
  return parts;
}

function bareAt(text: string, start: number): ReferenceToken | undefined {
  const path = pathAt(text, start + 1);
  if (path === undefined) return undefined;
  const isWhole = start === 0 && path.end === text.length - 1 && text.endsWith('?');
  const { name, keys } = path;
  return { start, end: isWhole ? text.length : path.end, name, keys, isOptional: isWhole };
}

/** Braces without a name, such as `${}` and `${ }`, are text. */
function bracedAt(text: string, start: number): Exclude<TextPart, string> | undefined {
  const path = pathAt(text, start + 2);
  if (path === undefined)
    return /^[^{}]*[$(]/.test(text.slice(start + 2)) ? computedAt(text, start) : undefined;
  const { name, keys } = path;
  const isOptional = text[path.end] === '?';
  let end = path.end + (isOptional ? 1 : 0);
  FILTER.lastIndex = end;
  const [all, filter] = FILTER.exec(text) ?? [];
  const filterStart = end + 1;
  end += all?.length ?? 0;
  if (text[end] !== '}') return computedAt(text, start);
  const filtered = filter === undefined ? {} : { filter, filterStart };
  return { start, end: end + 1, name, keys, isOptional, ...filtered };
}

/** An expression in braces, which end outside of its own braces and texts. */
function computedAt(text: string, start: number): ExpressionToken | MalformedReference {
  let depth = 0;
  for (const { 0: sign, index } of text.slice(start).matchAll(/'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[{}]/g)) {
    if (sign === '{') depth += 1;
    if (sign !== '}') continue;
    depth -= 1;
    const end = start + index;
    if (depth === 0) return { start, end: end + 1, inner: { start: start + 2, end } };
  }
  return { start, end: pathAt(text, start + 2)?.end ?? start + 2, problem: 'it has no `}`' };
}
