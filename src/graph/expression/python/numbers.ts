import type { Value } from '../../json.js';
import { expressionError } from '../error.js';
import type { FunctionCall } from '../function.js';
import { intIn, valueError, wrongType } from './define.js';
import { strip } from './methods.js';
import { float, isFloat, numberOf } from './values.js';

export function intOf(value: Value, other: Value, base: Value, call: FunctionCall): Value {
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

export function floatOf(value: Value, other: Value): Value {
  const number = typeof value === 'string' ? floatOfText(value) : numberOf(value);
  return number === undefined ? other : float(number);
}

/** Rounds half to even, on the number that is stored: 2.675 is below the middle. */
export function round(value: Value, precision: number, method: string, call: FunctionCall): Value {
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
