import type { Json, Value } from '../../json.js';
import { sha256Hex } from '../../sha256.js';
import { expressionError } from '../error.js';
import type { FunctionCall } from '../function.js';
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
import { formatPercent } from './format.js';
import { capitalize, itemsOf, pad, replaceText, separate, strip } from './methods.js';
import { attributeOf, calculatePython, isEqual, memberOf, orderOf } from './operators.js';
import {
  encodeUrl,
  escapeHtml,
  fileSize,
  groupsOf,
  indent,
  jsonOf,
  matchesIn,
  parseJson,
  quoteForShell,
  substitute,
  truncate,
  withoutParts,
  wrap,
} from './texts.js';
import { asValue, float, isFloat, isObject, isTruthy, numberOf, present, reprOf, strOf } from './values.js';

const filter = (
  written: string,
  parameters: string,
  result: PythonFunction['result'],
  apply: (call: FunctionCall, ...args: Value[]) => Value,
): PythonFunction => define('filter', written, parameters, result, apply);

const str = (value: Value, call: FunctionCall): string => strOf(value, call.budget, call.at);

/** Texts are compared without case unless that is asked for. */
function foldCase(value: Value, caseSensitive: Value): Value {
  return typeof value === 'string' && !isTruthy(caseSensitive) ? value.toLowerCase() : value;
}

function sortBy(
  items: readonly Value[],
  keyOf: (item: Value) => Value,
  reverse: Value,
  call: FunctionCall,
): Value[] {
  call.budget.charge(items.length * Math.ceil(Math.log2(items.length + 2)), call.at);
  for (const item of items) chargeWhole(item, call.budget, call.at);
  const sign = isTruthy(reverse) ? -1 : 1;
  return [...items].sort((one, other) => sign * orderOf(keyOf(one), keyOf(other), 'sort', call.at));
}

/** By one attribute, or by several with commas between. */
function sortKey(attribute: Value, caseSensitive: Value): (item: Value) => Value {
  if (attribute === undefined || attribute === null) return (item) => foldCase(item, caseSensitive);
  const paths = typeof attribute === 'string' ? attribute.split(',') : [attribute];
  if (paths.length === 1) return (item) => foldCase(attributeOf(item, paths[0]), caseSensitive);
  return (item) => paths.map((path) => foldCase(attributeOf(item, path), caseSensitive)) as Json;
}

function extreme(written: 'min' | 'max'): PythonFunction {
  return filter(
    written,
    'value~ case_sensitive? attribute?',
    'any',
    (call, value, caseSensitive, attribute) => {
      const key = sortKey(attribute, caseSensitive);
      return itemsIn(value, written, call).reduce<Value>((best, item) => {
        if (best === undefined) return item;
        const order = orderOf(key(item), key(best), written, call.at);
        return (written === 'min' ? order < 0 : order > 0) ? item : best;
      }, undefined);
    },
  );
}

function groupBy(
  items: readonly Value[],
  attribute: Value,
  other: Value,
  caseSensitive: Value,
  call: FunctionCall,
): Value {
  const groupOf = (item: Value): Value => attributeOf(item, attribute) ?? other;
  const keyOf = (item: Value): Value => foldCase(groupOf(item), caseSensitive);
  const groups: { readonly key: Value; readonly first: Value; readonly items: Value[] }[] = [];
  for (const item of sortBy(items, keyOf, undefined, call)) {
    const last = groups.at(-1);
    if (last !== undefined && isEqual(last.key, keyOf(item))) last.items.push(item);
    else groups.push({ key: keyOf(item), first: groupOf(item), items: [item] });
  }
  const pairs = groups.map(({ key, first, items: members }) =>
    listOf([isTruthy(caseSensitive) ? key : first, listOf(members, call)], call),
  );
  return listOf(pairs, call);
}

function chunks(items: readonly Value[], size: number, fill: Value, call: FunctionCall): Value {
  if (size < 1) throw valueError('batch', 'the size must be at least 1', call);
  const rows: Value[] = [];
  for (let start = 0; start < items.length; start += size) {
    const row = items.slice(start, start + size);
    const missing = fill === undefined || fill === null ? 0 : size - row.length;
    call.budget.charge(missing, call.at);
    rows.push(listOf([...row, ...Array.from({ length: missing }, () => fill)], call));
  }
  return listOf(rows, call);
}

