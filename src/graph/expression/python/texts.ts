import type { Json, Value } from '../../json.js';
import { expressionError } from '../error.js';
import type { FunctionCall } from '../function.js';
import { chargeWhole, PythonValue } from '../value.js';
import { charged, intIn, textIn } from './define.js';
import { strip } from './methods.js';
import { floatText, isFloat, isObject, isTruthy, numberOf } from './values.js';

/** `\1` and `\g<1>` in a replacement are groups. */
export function substitute(by: string, groups: readonly (string | undefined)[], whole: string): string {
  return by.replace(
    /\\(?:g<(\d+)>|(\d{1,2})|([\\nt]))/g,
    (_, named?: string, digit?: string, letter?: string) => {
      if (letter !== undefined) return { '\\': '\\', n: '\n', t: '\t' }[letter] ?? letter;
      const index = Number(named ?? digit);
      return index === 0 ? whole : (groups[index - 1] ?? '');
    },
  );
}

/** One word of a POSIX shell. */
export function quoteForShell(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'"'"'`)}'`;
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  "'": '&#39;',
  '"': '&#34;',
};

export function escapeHtml(text: string): string {
  return text.replace(/[&<>'"]/g, (character) => ESCAPES[character] ?? character);
}

export function encodeUrl(text: string, isQuery: boolean): string {
  const encoded = encodeURIComponent(text.replace(/\p{Surrogate}/gu, '�')).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return isQuery ? encoded.replaceAll('%20', '+') : encoded.replaceAll('%2F', '/');
}

const SIZES = ['kB', 'MB', 'GB', 'TB', 'PB', 'EB', 'ZB', 'YB'];
const BINARY_SIZES = ['KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB', 'ZiB', 'YiB'];

export function fileSize(bytes: number, isBinary: boolean): string {
  const base = isBinary ? 1024 : 1000;
  if (bytes === 1) return '1 Byte';
  if (bytes < base) return `${Math.trunc(bytes)} Bytes`;
  const units = isBinary ? BINARY_SIZES : SIZES;
  for (const [index, unit] of units.entries()) {
    const size = base ** (index + 2);
    if (bytes < size) return `${((base * bytes) / size).toFixed(1)} ${unit}`;
  }
  return `${(bytes / base ** units.length).toFixed(1)} ${units.at(-1) ?? ''}`;
}

/** A text without its parts between two marks. */
export function withoutParts(text: string, open: string, close: string): string {
  let result = '';
  let at = 0;
  for (;;) {
    const start = text.indexOf(open, at);
    const end = start === -1 ? -1 : text.indexOf(close, start + open.length);
    if (end === -1) return result + text.slice(at);
    result += text.slice(at, start);
    at = end + close.length;
  }
}

/** White space of a width, or a text itself. */
function marginOf(width: Value, fn: string, other: number, call: FunctionCall): string {
  if (typeof width === 'string') return width;
  const size = Math.max(0, intIn(width, fn, call, other));
  call.budget.charge(size, call.at);
  return ' '.repeat(size);
}

export function indent(text: string, width: Value, first: Value, blank: Value, call: FunctionCall): string {
  const margin = marginOf(width, 'indent', 4, call);
  const [head = '', ...lines] = text.split('\n');
  call.budget.charge(margin.length * (lines.length + 1), call.at);
  const rest = lines.map((line) => (line !== '' || isTruthy(blank) ? margin + line : line));
  return [isTruthy(first) ? margin + head : head, ...rest].join('\n');
}

export function truncate(
  text: string,
  call: FunctionCall,
  length: Value,
  killwords: Value,
  end: Value,
  leeway: Value,
): string {
  const all = [...text];
  const size = intIn(length, 'truncate', call, 255);
  const ending = end === undefined ? '...' : textIn(end, 'truncate', call);
  if (all.length <= size + intIn(leeway, 'truncate', call, 5)) return text;
  const cut = all.slice(0, Math.max(0, size - [...ending].length)).join('');
  if (isTruthy(killwords)) return cut + ending;
  const space = cut.lastIndexOf(' ');
  return (space === -1 ? cut : cut.slice(0, space)) + ending;
}

/** Wraps the lines of a text, as Python's `textwrap` does. */
export function wrap(text: string, width: number, breaksLongWords: boolean, by: string): string {
  return text
    .split('\n')
    .map((line) => wrapLine(line, Math.max(1, width), breaksLongWords).join(by))
    .join(by);
}

function wrapLine(text: string, width: number, breaksLongWords: boolean): string[] {
  const chunks = (text.match(/\s+|[^\s-]*[^\s-]-+(?=\w)|\S+/g) ?? []).reverse();
  const lines: string[] = [];
  while (chunks.length > 0) {
    const line: string[] = [];
    let length = 0;
    if (chunks.at(-1)?.trim() === '' && lines.length > 0) chunks.pop();
    for (
      let chunk = chunks.at(-1);
      chunk !== undefined && length + chunk.length <= width;
      chunk = chunks.at(-1)
    ) {
      line.push(chunk);
      length += chunk.length;
      chunks.pop();
    }
    const long = chunks.at(-1);
    if (long !== undefined && long.length > width) {
      if (breaksLongWords) {
        line.push(long.slice(0, width - length));
        chunks[chunks.length - 1] = long.slice(width - length);
      } else if (line.length === 0) line.push(chunks.pop() ?? '');
    }
    if (line.at(-1)?.trim() === '') line.pop();
    if (line.length > 0) lines.push(line.join(''));
  }
  return lines;
}

/** What expressions need of a library of regular expressions with linear time. Its patterns are those of RE2. */
export interface RegexLibrary {
  compile(pattern: string): RegexPattern;
}

interface RegexPattern {
  groupCount(): number;
  matcher(text: string): RegexMatcher;
}

interface RegexMatcher {
  find(start?: number): boolean;
  start(): number;
  end(): number;
  group(group: number): string | null;
}

/** A match: the whole of it and its groups, and where it is. */
export interface Match {
  readonly start: number;
  readonly end: number;
  /** Missing for a group that did not take part. */
  readonly groups: readonly (string | undefined)[];
  readonly whole: string;
}

let load: (() => RegexLibrary) | undefined;
const patterns = new Map<string, RegexPattern>();
const MAX_COMPILED = 200;

/** Says where regular expressions come from. The evaluator itself has no packages: its host has one. */
export function useRegexLibrary(loadLibrary: () => RegexLibrary): void {
  load = loadLibrary;
}

/** The matches of a pattern in a text, at most `most`. @throws ExpressionError `E_VALUE` for a pattern that cannot be read */
export function matchesIn(text: string, pattern: string, most: number, call: FunctionCall): readonly Match[] {
  const regex = patternOf(pattern, call);
  const [groups, matcher] = [regex.groupCount(), regex.matcher(text)];
  const matches: Match[] = [];
  // The time of a match is linear in the text and in the pattern.
  call.budget.charge(1 + text.length, call.at);
  let at = 0;
  while (matches.length < most && at <= text.length && matcher.find(at)) {
    const [start, end] = [matcher.start(), matcher.end()];
    call.budget.charge(1 + end - at + groups, call.at);
    matches.push({
      ...{ start, end, whole: text.slice(start, end) },
      groups: Array.from({ length: groups }, (_, index) => matcher.group(index + 1) ?? undefined),
    });
    at = end === start ? end + 1 : end;
  }
  return matches;
}

export function groupsOf(pattern: string, call: FunctionCall): number {
  return patternOf(pattern, call).groupCount();
}

function patternOf(pattern: string, { budget, at }: FunctionCall): RegexPattern {
  const existing = patterns.get(pattern);
  if (existing !== undefined) return existing;
  if (load === undefined) throw expressionError('E_UNSUPPORTED', { what: 'regular expressions here' }, at);
  budget.charge(10 * pattern.length, at);
  try {
    const created = load().compile(pattern);
    if (patterns.size >= MAX_COMPILED) patterns.clear();
    patterns.set(pattern, created);
    return created;
  } catch (fault) {
    const problem = `the pattern cannot be read: ${fault instanceof Error ? fault.message.replace(/^error parsing regexp: /, '') : ''}`;
    throw expressionError('E_VALUE', { fn: 'regex', problem }, at);
  }
}

/** JSON as Python writes it: a space behind `:` and `,`, floats with a fraction. */
export function jsonOf(value: Value, indent: Value, call: FunctionCall): string {
  chargeWhole(value, call.budget, call.at);
  const width = marginOf(indent, 'tojson', 0, call);
  const isPretty = indent !== undefined && indent !== null;
  const write = (part: Value, margin: string): string => {
    if (part === undefined) return 'null';
    if (isFloat(part)) return floatText(numberOf(part) ?? 0);
    if (PythonValue.is(part)) return JSON.stringify(part.toJSON());
    const inner = margin + width;
    const lines = (open: string, parts: readonly string[], close: string): string => {
      if (parts.length === 0) return open + close;
      return isPretty
        ? `${open}\n${inner}${parts.join(`,\n${inner}`)}\n${margin}${close}`
        : open + parts.join(', ') + close;
    };
    if (Array.isArray(part))
      return lines(
        '[',
        part.map((item: Value) => write(item, inner)),
        ']',
      );
    if (!isObject(part)) return JSON.stringify(part);
    const entries = Object.entries(part).filter(([, item]) => item !== undefined);
    return lines(
      '{',
      entries.map(([key, item]) => `${JSON.stringify(key)}: ${write(item, inner)}`),
      '}',
    );
  };
  return charged(write(value, ''), call);
}

/** Strict JSON, without one code fence around it. @throws ExpressionError `E_PARSE_JSON` */
export function parseJson(text: string, { allocations, at, budget }: FunctionCall): Value {
  budget.charge(text.length, at);
  const trimmed = strip(text, undefined, 'both');
  const opening = /^```(?:json)?[ \t]*\n/.exec(trimmed)?.[0];
  const isFenced = opening !== undefined && trimmed.endsWith('```');
  let value: Json;
  try {
    value = JSON.parse(isFenced ? trimmed.slice(opening.length, -3) : text, reviverOf(text)) as Json;
  } catch {
    throw expressionError('E_PARSE_JSON', { text: JSON.stringify(text.slice(0, 80)) }, at);
  }
  chargeWhole(value, budget, at);
  return Array.isArray(value) ? allocations.list(value, at) : value;
}

/** Refuses numbers and keys that a value cannot have. Most texts do without it. */
function reviverOf(text: string): ((key: string, part: Json) => Json) | undefined {
  if (!/\d{16}|\d[eE]|__proto__|\\u/.test(text)) return undefined;
  return (key, part) => {
    const isUnsafe = typeof part === 'number' && Number.isInteger(part) && !Number.isSafeInteger(part);
    if (isUnsafe || key === '__proto__') throw new Error();
    return part;
  };
}
