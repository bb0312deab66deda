import { ownProperty, type Value } from '../../json.js';
import type { FunctionCall, ResultKind } from '../function.js';
import { chargeWhole } from '../value.js';
import {
  charged,
  define,
  intIn,
  itemsIn,
  listOf,
  type PythonFunction,
  textIn,
  valueError,
  wrongType,
} from './define.js';
import { formatBraces, strftime } from './format.js';
import { isEqual } from './operators.js';
import { asValue, DateTime, float, isObject, isTruthy } from './values.js';

const WHITE =
  '\t\n\v\f\r \u001c\u001d\u001e\u001f\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000';
const IS_WHITE = new RegExp(`[${WHITE}]`);
const SPACES = new RegExp(`[${WHITE}]+`);

/** Text without white space, or without some characters, at its ends. */
export function strip(text: string, characters: Value, side: 'both' | 'left' | 'right'): string {
  const set = new Set(typeof characters === 'string' ? characters : []);
  const isOuter = (each = ''): boolean =>
    typeof characters === 'string' ? set.has(each) : IS_WHITE.test(each);
  // A white character is one code unit.
  const all = typeof characters === 'string' ? [...text] : text;
  let [start, end] = [0, all.length];
  // Not a pattern: one that ends in `$` takes the square of the length.
  if (side !== 'right') while (start < end && isOuter(all[start])) start += 1;
  if (side !== 'left') while (end > start && isOuter(all[end - 1])) end -= 1;
  const part = all.slice(start, end);
  return typeof part === 'string' ? part : part.join('');
}

/** Splits as `str.split` and `str.rsplit` do. */
function splitText(text: string, separator: Value, most: number, fromEnd = false): string[] {
  if (typeof separator !== 'string') {
    const trimmed = strip(text, undefined, most < 0 ? 'both' : fromEnd ? 'right' : 'left');
    if (strip(trimmed, undefined, 'both') === '') return [];
    if (fromEnd) {
      const reverse = (part: string): string => [...part].reverse().join('');
      return splitText(reverse(trimmed), separator, most).map(reverse).reverse();
    }
    const parts: string[] = [];
    let rest = trimmed;
    while (most < 0 || parts.length < most) {
      const match = SPACES.exec(rest);
      if (match === null) break;
      parts.push(rest.slice(0, match.index));
      rest = rest.slice(match.index + match[0].length);
    }
    if (rest !== '') parts.push(rest);
    return parts;
  }
  const all = text.split(separator);
  if (most < 0 || all.length <= most + 1) return all;
  return fromEnd
    ? [all.slice(0, all.length - most).join(separator), ...all.slice(all.length - most)]
    : [...all.slice(0, most), all.slice(most).join(separator)];
}

/** Each word with a capital first and the others small, as `str.title` has words: runs of letters. */
function titleText(text: string): string {
  return text.replace(/\p{L}+/gu, (word) => capitalize(word));
}

export function capitalize(text: string): string {
  const [first = '', ...others] = text;
  // One character may have a capital of several: `Ss` for `ß`.
  const [capital = '', ...rest] = first.toUpperCase();
  return capital + rest.join('').toLowerCase() + others.join('').toLowerCase();
}

/** Replaces at most `most` occurrences; all of them below 0. */
export function replaceText(
  text: string,
  part: string,
  by: string,
  most: number,
  call: FunctionCall,
): string {
  const parts = part === '' ? ['', ...text, ''] : text.split(part);
  const count = most < 0 ? parts.length - 1 : Math.min(most, parts.length - 1);
  call.budget.charge(text.length + by.length * count, call.at);
  return (
    parts.slice(0, count + 1).join(by) +
    parts
      .slice(count + 1)
      .map((rest) => part + rest)
      .join('')
  );
}

/** Methods of one kind of value, by name. */
type Methods<Self> = Readonly<
  Record<string, readonly [string, ResultKind, (self: Self, call: FunctionCall, ...args: Value[]) => Value]>
>;

