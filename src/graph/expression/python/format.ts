import type { Value } from '../../json.js';
import type { FunctionCall } from '../function.js';
import { valueError } from './define.js';
import { type DateTime, floatText, isFloat, numberOf, reprOf, strOf } from './values.js';

/** The width or precision of a format at most. */
const MAX_WIDTH = 10_000;

/** `'%s-%03d' % values`: printf-style formatting. @throws ExpressionError `E_VALUE` */
export function formatPercent(format: string, values: readonly Value[], call: FunctionCall): string {
  let next = 0;
  const text = format.replace(
    /%(?:\((\w+)\))?([-+ #0]*)(\d*)(?:\.(\d+))?([a-zA-Z%])/g,
    (
      _,
      name: string | undefined,
      flags: string,
      width: string,
      precision: string | undefined,
      type: string,
    ) => {
      if (type === '%') return '%';
      if (name !== undefined) throw problem('names in `%(…)` are not supported', call);
      if (next >= values.length) throw problem('there are fewer values than places', call);
      const value = values[next];
      next += 1;
      const body = convert(value, type, precision, flags, call);
      return align(
        body,
        Number(width || 0),
        flags.includes('-') ? '<' : '>',
        flags.includes('0') ? '0' : ' ',
        call,
      );
    },
  );
  if (next < values.length) throw problem('there are more values than places', call);
  return text;
}

function convert(
  value: Value,
  type: string,
  precision: string | undefined,
  flags: string,
  call: FunctionCall,
): string {
  if (type === 's' || type === 'r') {
    const text = type === 's' ? strOf(value, call.budget, call.at) : reprOf(value);
    return precision === undefined ? text : text.slice(0, Number(precision));
  }
  const number = numberOf(value);
  if (number === undefined) throw problem(`\`%${type}\` takes a number`, call);
  const text = numeric(number, type, precision, call);
  if (number >= 0 && flags.includes('+')) return `+${text}`;
  return number >= 0 && flags.includes(' ') ? ` ${text}` : text;
}

function numeric(number: number, type: string, precision: string | undefined, call: FunctionCall): string {
  const digits = Math.min(100, Number(precision ?? 6));
  switch (type) {
    case 'd':
    case 'i':
    case 'u':
      return String(Math.trunc(number));
    case 'f':
    case 'F':
      return number.toFixed(digits);
    case 'e':
    case 'E': {
      const text = number.toExponential(digits).replace(/e([+-])(\d)$/, 'e$10$2');
      return type === 'E' ? text.toUpperCase() : text;
    }
    case 'g':
    case 'G':
      return general(number, precision === undefined ? 6 : Number(precision));
    case 'x':
      return Math.trunc(number).toString(16);
    case 'X':
      return Math.trunc(number).toString(16).toUpperCase();
    case 'o':
      return Math.trunc(number).toString(8);
    case 'b':
      return Math.trunc(number).toString(2);
    case 'c':
      return String.fromCodePoint(Math.trunc(number));
    case '%':
      return `${(number * 100).toFixed(digits)}%`;
    default:
      throw problem(`\`${type}\` is not a type of a format`, call);
  }
}

function general(number: number, digits: number): string {
  const significant = Math.max(1, digits);
  const [mantissa = '', exponent = '0'] = number.toExponential(significant - 1).split('e');
  const power = Number(exponent);
  if (power < -4 || power >= significant) {
    const shortened = mantissa.includes('.') ? mantissa.replace(/\.?0+$/, '') : mantissa;
    return `${shortened}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
  }
  const fixed = number.toFixed(Math.max(0, significant - 1 - power));
  return fixed.includes('.') ? fixed.replace(/\.?0+$/, '') : fixed;
}

function align(text: string, width: number, align: string, fill: string, call: FunctionCall): string {
  if (width > MAX_WIDTH) throw problem(`a width of ${width} is more than ${MAX_WIDTH}`, call);
  const space = Math.max(0, width - [...text].length);
  call.budget.charge(space, call.at);
  const padding = fill.repeat(space);
  if (align === '<') return text + (fill === '0' ? ' '.repeat(space) : padding);
  if (align === '^')
    return fill.repeat(Math.floor(space / 2)) + text + fill.repeat(space - Math.floor(space / 2));
  const sign = fill === '0' && /^[+-]/.test(text) ? text.slice(0, 1) : '';
  return sign + padding + text.slice(sign.length);
}

/** `'{} {0:>5}'.format(values)`, without attributes and items of values. @throws ExpressionError `E_VALUE` */
export function formatBraces(format: string, values: readonly Value[], call: FunctionCall): string {
  let next = 0;
  return format.replace(/\{\{|\}\}|\{([^{}]*)\}|[{}]/g, (whole, field: string | undefined) => {
    if (whole === '{{' || whole === '}}') return whole.slice(0, 1);
    const match = /^(\d*)(?:!([rs]))?(?::(.*))?$/.exec(field ?? '?');
    if (match === null) throw problem(`\`${whole}\` is not a place of a format`, call);
    const [, index = '', conversion, specification = ''] = match;
    const place = index === '' ? next++ : Number(index);
    if (place >= values.length) throw problem('there are fewer values than places', call);
    const value = values[place];
    return conversion === 'r' ? reprOf(value) : formatField(value, specification, call);
  });
}

