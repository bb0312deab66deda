import { isJsonObject, type JsonObject, type Value } from '../../json.js';
import type { Span } from '../../source-location.js';
import { type Budget, expressionError } from '../error.js';
import { chargeWhole, describeKind, isComposite, PythonValue } from '../value.js';

/** A float that is a whole number: `2.0`. All other numbers of JSON are ints if they are whole, else floats. */
export class Float extends PythonValue {
  readonly #value: number;

  constructor(value: number) {
    super();
    this.#value = value;
  }

  static override is(value: unknown): value is Float {
    return typeof value === 'object' && value !== null && #value in value;
  }

  toJSON(): number {
    return this.#value;
  }
}

/** A time in UTC, or its date alone. */
export class DateTime extends PythonValue {
  readonly #ms: number;
  readonly #isDate: boolean;

  constructor(ms: number, isDate = false) {
    super();
    this.#ms = ms;
    this.#isDate = isDate;
  }

  static override is(value: unknown): value is DateTime {
    return typeof value === 'object' && value !== null && #ms in value;
  }

  get ms(): number {
    return this.#ms;
  }

  get isDate(): boolean {
    return this.#isDate;
  }

  /** ISO 8601. */
  toJSON(): string {
    return isoText(this);
  }
}

/** A value of the evaluation: JSON, absent, or one of Python's own. */
export type Part = Value | PythonValue;

/** The values of Python travel through the evaluator as if they were JSON. */
export function asValue(part: Part): Value {
  return part as Value;
}

export function float(value: number): Value {
  return Number.isInteger(value) ? asValue(new Float(value)) : value;
}

/** The number of an int, a float or a boolean; undefined for all others. */
export function numberOf(value: Value): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value === 'boolean') return value ? 1 : 0;
  return Float.is(value) ? value.toJSON() : undefined;
}

export function isFloat(value: Value): boolean {
  return typeof value === 'number' ? !Number.isInteger(value) : Float.is(value);
}

/** `2025-08-19T14:30:00+00:00`, with microseconds where there are any. */
function isoText(time: DateTime): string {
  const text = new Date(time.ms).toISOString();
  if (time.isDate) return text.slice(0, 10);
  const fraction = text.slice(20, 23) === '000' ? '' : `.${text.slice(20, 23)}000`;
  return `${text.slice(0, 19)}${fraction}+00:00`;
}

/** Whether a value counts as true in Python. */
export function isTruthy(value: Value): boolean {
  const number = numberOf(value);
  if (number !== undefined) return number !== 0;
  if (PythonValue.is(value)) return true;
  if (isComposite(value)) return Object.keys(value).length > 0;
  return Boolean(value);
}

export function isObject(value: Value): value is JsonObject {
  return isJsonObject(value) && !PythonValue.is(value);
}

export function typeName(value: Value): string {
  if (DateTime.is(value)) return 'a time';
  return PythonValue.is(value) ? 'a number' : describeKind(value);
}

/** @throws ExpressionError `E_UNDEFINED` for a value that is not there */
export function present(value: Value, what: string, at: Span | undefined): Value {
  if (value === undefined) throw expressionError('E_UNDEFINED', { what }, at);
  return value;
}

/** A value as Python prints it: `True`, `None`, `['a']`, `2.0`. */
export function strOf(value: Value, budget: Budget, at?: Span): string {
  if (typeof value === 'string') {
    budget.charge(1 + value.length, at);
    return value;
  }
  if (isComposite(value)) chargeWhole(value, budget, at);
  else budget.charge(1, at);
  return print(value);
}

/** As {@link strOf}, with quotes around texts. */
export function reprOf(value: Value): string {
  return typeof value === 'string' ? quote(value) : print(value);
}

function print(value: Value): string {
  if (value === null || value === undefined) return 'None';
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  const number = numberOf(value);
  if (number !== undefined) return isFloat(value) ? floatText(number) : intText(number);
  if (DateTime.is(value)) return timeText(value);
  if (Array.isArray(value)) return `[${value.map((item: Value) => reprOf(item)).join(', ')}]`;
  const entries = Object.entries(value as Readonly<Record<string, Value>>);
  return `{${entries.flatMap(([key, item]) => (item === undefined ? [] : `${quote(key)}: ${reprOf(item)}`)).join(', ')}}`;
}

/** An int without an exponent. */
function intText(value: number): string {
  return Number.isSafeInteger(value) ? String(value) : BigInt(value).toString();
}

/** The shortest text of a float, with an exponent below 1e-4 and from 1e16 on. */
export function floatText(value: number): string {
  if (value === 0) return '0.0';
  const [digits = '', exponent = '0'] = value.toExponential().split('e');
  const power = Number(exponent);
  if (power < -4 || power >= 16) {
    const sign = power < 0 ? '-' : '+';
    return `${digits}e${sign}${String(Math.abs(power)).padStart(2, '0')}`;
  }
  if (Number.isInteger(value)) return `${BigInt(value)}.0`;
  if (power >= 0) return String(value);
  const sign = value < 0 ? '-' : '';
  return `${sign}0.${'0'.repeat(-power - 1)}${digits.replace(/[-.]/g, '')}`;
}

function timeText(time: DateTime): string {
  return time.isDate
    ? isoText(time)
    : isoText(time)
        .replace('T', ' ')
        .replace(/\+00:00$/, '');
}

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Text in quotes: single ones, unless only they occur in it. */
function quote(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  let result = quote;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    const hidden = code < 0x20 || (code >= 0x7f && code < 0xa1) || code === 0xad;
    if (character === quote) result += `\\${quote}`;
    else if (ESCAPES[character] !== undefined) result += ESCAPES[character];
    else if (hidden) result += `\\x${code.toString(16).padStart(2, '0')}`;
    else result += character;
  }
  return result + quote;
}
