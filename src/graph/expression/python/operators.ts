import { ownProperty, type Value } from '../../json.js';
import type { Span } from '../../source-location.js';
import { type Budget, expressionError } from '../error.js';
import type { Allocations, FunctionCall } from '../function.js';
import type { PythonArithmetic, PythonComparison } from '../tree.js';
import { chargeWhole, PythonValue } from '../value.js';
import { valueError } from './define.js';
import { DateTime, float, isFloat, isObject, numberOf, present, strOf, typeName } from './values.js';

interface Work {
  readonly budget: Budget;
  readonly allocations: Allocations;
  readonly at?: Span | undefined;
}

/**
 * Calculates as Python does: booleans are ints, `/` gives a float, texts and lists are added and repeated.
 * @throws ExpressionError `E_UNDEFINED`, `E_OPERAND_TYPES`, `E_NUMBER`, `E_UNSAFE_INTEGER`, `E_BUDGET`
 */
export function calculatePython(op: PythonArithmetic, left: Value, right: Value, work: Work): Value {
  const { budget, allocations, at } = work;
  if (op === 'concat.py') {
    const what = 'a side of `~`';
    return strOf(present(left, what, at), budget, at) + strOf(present(right, what, at), budget, at);
  }
  if (left === undefined) present(left, `the left side of \`${SIGNS[op]}\``, at);
  if (right === undefined) present(right, `the right side of \`${SIGNS[op]}\``, at);
  const [one, other] = [numberOf(left), numberOf(right)];
  if (one !== undefined && other !== undefined) {
    const isInt = op !== 'div.py' && !isFloat(left) && !isFloat(right) && !(op === 'pow.py' && other < 0);
    const value = NUMERIC[op](one, other);
    if (!Number.isFinite(value)) throw expressionError('E_NUMBER', { op: SIGNS[op], value }, at);
    if (isInt && !Number.isSafeInteger(value))
      throw expressionError('E_UNSAFE_INTEGER', { op: SIGNS[op], value }, at);
    return isInt ? value + 0 : float(value + 0);
  }
  if (op === 'add.py' && typeof left === 'string' && typeof right === 'string') {
    budget.charge(1 + left.length + right.length, at);
    return left + right;
  }
  if (op === 'add.py' && Array.isArray(left) && Array.isArray(right))
    return allocations.list([...left, ...right], at);
  if (op === 'mul.py') {
    const repeated = repetition(left, other, work) ?? repetition(right, one, work);
    if (repeated !== undefined) return repeated;
  }
  const actual = `${typeName(left)} and ${typeName(right)}`;
  throw expressionError('E_OPERAND_TYPES', { op: SIGNS[op], actual }, at);
}

const SIGNS: Readonly<Record<PythonArithmetic, string>> = {
  ...{ 'add.py': '+', 'sub.py': '-', 'mul.py': '*', 'div.py': '/' },
  ...{ 'floordiv.py': '//', 'mod.py': '%', 'pow.py': '**', 'concat.py': '~' },
};

const NUMERIC: Readonly<Record<Exclude<PythonArithmetic, 'concat.py'>, (a: number, b: number) => number>> = {
  'add.py': (a, b) => a + b,
  'sub.py': (a, b) => a - b,
  'mul.py': (a, b) => a * b,
  'div.py': (a, b) => a / b,
  // Of the exact quotient: `a / b` may be round up to the next whole number.
  'floordiv.py': (a, b) => Math.round((a - modulo(a, b)) / b),
  'mod.py': modulo,
  'pow.py': (a, b) => a ** b,
};

/** The rest of a division. Its sign is that of the right side. */
function modulo(a: number, b: number): number {
  const rest = a % b;
  return rest !== 0 && rest < 0 !== b < 0 ? rest + b : rest;
}

function repetition(of: Value, count: number | undefined, { budget, allocations, at }: Work): Value {
  if (count === undefined || !Number.isInteger(count)) return undefined;
  const times = Math.max(0, count);
  if (typeof of === 'string') {
    budget.charge(1 + of.length * times, at);
    return of.repeat(times);
  }
  if (!Array.isArray(of)) return undefined;
  budget.charge(1 + of.length * times, at);
  return allocations.list(Array.from({ length: times }, () => of).flat(), at);
}

/**
 * Compares as Python does. A missing value equals missing values alone, and has no order.
 * @throws ExpressionError `E_COMPARE_TYPES`, `E_BUDGET`
 */
export function comparePython(
  op: PythonComparison,
  left: Value,
  right: Value,
  work: Omit<Work, 'allocations'>,
): boolean {
  const { budget, at } = work;
  chargeWhole(left, budget, at);
  chargeWhole(right, budget, at);
  switch (op) {
    case 'eq.py':
      return isEqual(left, right);
    case 'ne.py':
      return !isEqual(left, right);
    case 'in.py':
      return contains(right, left, at);
    default: {
      if (left === undefined || right === undefined) return false;
      const order = orderOf(left, right, op, at);
      if (op === 'lt.py') return order < 0;
      if (op === 'le.py') return order <= 0;
      return op === 'gt.py' ? order > 0 : order >= 0;
    }
  }
}