const TEXT: Methods<string> = {
  capitalize: ['', 'text', (text) => capitalize(text)],
  casefold: ['', 'text', (text) => text.toLowerCase().replaceAll('ß', 'ss')],
  center: ['width fillchar?', 'text', (text, call, width, fill) => pad(text, width, fill, 'center', call)],
  endswith: [
    'suffix',
    'boolean',
    (text, call, end) => anyOf(end, 'endswith', call, (each) => text.endsWith(each)),
  ],
  expandtabs: [
    'tabsize?',
    'text',
    (text, call, size) => expandTabs(text, intIn(size, 'expandtabs', call, 8), call),
  ],
  find: ['sub start? end?', 'number', (text, call, ...args) => position(text, call, 'find', args, false)],
  format: ['args*', 'text', (text, call, ...args) => charged(formatBraces(text, args, call), call)],
  index: [
    'sub start? end?',
    'number',
    (text, call, ...args) => positionOf(position(text, call, 'index', args, false), 'index', call),
  ],
  isalnum: ['', 'boolean', (text) => /^[\p{L}\p{N}]+$/u.test(text)],
  isalpha: ['', 'boolean', (text) => /^\p{L}+$/u.test(text)],
  isdecimal: ['', 'boolean', (text) => /^\p{Nd}+$/u.test(text)],
  isdigit: ['', 'boolean', (text) => /^[\p{Nd}²³¹⁰⁴-⁹₀-₉]+$/u.test(text)],
  isnumeric: ['', 'boolean', (text) => /^\p{N}+$/u.test(text)],
  islower: ['', 'boolean', (text) => text !== text.toUpperCase() && text === text.toLowerCase()],
  isupper: ['', 'boolean', (text) => text !== text.toLowerCase() && text === text.toUpperCase()],
  isspace: ['', 'boolean', (text) => text !== '' && strip(text, undefined, 'both') === ''],
  istitle: ['', 'boolean', (text) => /\p{L}/u.test(text) && titleText(text) === text],
  join: [
    'items~',
    'text',
    (text, call, items) =>
      itemsIn(items, 'join', call)
        .map((item) => textIn(item, 'join', call))
        .join(text),
  ],
  ljust: ['width fillchar?', 'text', (text, call, width, fill) => pad(text, width, fill, 'left', call)],
  rjust: ['width fillchar?', 'text', (text, call, width, fill) => pad(text, width, fill, 'right', call)],
  lower: ['', 'text', (text) => text.toLowerCase()],
  upper: ['', 'text', (text) => text.toUpperCase()],
  swapcase: [
    '',
    'text',
    (text) =>
      [...text]
        .map((each) => (each === each.toUpperCase() ? each.toLowerCase() : each.toUpperCase()))
        .join(''),
  ],
  title: ['', 'text', (text) => titleText(text)],
  strip: ['chars?', 'text', (text, _, characters) => strip(text, characters, 'both')],
  lstrip: ['chars?', 'text', (text, _, characters) => strip(text, characters, 'left')],
  rstrip: ['chars?', 'text', (text, _, characters) => strip(text, characters, 'right')],
  partition: [
    'sep',
    'list of texts',
    (text, call, by) => partition(text, textIn(by, 'partition', call), false, call),
  ],
  rpartition: [
    'sep',
    'list of texts',
    (text, call, by) => partition(text, textIn(by, 'rpartition', call), true, call),
  ],
  removeprefix: [
    'prefix',
    'text',
    (text, call, part) =>
      text.startsWith(textIn(part, 'removeprefix', call)) ? text.slice(String(part).length) : text,
  ],
  removesuffix: [
    'suffix',
    'text',
    (text, call, part) =>
      part !== '' && text.endsWith(textIn(part, 'removesuffix', call))
        ? text.slice(0, -String(part).length)
        : text,
  ],
  replace: [
    'old new count?',
    'text',
    (text, call, old, by, count) =>
      replaceText(
        text,
        textIn(old, 'replace', call),
        textIn(by, 'replace', call),
        intIn(count, 'replace', call, -1),
        call,
      ),
  ],
  rfind: ['sub start? end?', 'number', (text, call, ...args) => position(text, call, 'rfind', args, true)],
  rindex: [
    'sub start? end?',
    'number',
    (text, call, ...args) => positionOf(position(text, call, 'rindex', args, true), 'rindex', call),
  ],
  split: ['sep? maxsplit?', 'list of texts', (text, call, by, most) => separate(text, by, most, false, call)],
  rsplit: ['sep? maxsplit?', 'list of texts', (text, call, by, most) => separate(text, by, most, true, call)],
  splitlines: [
    'keepends?',
    'list of texts',
    (text, call, keep) => listOf(linesOf(text, isTruthy(keep)), call),
  ],
  startswith: [
    'prefix',
    'boolean',
    (text, call, start) => anyOf(start, 'startswith', call, (each) => text.startsWith(each)),
  ],
  zfill: ['width', 'text', (text, call, width) => zeroFill(text, intIn(width, 'zfill', call), call)],
};

