import { describe, expect, test } from 'vitest';
import { call, dict, literal, text } from './build.fixture.js';
import { Budget, ExpressionError, evaluate } from './evaluate.js';
import { references } from './traversal.js';
import type { Expr, RefExpr } from './tree.js';

const DATA = {
  inputs: { origin: 'NYC', nothing: null },
  steps: { search: [{ id: 'f1', seats: null }], empty: [], text: 'abc', none: null },
} as const;

const scope = {
  lookup: (root: string, name: string | number) =>
    (DATA as Readonly<Record<string, Readonly<Record<string, unknown>>>>)[root]?.[name] as never,
};

const run = (expr: Expr) => evaluate(expr, scope, new Budget(10_000));

function faultOf(expr: Expr): ExpressionError {
  try {
    run(expr);
  } catch (error) {
    if (error instanceof ExpressionError) return error;
  }
  throw new Error('it has a value');
}

const named =
  (find: 'strict' | 'optional') =>
  (root: RefExpr['root'], ...path: (string | number)[]): RefExpr => ({ kind: 'ref', root, path, find });
const strict = named('strict');
const optional = named('optional');

describe('a strict reference', () => {
  test('has the value that it finds, null included', () => {
    expect(run(strict('steps', 'search', 0, 'id'))).toBe('f1');
    expect(run(strict('steps', 'search', '0', 'id'))).toBe('f1');
    expect(run(strict('steps', 'search', 0, 'seats'))).toBeNull();
    expect(run(strict('steps', 'none'))).toBeNull();
  });

  test.each([
    [strict('steps', 'skipped'), '`steps.skipped` has no value'],
    [
      strict('steps', 'skipped', 'id'),
      '`steps.skipped.id` finds nothing: `steps.skipped` is absent, and has no `id`',
    ],
    [
      strict('steps', 'empty', 0, 'id'),
      '`steps.empty.0.id` finds nothing: `steps.empty` is an empty list, and has no `0`',
    ],
    [
      strict('steps', 'search', 'length'),
      '`steps.search.length` finds nothing: `steps.search` is a list of 1, and has no `length`',
    ],
    [
      strict('steps', 'search', 0, 'toString'),
      '`steps.search.0.toString` finds nothing: `steps.search.0` is an object, and has no `toString`',
    ],
    [strict('steps', 'text', 0), '`steps.text.0` finds nothing: `steps.text` is text, and has no `0`'],
    [strict('steps', 'none', 'id'), '`steps.none.id` finds nothing: `steps.none` is null, and has no `id`'],
  ])('is E_REF_MISSING where it finds nothing', (expr, message) => {
    expect(faultOf(expr)).toMatchObject({ code: 'E_REF_MISSING', message });
  });

  test('is absent for an input that was left out, and its key is left out', () => {
    expect(run(dict({ code: strict('inputs', 'code') }))).toEqual({});
    expect(faultOf(strict('inputs', 'code', 'id')).code).toBe('E_REF_MISSING');
  });
});

test('an optional reference is absent where it finds nothing, and only orders', () => {
  expect(run(optional('steps', 'none', 'id'))).toBeUndefined();
  expect(run(optional('steps', 'text', 'length'))).toBeUndefined();
  expect(run(optional('steps', 'none'))).toBeNull();
  const both = dict({ a: optional('steps', 'search'), b: strict('steps', 'search') });
  expect(references(both).map(({ guarded }) => guarded)).toEqual([true, false]);
});

test('a text has values in it, and neither null nor absent', () => {
  expect(run(text('strict', 'at ', strict('steps', 'search', 0, 'id'), ' ', literal(1.5)))).toBe('at f1 1.5');
  expect(faultOf(text('strict', '/', strict('inputs', 'nothing')))).toMatchObject({
    code: 'E_TEXT_VALUE',
    message: '`inputs.nothing` is null, and only text, numbers and booleans can be part of a text',
  });
  expect(faultOf(text('strict', strict('inputs', 'code'))).code).toBe('E_TEXT_VALUE');
});

describe('functions of spec files', () => {
  test.each([
    ['contains', ['abcd', 'bc'], true],
    ['contains', [[1, { a: [1] }], { a: [1] }], true],
    ['contains', [[1], '1'], false],
    ['length', ['a😀'], 2],
    ['length', [[1, 2]], 2],
    ['length', [{ a: 1 }], 1],
    ['soleEntry', [{ a: [1] }], [1]],
    ['soleEntry', [{ a: 1, b: 2 }], { a: 1, b: 2 }],
    ['soleEntry', [{}], null],
    ['isPresent', [null], true],
    ['toJson', [{ a: ['x'] }], '{"a":["x"]}'],
    ['toJson', ['x'], '"x"'],
  ] as const)('%s(%j) is %j', (fn, args, value) => {
    expect(run(call(fn, ...args.map((arg) => literal(arg))))).toEqual(value);
  });

  test('leave out what is absent', () => {
    const entries = dict({ a: optional('steps', 'skipped'), b: literal(2) });
    expect(run(call('soleEntry', entries))).toBe(2);
    expect(run(call('length', entries))).toBe(1);
    expect(run(call('isPresent', optional('steps', 'skipped')))).toBe(false);
  });

  test('name the types that they take', () => {
    expect(faultOf(call('contains', literal(1), literal(1))).message).toBe(
      '`contains` takes text or a list, not a number',
    );
    expect(faultOf(call('contains', literal('1'), literal(1))).message).toBe(
      '`contains` takes text, not a number',
    );
    expect(faultOf(call('length', literal(null))).message).toBe(
      '`length` takes text, a list or an object, not null',
    );
  });
});

describe('deep comparison', () => {
  const compared = (left: unknown, op: 'eq.deep' | 'ne.deep', right: unknown): Expr => ({
    kind: 'compare',
    left: literal(left as never),
    ops: [{ op, right: literal(right as never) }],
  });

  test.each([
    [1, 1, true],
    ['1', 1, false],
    [null, null, true],
    [null, false, false],
    [{ a: 1, b: [2] }, { b: [2], a: 1 }, true],
    [[1, 2], [2, 1], false],
    [{ a: 1 }, { a: 1, b: 1 }, false],
    [[], {}, false],
    [{ a: 1 }, { toString: 1 }, false],
  ])('%j equals %j: %j', (left, right, isEqual) => {
    expect(run(compared(left, 'eq.deep', right))).toBe(isEqual);
    expect(run(compared(left, 'ne.deep', right))).toBe(!isEqual);
  });

  test('is charged by the size of both sides', () => {
    const long = literal('x'.repeat(6000));
    const both: Expr = { kind: 'compare', left: long, ops: [{ op: 'eq.deep', right: long }] };
    expect(faultOf(both).code).toBe('E_BUDGET');
  });
});
