import { expect, expectTypeOf, test } from 'vitest';
import { defined } from './defined.js';

test('leaves out what is undefined and keeps everything else, in order', () => {
  const limit: number | undefined = undefined;
  const values = { b: null, limit, a: 0, c: '', d: false };
  expect(Object.entries(defined(values))).toEqual([
    ['b', null],
    ['a', 0],
    ['c', ''],
    ['d', false],
  ]);
});

test('makes properties that may be undefined optional', () => {
  const values = defined({ a: 1, b: 'x' as string | undefined });
  expectTypeOf(values.a).toEqualTypeOf<number>();
  expectTypeOf<typeof values>().toExtend<{ readonly a: number; readonly b?: string }>();
});