/** Text with characters beside it up to a width. */
export function pad(
  text: string,
  width: Value,
  fill: Value,
  side: 'left' | 'right' | 'center',
  call: FunctionCall,
): string {
  const size = intIn(width, 'ljust', call);
  const by = fill === undefined ? ' ' : textIn(fill, 'ljust', call);
  if ([...by].length !== 1) throw valueError('ljust', '`fillchar` is one character', call);
  const space = Math.max(0, size - [...text].length);
  call.budget.charge(space, call.at);
  if (side === 'left') return text + by.repeat(space);
  if (side === 'right') return by.repeat(space) + text;
  const left = Math.floor(space / 2) + (space & size & 1);
  return by.repeat(left) + text + by.repeat(space - left);
}

function zeroFill(text: string, width: number, call: FunctionCall): string {
  const sign = /^[+-]/.test(text) ? text.slice(0, 1) : '';
  const space = Math.max(0, width - [...text].length);
  call.budget.charge(space, call.at);
  return sign + '0'.repeat(space) + text.slice(sign.length);
}

function expandTabs(text: string, size: number, call: FunctionCall): string {
  let column = 0;
  return [...text]
    .map((each) => {
      if (each === '\n' || each === '\r') column = 0;
      else if (each !== '\t') column += 1;
      else {
        const space = size > 0 ? size - (column % size) : 0;
        column += space;
        call.budget.charge(space, call.at);
        return ' '.repeat(space);
      }
      return each;
    })
    .join('');
}

function anyOf(value: Value, fn: string, call: FunctionCall, test: (text: string) => boolean): boolean {
  const texts = Array.isArray(value) ? (value as readonly Value[]) : [value];
  return texts.some((each) => test(textIn(each, fn, call)));
}

function position(
  text: string,
  call: FunctionCall,
  fn: string,
  [sub, start, end]: readonly Value[],
  fromEnd: boolean,
): number {
  const all = [...text];
  const part = textIn(sub, fn, call);
  const bound = (value: Value, other: number): number => {
    const index = intIn(value, fn, call, other);
    return Math.min(all.length, index < 0 ? Math.max(0, index + all.length) : index);
  };
  const [from, to] = [bound(start, 0), bound(end, all.length)];
  if (from > to) return -1;
  const within = all.slice(from, to).join('');
  const index = fromEnd ? within.lastIndexOf(part) : within.indexOf(part);
  return index === -1 ? -1 : from + [...within.slice(0, index)].length;
}

function positionOf(index: number, fn: string, call: FunctionCall): number {
  if (index === -1) throw valueError(fn, 'the part does not occur', call);
  return index;
}

function partition(text: string, by: string, fromEnd: boolean, call: FunctionCall): Value {
  if (by === '') throw valueError('partition', 'the separator is empty', call);
  const index = fromEnd ? text.lastIndexOf(by) : text.indexOf(by);
  if (index === -1) return listOf(fromEnd ? ['', '', text] : [text, '', ''], call);
  return listOf([text.slice(0, index), by, text.slice(index + by.length)], call);
}

export function separate(text: string, by: Value, most: Value, fromEnd: boolean, call: FunctionCall): Value {
  if (by !== undefined && by !== null && typeof by !== 'string') throw wrongType('split', 'text', by, call);
  if (by === '') throw valueError('split', 'the separator is empty', call);
  const parts = splitText(text, by, intIn(most, 'split', call, -1), fromEnd);
  call.budget.charge(text.length + parts.length, call.at);
  return listOf(parts, call);
}

/** The characters that end a line. */
const LINE_ENDS = '\\n\\r\\v\\f\\u001c-\\u001e\\u0085\\u2028\\u2029';
const LINES = new RegExp(`[^${LINE_ENDS}]*(?:\\r\\n|[${LINE_ENDS}]|$)`, 'g');
const LINE_END = new RegExp(`(?:\\r\\n|[${LINE_ENDS}])$`);

function linesOf(text: string, keepEnds: boolean): string[] {
  const lines = text.match(LINES) ?? [];
  const all = lines.at(-1) === '' ? lines.slice(0, -1) : lines;
  return keepEnds ? all : all.map((line) => line.replace(LINE_END, ''));
}

type Subject = Readonly<Record<string, Value>>;

const DICT: Methods<Subject> = {
  get: [
    'key default?',
    'any',
    (object, call, key, other = null) =>
      ownProperty(object as never, textIn(key, 'get', call)) ??
      (Object.hasOwn(object, String(key)) ? null : other),
  ],
  keys: ['', 'list of texts', (object, call) => listOf(Object.keys(object), call)],
  values: ['', 'any', (object, call) => listOf(Object.values(object), call)],
  items: ['', 'any', (object, call) => itemsOf(object, call)],
  copy: ['', 'any', (object) => object as Value],
};