function columns(items: readonly Value[], count: number, fill: Value, call: FunctionCall): Value {
  if (count < 1) throw valueError('slice', 'the number must be at least 1', call);
  call.budget.charge(count, call.at);
  const perColumn = Math.floor(items.length / count);
  const extra = items.length % count;
  let start = 0;
  const rows = Array.from({ length: count }, (_, index) => {
    const size = perColumn + (index < extra ? 1 : 0);
    const row = items.slice(start, start + size);
    start += size;
    return listOf(
      fill !== undefined && fill !== null && index >= extra && extra > 0 ? [...row, fill] : row,
      call,
    );
  });
  return listOf(rows, call);
}

const defaultFilter = (written: string): PythonFunction =>
  filter(written, 'value~ default_value? boolean?', 'any', (_, value, other, boolean) => {
    if (value === undefined || (isTruthy(boolean) && !isTruthy(value)))
      return other === undefined ? '' : other;
    return value;
  });

const lengthFilter = (written: string): PythonFunction =>
  filter(written, 'value~', 'number', (call, value) => itemsIn(value, written, call).length);

const textFilter = (written: string, apply: (text: string) => string): PythonFunction =>
  filter(written, 'value', 'text', (call, value) => charged(apply(str(value, call)), call));

/** The filters, but for those that take another filter or test: see `NESTED_FILTERS`. */
export const pythonFilters: readonly PythonFunction[] = [
  filter('abs', 'value', 'number', (call, value) => {
    const number = numberOf(value);
    if (number === undefined) throw wrongType('abs', 'a number', value, call);
    return isFloat(value) ? float(Math.abs(number)) : Math.abs(number);
  }),
  filter('attr', 'value~ name', 'any', (call, value, name) =>
    isObject(value) ? memberOf(value, textIn(name, 'attr', call)) : undefined,
  ),
  filter('batch', 'value~ linecount fill_with?', 'any', (call, value, size, fill) =>
    chunks(itemsIn(value, 'batch', call), intIn(size, 'batch', call), fill, call),
  ),
  filter('bool', 'value', 'boolean', (call, value) => booleanOf(value, call)),
  textFilter('capitalize', capitalize),
  filter('center', 'value width?', 'text', (call, value, width = 80) =>
    pad(str(value, call), width, undefined, 'center', call),
  ),
  defaultFilter('default'),
  defaultFilter('d'),
  filter(
    'dictsort',
    'value case_sensitive? by? reverse?',
    'any',
    (call, value, caseSensitive, by, reverse) => {
      if (!isObject(value)) throw wrongType('dictsort', 'an object', value, call);
      if (by !== undefined && by !== 'key' && by !== 'value')
        throw valueError('dictsort', '`by` is key or value', call);
      const index = by === 'value' ? 1 : 0;
      const pairs = itemsIn(itemsOf(value, call), 'dictsort', call);
      return listOf(
        sortBy(pairs, (pair) => foldCase(memberOf(pair, index), caseSensitive), reverse, call),
        call,
      );
    },
  ),
  textFilter('escape', escapeHtml),
  textFilter('e', escapeHtml),
  textFilter('forceescape', escapeHtml),
  textFilter('safe', (text) => text),
  filter('filesizeformat', 'value binary?', 'text', (call, value, binary) => {
    const number = numberOf(floatOf(value, undefined));
    if (number === undefined) throw wrongType('filesizeformat', 'a number', value, call);
    return fileSize(number, isTruthy(binary));
  }),
  filter('first', 'value~', 'any', (call, value) => itemsIn(value, 'first', call)[0]),
  filter('last', 'value~', 'any', (call, value) => itemsIn(value, 'last', call).at(-1)),
  filter('float', 'value default?', 'number', (_, value, other = asValue(float(0))) => floatOf(value, other)),
  filter('format', 'value args*', 'text', (call, value, ...args) =>
    charged(formatPercent(str(value, call), args, call), call),
  ),
  filter(
    'groupby',
    'value~ attribute default? case_sensitive?',
    'any',
    (call, value, attribute, other, caseSensitive) =>
      groupBy(itemsIn(value, 'groupby', call), attribute, other, caseSensitive, call),
  ),
  filter('hash', 'value', 'text', (call, value) => sha256Hex(textIn(value, 'hash', call))),
  filter('indent', 'value width? first? blank?', 'text', (call, value, width, first, blank) =>
    charged(indent(str(value, call), width, first, blank, call), call),
  ),
  filter('int', 'value default? base?', 'number', (call, value, other = 0, base) =>
    intOf(value, other, base, call),
  ),
  filter('items', 'value~', 'any', (call, value) => {
    if (value === undefined) return listOf([], call);
    if (!isObject(value)) throw wrongType('items', 'an object', value, call);
    return itemsOf(value, call);
  }),
  filter('join', 'value~ d? attribute?', 'text', (call, value, separator, attribute) => {
    const items = itemsIn(value, 'join', call);
    const parts = items.map((item) =>
      str(attribute === undefined || attribute === null ? item : attributeOf(item, attribute), call),
    );
    return charged(parts.join(separator === undefined ? '' : str(separator, call)), call);
  }),
  lengthFilter('length'),
  lengthFilter('count'),
  filter('list', 'value~', 'any', (call, value) => listOf(itemsIn(value, 'list', call), call)),
  textFilter('lower', (text) => text.toLowerCase()),
  textFilter('upper', (text) => text.toUpperCase()),
  extreme('min'),
  extreme('max'),
  filter('parse_json', 'value', 'any', (call, value) => parseJson(textIn(value, 'parse_json', call), call)),
  filter('pprint', 'value~', 'text', (call, value) => {
    chargeWhole(value, call.budget, call.at);
    return charged(reprOf(value), call);
  }),
  filter('regex_search', 'value pattern', 'list of texts', (call, value, pattern) => {
    const [match] = matchesIn(
      textIn(value, 'regex_search', call),
      textIn(pattern, 'regex_search', call),
      1,
      call,
    );
    if (match === undefined) return listOf([], call);
    return listOf(
      match.groups.length === 0 ? [match.whole] : match.groups.map((group) => group ?? null),
      call,
    );
  }),
  filter('regex_findall', 'value pattern', 'any', (call, value, pattern) => {
    const regex = textIn(pattern, 'regex_findall', call);
    const groups = groupsOf(regex, call);
    const matches = matchesIn(textIn(value, 'regex_findall', call), regex, Number.POSITIVE_INFINITY, call);
    const values = matches.map((match) => {
      if (groups === 0) return match.whole;
      return groups === 1
        ? (match.groups[0] ?? '')
        : listOf(
            match.groups.map((group) => group ?? ''),
            call,
          );
    });
    return listOf(values, call);
  }),
  filter('regex_replace', 'value pattern replacement', 'text', (call, value, pattern, replacement) => {
    const text = textIn(value, 'regex_replace', call);
    const by = textIn(replacement, 'regex_replace', call);
    let result = '';
    let end = 0;
    for (const match of matchesIn(
      text,
      textIn(pattern, 'regex_replace', call),
      Number.POSITIVE_INFINITY,
      call,
    )) {
      result += text.slice(end, match.start) + charged(substitute(by, match.groups, match.whole), call);
      end = match.end;
    }
    return charged(result + text.slice(end), call);
  }),
  filter('replace', 'value old new count?', 'text', (call, value, old, by, count) =>
    replaceText(
      str(value, call),
      str(old, call),
      str(by, call),
      count === null ? -1 : intIn(count, 'replace', call, -1),
      call,
    ),
  ),
  filter('reverse', 'value~', 'any', (call, value) =>
    typeof value === 'string'
      ? charged([...value].reverse().join(''), call)
      : listOf([...itemsIn(value, 'reverse', call)].reverse(), call),
  ),
  filter('round', 'value precision? method?', 'number', (call, value, precision, method = 'common') =>
    round(value, intIn(precision, 'round', call), textIn(method, 'round', call), call),
  ),
  textFilter('shq', quoteForShell),
  textFilter('quote', quoteForShell),
  filter('shargs', 'value~', 'text', (call, value) =>
    charged(
      itemsIn(value, 'shargs', call)
        .map((item) => quoteForShell(str(item, call)))
        .join(' '),
      call,
    ),
  ),
  textFilter('raw_shell', (text) => text),
  filter('slice', 'value~ slices fill_with?', 'any', (call, value, count, fill) =>
    columns(itemsIn(value, 'slice', call), intIn(count, 'slice', call), fill, call),
  ),
  filter(
    'sort',
    'value~ reverse? case_sensitive? attribute?',
    'any',
    (call, value, reverse, caseSensitive, attribute) =>
      listOf(sortBy(itemsIn(value, 'sort', call), sortKey(attribute, caseSensitive), reverse, call), call),
  ),
  filter('split', 'value sep? maxsplit?', 'list of texts', (call, value, by, most) =>
    separate(textIn(value, 'split', call), by, most, false, call),
  ),
  filter('string', 'value', 'text', (call, value) => str(value, call)),
  filter('strip', 'value chars?', 'text', (call, value, characters) =>
    strip(textIn(value, 'strip', call), characters, 'both'),
  ),
  textFilter('striptags', (text) =>
    withoutParts(withoutParts(text, '<!--', '-->'), '<', '>')
      .split(/\s+/)
      .filter((word) => word !== '')
      .join(' ')
      .replace(/&lt;/g, '<')
      .replace(/&gt;/g, '>')
      .replace(/&#34;|&quot;/g, '"')
      .replace(/&#39;/g, "'")
      .replace(/&amp;/g, '&'),
  ),
  filter('sum', 'value~ attribute? start?', 'any', (call, value, attribute, start = 0) => {
    const items = itemsIn(value, 'sum', call);
    const parts =
      attribute === undefined || attribute === null
        ? items
        : items.map((item) => attributeOf(item, attribute));
    return parts.reduce<Value>((total, item) => calculatePython('add.py', total, item, call), start);
  }),
  textFilter('title', (text) =>
    text.replace(
      /(^|[-\s({[<]+)([^-\s({[<]*)/gu,
      (_, before: string, word: string) => before + capitalize(word),
    ),
  ),
  filter('tojson', 'value~ indent?', 'text', (call, value, indent) =>
    jsonOf(present(value, 'the subject of `tojson`', call.at), indent, call),
  ),
  filter('trim', 'value chars?', 'text', (call, value, characters) =>
    strip(str(value, call), characters ?? undefined, 'both'),
  ),
  filter(
    'truncate',
    'value length? killwords? end? leeway?',
    'text',
    (call, value, length, killwords, end, leeway) =>
      charged(truncate(str(value, call), call, length, killwords, end, leeway), call),
  ),
  filter('unique', 'value~ case_sensitive? attribute?', 'any', (call, value, caseSensitive, attribute) => {
    const key = sortKey(attribute, caseSensitive);
    const seen: Value[] = [];
    const items = itemsIn(value, 'unique', call).filter((item) => {
      call.budget.charge(seen.length, call.at);
      if (seen.some((each) => isEqual(each, key(item)))) return false;
      seen.push(key(item));
      return true;
    });
    return listOf(items, call);
  }),
  filter('urlencode', 'value', 'text', (call, value) => {
    if (isObject(value) || Array.isArray(value)) {
      const pairs = isObject(value)
        ? Object.entries(value)
        : itemsIn(value, 'urlencode', call).map((pair) => itemsIn(pair, 'urlencode', call));
      const parts = pairs.map(
        ([name, part]) => `${encodeUrl(str(name, call), true)}=${encodeUrl(str(part, call), true)}`,
      );
      return charged(parts.join('&'), call);
    }
    return charged(encodeUrl(str(value, call), false), call);
  }),
  filter(
    'wordcount',
    'value',
    'number',
    (call, value) => str(value, call).match(/[\p{L}\p{N}_]+/gu)?.length ?? 0,
  ),
  filter(
    'wordwrap',
    'value width? break_long_words? wrapstring?',
    'text',
    (call, value, width, breaks = true, by = '\n') =>
      charged(
        wrap(
          str(value, call),
          intIn(width, 'wordwrap', call, 79),
          isTruthy(breaks),
          textIn(by, 'wordwrap', call),
        ),
        call,
      ),
  ),
];

function booleanOf(value: Value, call: FunctionCall): boolean {
  if (typeof value === 'string') {
    const text = value.trim().toLowerCase();
    if (['true', 'yes', 'on', '1'].includes(text)) return true;
    if (['false', 'no', 'off', '0', ''].includes(text)) return false;
    throw valueError('bool', `${JSON.stringify(value.slice(0, 80))} is neither true nor false`, call);
  }
  if (typeof value === 'boolean' || numberOf(value) !== undefined || value === null) return isTruthy(value);
  throw wrongType('bool', 'text, a number or a boolean', value, call);
}

/** Filters that take the name of a filter or test: they are lowered to loops. */
export const NESTED_FILTERS = ['map', 'select', 'reject', 'selectattr', 'rejectattr'] as const;

function intOf(value: Value, other: Value, base: Value, call: FunctionCall): Value {
  if (typeof value === 'string') return intOfText(value, other, intIn(base, 'int', call, 10), call);
  const number = numberOf(value);
  if (number === undefined) return other;
  return safeInt(Math.trunc(number), call);
}

function intOfText(text: string, other: Value, base: number, call: FunctionCall): Value {
  const trimmed = strip(text, undefined, 'both').toLowerCase();
  const prefixes: Readonly<Record<number, RegExp>> = { 2: /^([+-]?)0b/, 8: /^([+-]?)0o/, 16: /^([+-]?)0x/ };
  const digits = (prefixes[base] === undefined ? trimmed : trimmed.replace(prefixes[base], '$1')).replace(
    /(?<=\w)_(?=\w)/g,
    '',
  );
  const allowed = '0123456789abcdefghijklmnopqrstuvwxyz'.slice(0, base);
  if (new RegExp(`^[+-]?[${allowed}]+$`).test(digits)) return safeInt(Number.parseInt(digits, base), call);
  const number = floatOfText(text);
  return number === undefined || !Number.isFinite(number) ? other : safeInt(Math.trunc(number), call);
}

function safeInt(value: number, { at }: FunctionCall): Value {
  if (!Number.isSafeInteger(value)) throw expressionError('E_UNSAFE_INTEGER', { op: 'int', value }, at);
  return value + 0;
}

function floatOfText(text: string): number | undefined {
  const trimmed = strip(text, undefined, 'both').replace(/(?<=\d)_(?=\d)/g, '');
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(trimmed) ? Number(trimmed) : undefined;
}

function floatOf(value: Value, other: Value): Value {
  const number = typeof value === 'string' ? floatOfText(value) : numberOf(value);
  return number === undefined ? other : float(number);
}

/** Rounds half to even, on the number that is stored: 2.675 is below the middle. */
function round(value: Value, precision: number, method: string, call: FunctionCall): Value {
  const number = numberOf(value);
  if (number === undefined) throw wrongType('round', 'a number', value, call);
  if (method !== 'common' && method !== 'ceil' && method !== 'floor')
    throw valueError('round', 'the method is common, ceil or floor', call);
  if (Math.abs(precision) > 100) throw valueError('round', 'the precision is at most 100', call);
  if (method !== 'common') {
    const factor = 10 ** precision;
    const scaled = method === 'ceil' ? Math.ceil(number * factor) : Math.floor(number * factor);
    if (!Number.isFinite(scaled)) throw expressionError('E_NUMBER', { op: 'round', value: scaled }, call.at);
    return float(scaled / factor);
  }
  if (!isFloat(value))
    return precision >= 0 ? number : halfEven(number / 10 ** -precision) * 10 ** -precision;
  if (precision < 0) return float(halfEven(number / 10 ** -precision) * 10 ** -precision);
  if (Math.abs(number) >= 1e21) return float(number);
  const exact = Math.abs(number).toFixed(100);
  const rest = exact.slice(exact.indexOf('.') + 1 + precision);
  const isMiddle = /^50*$/.test(rest);
  let text = Math.abs(number).toFixed(precision);
  if (isMiddle) {
    const below = exact.slice(0, exact.indexOf('.') + 1 + precision);
    if (Number(below.replace('.', '').slice(-1)) % 2 === 0) text = below;
  }
  return float(Math.sign(number) * Number(text));
}

function halfEven(value: number): number {
  const below = Math.floor(value);
  if (value - below !== 0.5) return Math.round(value);
  return below % 2 === 0 ? below : below + 1;
}
