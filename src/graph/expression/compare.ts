import type { Value } from '../json.js';
import type { Span } from '../place.js';
import { unreachable } from '../unreachable.js';
import type { Budget } from './budget.js';
import { expressionError } from './error.js';
import type { CompareOp } from './tree.js';
import { describeKind, isComposite } from './value.js';

/** One link of a comparison. @throws ExpressionError `E_COMPARE_TYPES`, `E_BUDGET`, `E_UNSUPPORTED` */
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
    case 'ne.deep':
    case 'eq.py':
    case 'ne.py':
    case 'lt.py':
    case 'le.py':
    case 'gt.py':
    case 'ge.py':
    case 'in.py':
      throw expressionError('E_UNSUPPORTED', { what: `the operator \`${op}\`` }, at);
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
