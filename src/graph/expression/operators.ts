import { isJsonObject, type JsonObject, ownProperty, unreachable, type Value } from '../json.js';
import type { Span } from '../source-location.js';
import { type Budget, expressionError } from './error.js';
import type { Allocations } from './function.js';
import { calculatePython, comparePython } from './python/operators.js';
import type { ArithmeticOp, CompareOp, PythonArithmetic } from './tree.js';
import { chargeWhole, describeKind, isComposite, toText } from './value.js';

/**
 * Calculates with two values.
 * @throws ExpressionError `E_OPERAND_TYPES`, `E_NUMBER`, `E_UNSAFE_INTEGER`, `E_BUDGET`, `E_UNDEFINED`
 */
export function calculate(
  op: ArithmeticOp,
  left: Value,
  right: Value,
  { budget, allocations }: { readonly budget: Budget; readonly allocations: Allocations },
  at?: Span,
): Value {
  if (isPython(op)) return calculatePython(op, left, right, { budget, allocations, at });
  if (op === 'add.js' && (typeof left === 'string' || typeof right === 'string'))
    return join(left, right, budget, at);
  return numeric(op, left, right, at);
}

const NUMERIC: {
  readonly [Op in Exclude<ArithmeticOp, PythonArithmetic>]: (a: number, b: number) => number;
} = {
  'add.js': (a, b) => a + b,
  sub: (a, b) => a - b,
  mul: (a, b) => a * b,
  div: (a, b) => a / b,
  'mod.js': (a, b) => a % b,
  pow: (a, b) => a ** b,
};

function isPython(op: ArithmeticOp): op is PythonArithmetic {
  return !Object.hasOwn(NUMERIC, op);
}

/** The number with its sign turned. @throws ExpressionError `E_OPERAND_TYPES`, `E_UNSAFE_INTEGER` */
export function negated(value: Value, at?: Span): Value {
  if (typeof value !== 'number') {
    throw expressionError('E_OPERAND_TYPES', { op: 'negate', actual: describeKind(value) }, at);
  }
  return checked('negate', -exact('negate', value, at), at);
}

/** `+` where one side is text: the other one becomes text. */
function join(left: Value, right: Value, budget: Budget, at: Span | undefined): string {
  const text = (value: Value): string => toText(value, () => 'a side of `+`', budget, at);
  return text(left) + text(right);
}

function numeric(op: keyof typeof NUMERIC, left: Value, right: Value, at: Span | undefined): number {
  if (typeof left !== 'number' || typeof right !== 'number') {
    const actual = `${describeKind(left)} and ${describeKind(right)}`;
    throw expressionError('E_OPERAND_TYPES', { op, actual }, at);
  }
  return checked(op, NUMERIC[op](exact(op, left, at), exact(op, right, at)), at);
}

/** A number that has not been rounded to a neighbour before. */
function exact(op: string, value: number, at: Span | undefined): number {
  if (Math.abs(value) > Number.MAX_SAFE_INTEGER) throw expressionError('E_UNSAFE_INTEGER', { op, value }, at);
  return value;
}

/** JSON knows no negative zero, so that nothing may depend on one before it is stored. */
function checked(op: string, value: number, at: Span | undefined): number {
  if (!Number.isFinite(value)) throw expressionError('E_NUMBER', { op, value }, at);
  return exact(op, value, at) + 0;
}

/** One link of a comparison. @throws ExpressionError `E_COMPARE_TYPES`, `E_BUDGET` */
export function compare(op: CompareOp, left: Value, right: Value, budget: Budget, at?: Span): boolean {
  switch (op) {
    case 'eq.strict':
      return strictlyEqual(op, left, right, budget, at);
    case 'ne.strict':
      return !strictlyEqual(op, left, right, budget, at);
    case 'lt.js':
      return order(op, left, right, budget, at) < 0;
    case 'le.js':
      return order(op, left, right, budget, at) <= 0;
    case 'gt.js':
      return order(op, left, right, budget, at) > 0;
    case 'ge.js':
      return order(op, left, right, budget, at) >= 0;
    case 'eq.deep':
      return deeplyEqual(left, right, budget, at);
    case 'ne.deep':
      return !deeplyEqual(left, right, budget, at);
    case 'eq.py':
    case 'ne.py':
    case 'lt.py':
    case 'le.py':
    case 'gt.py':
    case 'ge.py':
    case 'in.py':
      return comparePython(op, left, right, { budget, at });
    default:
      return unreachable(op);
  }
}

/** `===` where it means something for JSON: the identity of two objects or lists is not part of their value. */
function strictlyEqual(op: CompareOp, left: Value, right: Value, budget: Budget, at?: Span): boolean {
  if (isComposite(left) && isComposite(right)) throw incomparable(op, left, right, at);
  if (typeof left === 'string' && typeof right === 'string' && left.length === right.length) {
    budget.charge(left.length, at);
  }
  return left === right;
}

/** Whether two values have the same content. Values of different kinds never have; absent equals absent alone. */
export function deeplyEqual(left: Value, right: Value, budget: Budget, at?: Span): boolean {
  chargeWhole(left, budget, at);
  chargeWhole(right, budget, at);
  return haveSameContent(left, right);
}

function haveSameContent(left: Value, right: Value): boolean {
  if (Array.isArray(left) && Array.isArray(right))
    return left.length === right.length && left.every((item, index) => haveSameContent(item, right[index]));
  if (!isJsonObject(left) || !isJsonObject(right)) return left === right;
  const keys = presentKeys(left);
  return (
    keys.length === presentKeys(right).length &&
    keys.every((key) => haveSameContent(left[key], ownProperty(right, key)))
  );
}

function presentKeys(object: JsonObject): string[] {
  return Object.keys(object).filter((key) => object[key] !== undefined);
}

/** Negative, zero or positive. Text is ordered by UTF-16 code units, as JavaScript does. */
function order(op: CompareOp, left: Value, right: Value, budget: Budget, at?: Span): number {
  if (typeof left === 'number' && typeof right === 'number') return sign(left, right);
  if (typeof left === 'string' && typeof right === 'string') {
    budget.charge(Math.min(left.length, right.length), at);
    return sign(left, right);
  }
  throw incomparable(op, left, right, at);
}

function sign<T extends number | string>(left: T, right: T): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

function incomparable(op: CompareOp, left: Value, right: Value, at?: Span): Error {
  return expressionError('E_COMPARE_TYPES', { op, left: describeKind(left), right: describeKind(right) }, at);
}
