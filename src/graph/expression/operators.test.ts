import { describe, expect, test } from 'vitest';
import type { Value } from '../json.js';
import { arithmetic, fault, literal, run } from './build.fixture.js';
import type { ArithmeticOp, Expr } from './tree.js';

describe('arithmetic', () => {
  const calculate = (left: Value, op: ArithmeticOp, right: Value): Expr =>
    arithmetic(
      left === undefined ? literal() : literal(left),
      op,
      right === undefined ? literal() : literal(right),
    );

  test.each([
    [1, 'add.js', 2, 3],
    ['a', 'add.js', 'b', 'ab'],
    ['a', 'add.js', 1.5, 'a1.5'],
    [true, 'add.js', '', 'true'],
    [5, 'sub', 7, -2],
    [0.5, 'mul', 3, 1.5],
    [1, 'div', 4, 0.25],
    [-7, 'mod.js', 3, -1],
    [2, 'pow', -1, 0.5],
    [2 ** 53 - 2, 'add.js', 1, 2 ** 53 - 1],
  ] as [Value, ArithmeticOp, Value, Value][])('%j %s %j is %j', (left, op, right, result) => {
    expect(run(calculate(left, op, right))).toBe(result);
  });

  test('knows no negative zero', () => {
    expect(Object.is(run(calculate(0, 'mul', -1)), 0)).toBe(true);
    expect(Object.is(run({ kind: 'negate', of: literal(0) }), 0)).toBe(true);
    expect(run({ kind: 'negate', of: literal(2) })).toBe(-2);
  });

  test.each([
    [1, 'div', 0],
    [0, 'mod.js', 0],
    [0, 'pow', -1],
    [-1, 'pow', 0.5],
  ] as [number, ArithmeticOp, number][])('%j %s %j is not a number', (left, op, right) => {
    expect(fault(calculate(left, op, right)).code).toBe('E_NUMBER');
  });

  test.each([
    [2 ** 53 - 1, 'add.js', 1],
    [2 ** 53, 'sub', 1],
    [1, 'div', 1e300],
    [-(2 ** 27), 'mul', 2 ** 27],
    [2, 'pow', 53],
  ] as [number, ArithmeticOp, number][])('%j %s %j is not exact', (left, op, right) => {
    expect(fault(calculate(left, op, right)).code).toBe('E_UNSAFE_INTEGER');
    expect(fault({ kind: 'negate', of: literal(2 ** 53) }).code).toBe('E_UNSAFE_INTEGER');
  });

  test('takes numbers', () => {
    expect(fault(calculate('6', 'div', 2)).message).toBe('`/` cannot calculate with text and a number');
    expect(fault(calculate(1, 'add.js', null)).code).toBe('E_OPERAND_TYPES');
    expect(fault({ kind: 'negate', of: literal('1') }).message).toBe('`negate` cannot calculate with text');
  });

  test('says what a number is', () => {
    expect(fault(calculate(1, 'div', 0)).message).toBe('`/` gives Infinity, which is not a finite number');
    expect(fault(calculate(2, 'pow', 53)).message).toBe(
      '`**` meets 9007199254740992, and whole numbers beyond 2^53 - 1 are not exact',
    );
  });
});
