import type { Value } from '../json.js';
import type { Span } from '../place.js';
import { unreachable } from '../unreachable.js';
import type { Budget } from './budget.js';
import { expressionError } from './error.js';
import type { ArithmeticOp } from './tree.js';
import { describeKind, isComposite } from './value.js';

/**
 * Calculates with two values.
 * @throws ExpressionError `E_OPERAND_TYPES`, `E_NUMBER`, `E_UNSAFE_INTEGER`, `E_BUDGET`, `E_UNSUPPORTED`
 */
export function calculate(op: ArithmeticOp, left: Value, right: Value, budget: Budget, at?: Span): Value {
  switch (op) {
    case 'add.js':
      if (typeof left === 'string' || typeof right === 'string') return join(left, right, budget, at);
      return numeric(op, left, right, (a, b) => a + b, at);
    case 'sub':
      return numeric(op, left, right, (a, b) => a - b, at);
    case 'mul':
      return numeric(op, left, right, (a, b) => a * b, at);
    case 'div':
      return numeric(op, left, right, (a, b) => a / b, at);
    case 'mod.js':
      return numeric(op, left, right, (a, b) => a % b, at);
    case 'pow':
      return numeric(op, left, right, (a, b) => a ** b, at);
    case 'add.py':
    case 'mod.py':
    case 'floordiv.py':
    case 'concat.py':
      throw expressionError('E_UNSUPPORTED', { what: `the operator \`${op}\`` }, at);
    default:
      return unreachable(op);
  }
}

/** The number with its sign turned. @throws ExpressionError `E_OPERAND_TYPES`, `E_UNSAFE_INTEGER` */
export function negated(value: Value, at?: Span): Value {
  if (typeof value !== 'number') {
    throw expressionError('E_OPERAND_TYPES', { op: 'negate', found: describeKind(value) }, at);
  }
  return checked('negate', -exact('negate', value, at), at);
}

/** `+` where one side is text: the other one becomes text, unless that would be a fixed phrase or a joined list. */
function join(left: Value, right: Value, budget: Budget, at: Span | undefined): string {
  if (isComposite(left) || isComposite(right)) throw operandTypes('add.js', left, right, at);
  const [first, second] = [String(left), String(right)];
  budget.charge(first.length + second.length, at);
  return first + second;
}

function numeric(
  op: ArithmeticOp,
  left: Value,
  right: Value,
  result: (left: number, right: number) => number,
  at: Span | undefined,
): number {
  if (typeof left !== 'number' || typeof right !== 'number') throw operandTypes(op, left, right, at);
  return checked(op, result(exact(op, left, at), exact(op, right, at)), at);
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

function operandTypes(op: ArithmeticOp, left: Value, right: Value, at: Span | undefined): Error {
  return expressionError(
    'E_OPERAND_TYPES',
    { op, found: `${describeKind(left)} and ${describeKind(right)}` },
    at,
  );
}
