import type { Value } from '../../json.js';
import type { Span } from '../../source-location.js';
import type { Budget } from '../error.js';
import { chargeWhole, isComposite } from '../value.js';
import { DateTime, isFloat, isoText, numberOf } from './values.js';

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