function formatField(value: Value, specification: string, call: FunctionCall): string {
  const match = /^(?:(.)?([<>^=]))?([-+ ]?)(0?)(\d*)(,?)(?:\.(\d+))?([a-zA-Z%]?)$/u.exec(specification);
  if (match === null) throw problem(`\`${specification}\` is not a format`, call);
  const [, fill, alignment, sign = '', zero, width = '', comma, precision, type = ''] = match;
  const number = typeof value === 'boolean' && type === '' ? undefined : numberOf(value);
  let text: string;
  if (number === undefined || type === 's') text = convert(value, 's', precision, '', call);
  else if (type === '' && precision === undefined) text = isFloat(value) ? floatText(number) : String(number);
  else text = numeric(number, type === '' ? 'g' : type, precision, call);
  if (comma === ',') text = text.replace(/\B(?=(\d{3})+(?!\d))(?<!\.\d*)/g, ',');
  if (number !== undefined && number >= 0 && (sign === '+' || sign === ' ')) text = sign + text;
  const isNumeric = number !== undefined && type !== 's';
  return align(
    text,
    Number(width || 0),
    alignment === '=' ? '>' : (alignment ?? (isNumeric ? '>' : '<')),
    zero === '0' ? '0' : (fill ?? ' '),
    call,
  );
}

function problem(text: string, call: FunctionCall): Error {
  return valueError('format', text, call);
}

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const MONTHS = [
  ...['January', 'February', 'March', 'April', 'May', 'June', 'July'],
  ...['August', 'September', 'October', 'November', 'December'],
];
const DAY_MS = 86_400_000;

/** A time by a format of `strftime`, in UTC and English. @throws ExpressionError `E_VALUE` for an unknown directive */
export function strftime({ ms, isDate }: DateTime, format: string, call: FunctionCall): string {
  const day = Math.floor(ms / DAY_MS);
  const date = new Date(isDate ? day * DAY_MS : ms);
  const two = (value: number): string => String(value).padStart(2, '0');
  const yearStart = Date.UTC(date.getUTCFullYear(), 0, 1) / DAY_MS;
  const dayOfYear = day - yearStart;
  const weekday = date.getUTCDay();
  const week = (first: number): number => Math.floor((dayOfYear + 7 - ((weekday - first + 7) % 7)) / 7);
  const hour = date.getUTCHours();
  const parts: Readonly<Record<string, () => string>> = {
    a: () => (DAYS[weekday] ?? '').slice(0, 3),
    A: () => DAYS[weekday] ?? '',
    b: () => (MONTHS[date.getUTCMonth()] ?? '').slice(0, 3),
    B: () => MONTHS[date.getUTCMonth()] ?? '',
    c: () => strftime({ ms, isDate } as DateTime, '%a %b %e %H:%M:%S %Y', {} as FunctionCall),
    d: () => two(date.getUTCDate()),
    D: () => `${two(date.getUTCMonth() + 1)}/${two(date.getUTCDate())}/${two(date.getUTCFullYear() % 100)}`,
    e: () => String(date.getUTCDate()).padStart(2, ' '),
    f: () => String(date.getUTCMilliseconds() * 1_000).padStart(6, '0'),
    F: () => date.toISOString().slice(0, 10),
    H: () => two(hour),
    I: () => two(hour % 12 === 0 ? 12 : hour % 12),
    j: () => String(dayOfYear + 1).padStart(3, '0'),
    m: () => two(date.getUTCMonth() + 1),
    M: () => two(date.getUTCMinutes()),
    p: () => (hour < 12 ? 'AM' : 'PM'),
    s: () => String(Math.floor(date.getTime() / 1_000)),
    S: () => two(date.getUTCSeconds()),
    T: () => date.toISOString().slice(11, 19),
    u: () => String(weekday === 0 ? 7 : weekday),
    U: () => two(week(0)),
    w: () => String(weekday),
    W: () => two(week(1)),
    x: () => `${two(date.getUTCMonth() + 1)}/${two(date.getUTCDate())}/${two(date.getUTCFullYear() % 100)}`,
    X: () => date.toISOString().slice(11, 19),
    y: () => two(date.getUTCFullYear() % 100),
    Y: () => String(date.getUTCFullYear()),
    z: () => (isDate ? '' : '+0000'),
    Z: () => (isDate ? '' : 'UTC'),
    '%': () => '%',
  };
  return format.replace(/%(-?)(.?)/gs, (_, plain: string, directive: string) => {
    const part = Object.hasOwn(parts, directive) ? parts[directive] : undefined;
    if (part === undefined) throw valueError('strftime', `\`%${directive}\` is not a part of a time`, call);
    return plain === '-' ? part().replace(/^0+(?=\d)/, '') : part();
  });
}