export function isEqual(left: Value, right: Value): boolean {
  const [one, other] = [numberOf(left), numberOf(right)];
  if (one !== undefined || other !== undefined) return one === other;
  if (DateTime.is(left) && DateTime.is(right)) return left.ms === right.ms && left.isDate === right.isDate;
  if (Array.isArray(left) && Array.isArray(right))
    return left.length === right.length && left.every((item: Value, index) => isEqual(item, right[index]));
  if (!isObject(left) || !isObject(right)) return left === right;
  const keys = Object.keys(left);
  return (
    keys.length === Object.keys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && isEqual(left[key], ownProperty(right, key)))
  );
}

function contains(container: Value, item: Value, at: Span | undefined): boolean {
  if (container === undefined) return false;
  if (typeof container === 'string' && typeof item === 'string') return container.includes(item);
  if (Array.isArray(container)) return container.some((each: Value) => isEqual(each, item));
  if (isObject(container)) return typeof item === 'string' && Object.hasOwn(container, item);
  throw expressionError(
    'E_COMPARE_TYPES',
    { op: 'in', left: typeName(item), right: typeName(container) },
    at,
  );
}

/** Negative, zero or positive: numbers, texts by code points, lists by their items. @throws `E_COMPARE_TYPES` */
export function orderOf(left: Value, right: Value, op: string, at: Span | undefined): number {
  const [one, other] = [numberOf(left), numberOf(right)];
  if (one !== undefined && other !== undefined) return one - other;
  if (typeof left === 'string' && typeof right === 'string') return textOrder(left, right);
  if (DateTime.is(left) && DateTime.is(right)) return left.ms - right.ms;
  if (Array.isArray(left) && Array.isArray(right)) {
    for (const [index, item] of left.entries()) {
      if (index >= right.length) return 1;
      if (!isEqual(item, right[index])) return orderOf(item, right[index], op, at);
    }
    return left.length - right.length;
  }
  throw expressionError('E_COMPARE_TYPES', { op, left: typeName(left), right: typeName(right) }, at);
}

/** By code points: surrogates come after all other code units, which UTF-16 has them before. */
function textOrder(left: string, right: string): number {
  const [one, other] = [[...left], [...right]];
  for (const [index, character] of one.entries()) {
    const against = other[index];
    if (against === undefined) return 1;
    if (character !== against) return (character.codePointAt(0) ?? 0) - (against.codePointAt(0) ?? 0);
  }
  return one.length - other.length;
}

/** What an attribute of a value is: a path of keys and indexes with dots between. What is not there stays absent. */
export function attributeOf(value: Value, path: Value): Value {
  let at = value;
  for (const key of typeof path === 'number' ? [path] : String(path).split('.')) at = memberOf(at, key);
  return at;
}

/** An item or own key of a value, negative indexes from the end. Nothing inherited is reached. */
export function memberOf(of: Value, key: Value): Value {
  if (PythonValue.is(of)) return undefined;
  if (isObject(of)) return typeof key === 'string' ? ownProperty(of, key) : undefined;
  const index = typeof key === 'string' && /^-?\d+$/.test(key) ? Number(key) : key;
  if (typeof index !== 'number' || !Number.isInteger(index)) return undefined;
  const items = typeof of === 'string' ? [...of] : of;
  return Array.isArray(items) ? (items as readonly Value[]).at(index) : undefined;
}

/** A part of a text, by code points, or of a list, as Python's slices have it. */
export function sliceOf(
  of: string | readonly Value[],
  bounds: {
    readonly start: number | undefined;
    readonly end: number | undefined;
    readonly step: number | undefined;
  },
  { allocations, budget, at }: FunctionCall,
): Value {
  const items: readonly Value[] = typeof of === 'string' ? [...of] : of;
  const { step = 1 } = bounds;
  if (step === 0 || ![step, bounds.start ?? 0, bounds.end ?? 0].every(Number.isInteger))
    throw valueError('slice', 'bounds are whole numbers, and the step is not 0', { at });
  const { length } = items;
  const [least, most] = step > 0 ? [0, length] : [-1, length - 1];
  const bound = (value: number | undefined, other: number): number => {
    if (value === undefined) return other;
    return Math.min(most, Math.max(least, value < 0 ? value + length : value));
  };
  const [start, end] = [
    bound(bounds.start, step > 0 ? least : most),
    bound(bounds.end, step > 0 ? most : least),
  ];
  const part: Value[] = [];
  for (let index = start; step > 0 ? index < end : index > end; index += step) part.push(items[index]);
  budget.charge(part.length, at);
  return typeof of === 'string' ? part.join('') : allocations.list(part, at);
}