/** The entries of an object, each as a list of its key and its value. */
export function itemsOf(object: Subject, call: FunctionCall): Value {
  const { allocations, at } = call;
  return listOf(
    Object.entries(object).map((entry) => allocations.list(entry, at)),
    call,
  );
}

const LIST: Methods<readonly Value[]> = {
  index: [
    'item',
    'number',
    (list, call, item) => {
      chargeWhole(list as Value, call.budget, call.at);
      return positionOf(
        list.findIndex((each) => isEqual(each, item)),
        'index',
        call,
      );
    },
  ],
  count: [
    'item',
    'number',
    (list, call, item) => {
      chargeWhole(list as Value, call.budget, call.at);
      return list.filter((each) => isEqual(each, item)).length;
    },
  ],
  copy: ['', 'any', (list, call) => listOf(list, call)],
};

const TIME: Methods<DateTime> = {
  isoformat: ['', 'text', (time) => time.toJSON()],
  strftime: [
    'format',
    'text',
    (time, call, format) => charged(strftime(time, textIn(format, 'strftime', call), call), call),
  ],
  timestamp: ['', 'number', (time) => float(time.ms / 1_000)],
  date: ['', 'any', (time) => asValue(new DateTime(time.ms, true))],
};

/** How often a text or list has a part. `count` is a method of both. */
function count(subject: Value, call: FunctionCall, part: Value): Value {
  if (Array.isArray(subject)) return LIST.count?.[2](subject, call, part);
  const text = textIn(subject, 'count', call);
  const sub = textIn(part, 'count', call);
  return sub === '' ? [...text].length + 1 : text.split(sub).length - 1;
}

/** A name may be a method of several kinds of values: the value decides. */
function methodOf(written: string): PythonFunction {
  const kinds = [TEXT, DICT, LIST, TIME].flatMap((table) =>
    Object.hasOwn(table, written) ? [table[written]] : [],
  );
  const parameters = kinds.map((entry) => entry?.[0] ?? '').sort((a, b) => b.length - a.length)[0] ?? '';
  const results = new Set(kinds.map((entry) => entry?.[1]));
  const [only] = results;
  const result = results.size === 1 && only !== undefined ? only : 'any';
  return define(
    'method',
    written,
    `self${parameters === '' ? '' : ` ${parameters}`}`,
    result,
    (call, self, ...args) => {
      if (typeof self === 'string') {
        const entry = Object.hasOwn(TEXT, written) ? TEXT[written] : undefined;
        if (entry !== undefined) return checkText(entry[2](textIn(self, written, call), call, ...args), call);
      } else if (Array.isArray(self)) {
        const entry = Object.hasOwn(LIST, written) ? LIST[written] : undefined;
        if (entry !== undefined) return entry[2](itemsIn(self, written, call), call, ...args);
      } else if (DateTime.is(self)) {
        const entry = Object.hasOwn(TIME, written) ? TIME[written] : undefined;
        if (entry !== undefined) return entry[2](self, call, ...args);
      } else if (isObject(self)) {
        // Data keys win over methods, and data cannot be called.
        if (Object.hasOwn(self, written))
          throw valueError(written, 'the object has a key of this name, which cannot be called', call);
        const entry = Object.hasOwn(DICT, written) ? DICT[written] : undefined;
        if (entry !== undefined) return entry[2](self as Subject, call, ...args);
      }
      throw wrongType(`${written}()`, kindsOf(written), self, call);
    },
  );
}

function checkText(value: Value, call: FunctionCall): Value {
  return typeof value === 'string' ? charged(value, call) : value;
}

function kindsOf(written: string): string {
  const kinds = [
    ...(Object.hasOwn(TEXT, written) || written === 'count' ? ['text'] : []),
    ...(Object.hasOwn(LIST, written) ? ['a list'] : []),
    ...(Object.hasOwn(DICT, written) ? ['an object'] : []),
    ...(Object.hasOwn(TIME, written) ? ['a time'] : []),
  ];
  return kinds.join(' or ');
}

export const pythonMethods: readonly PythonFunction[] = [
  ...[...new Set([TEXT, DICT, LIST, TIME].flatMap((table) => Object.keys(table)))]
    .filter((name) => name !== 'count')
    .map(methodOf),
  define('method', 'count', 'self sub', 'number', (call, self, part) => count(self, call, part)),
];
