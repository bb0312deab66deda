import type { Json, JsonObject, Value } from '../json.js';
import type { Span } from '../place.js';
import { unreachable } from '../unreachable.js';
import type { Budget } from './budget.js';
import { expressionError } from './error.js';
import type { Truth } from './tree.js';
import { isUnknown } from './unknown.js';

/** Data nested deeper than this is refused before recursion meets the end of the stack. */
export const MAX_DATA_DEPTH = 1000;

export function isNullish(value: Value): value is null | undefined {
  return value === null || value === undefined;
}

/** True for a list or an object. */
export function isComposite(value: Value): value is readonly Json[] | JsonObject {
  return typeof value === 'object' && value !== null;
}

/** Names a value's kind as a sentence needs it: `absent`, `null`, `a list`, `text`. */
export function describeKind(value: Value): string {
  if (value === undefined) return 'absent';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  switch (typeof value) {
    case 'string':
      return 'text';
    case 'number':
      return 'a number';
    case 'boolean':
      return 'a boolean';
    default:
      return 'an object';
  }
}

/** Whether a value counts as true. @throws ExpressionError `E_NOT_A_BOOLEAN`, `E_UNSUPPORTED` */
export function isTrue(value: Value, truth: Truth, at?: Span): boolean {
  switch (truth) {
    case 'truthy.js':
      return Boolean(value);
    case 'boolean':
      if (typeof value !== 'boolean') {
        if (isUnknown(value)) return true;
        throw expressionError('E_NOT_A_BOOLEAN', { found: describeKind(value) }, at);
      }
      return value;
    case 'truthy.py':
      throw expressionError('E_UNSUPPORTED', { what: `the truth \`${truth}\`` }, at);
    default:
      return unreachable(truth);
  }
}

/**
 * Reads an own property of an object, an item or the length of a list or text. What is not there is absent;
 * inherited members are never reached.
 * @param of names what is read from, for the error's sentence.
 * @throws ExpressionError `E_NOT_AN_OBJECT` for null, absent, booleans, numbers, and for names on text.
 */
export function readProperty(value: Value, key: string | number, of: () => string, at?: Span): Value {
  if (typeof value === 'object' && value !== null) {
    if (Object.hasOwn(value, key)) return (value as Readonly<Record<string | number, Value>>)[key];
    return isUnknown(value) ? value.at(key) : undefined;
  }
  if (typeof value === 'string') {
    if (key === 'length') return value.length;
    const index = Number(key);
    if (typeof key === 'number' || (Number.isInteger(index) && String(index) === key)) {
      return Number.isInteger(index) && index >= 0 && index < value.length ? value[index] : undefined;
    }
  }
  throw expressionError('E_NOT_AN_OBJECT', { key: String(key), of: of(), found: describeKind(value) }, at);
}

/** The error of a function that was given a value of another kind. */
export function argumentType(fn: string, takes: string, value: Value, at?: Span): Error {
  return expressionError('E_ARGUMENT_TYPE', { fn, takes, found: describeKind(value) }, at);
}

/** Charges for every item, entry and character of a value. @throws ExpressionError `E_BUDGET`, `E_DEPTH` */
export function chargeWhole(value: Value, budget: Budget, at?: Span, depth = 0): void {
  if (typeof value === 'string') {
    budget.charge(1 + value.length, at);
    return;
  }
  budget.charge(1, at);
  if (typeof value !== 'object' || value === null) return;
  if (depth >= MAX_DATA_DEPTH) {
    throw expressionError('E_DEPTH', { what: 'the data', limit: MAX_DATA_DEPTH }, at);
  }
  if (Array.isArray(value)) {
    for (const item of value) chargeWhole(item, budget, at, depth + 1);
    return;
  }
  for (const [key, item] of Object.entries(value)) {
    budget.charge(key.length, at);
    chargeWhole(item, budget, at, depth + 1);
  }
}
