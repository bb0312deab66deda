import { describe, expect, test } from 'vitest';
import type { Value } from '../json.js';
import { literal, method, run, scopeOf } from './build.fixture.js';
import { Budget, ExpressionError, evaluate } from './evaluate.js';
import { expressionFunctions, javascriptMethods } from './functions.js';
import type { Expr } from './tree.js';

function value(of: Value): Expr {
  return of === undefined ? literal() : literal(of);
}

function apply(fn: string, ...args: Value[]): Value {
  const [of, ...others] = args;
  return run(method(fn, value(of), ...others.map(value)));
}

function fault(fn: string, ...args: Value[]): string {
  try {
    apply(fn, ...args);
  } catch (error) {
    if (error instanceof ExpressionError) return `${error.code} ${error.message}`;
    throw error;
  }
  throw new Error('nothing was thrown');
}

test.each([
  ['at.js', [['a', 'b'], -1], 'b'],
  ['at.js', [['a', 'b'], 1.9], 'b'],
  ['at.js', [['a'], 1], undefined],
  ['at.js', ['abc', -3], 'a'],
  ['trim.js', ['\t\u00a0\ufeff\u2028 a b \n'], 'a b'],
  ['toLowerCase.js', ['İI'], 'i\u0307i'],
  ['toLowerCase.js', ['ΑΣ'], 'ας'],
  ['toUpperCase.js', ['ßi'], 'SSI'],
  ['startsWith.js', ['abc', 'ab'], true],
  ['startsWith.js', ['abc', 'b', 1], true],
  ['startsWith.js', ['abc', 'a', undefined], true],
  ['endsWith.js', ['abc', 'bc'], true],
  ['endsWith.js', ['abc', 'b', 2], true],
  ['includes.js', ['abc', 'bc'], true],
  ['includes.js', ['abc', 'a', 1], false],
  ['includes.js', ['abc', '', 99], true],
  ['includes.js', [[1, '1'], '1'], true],
  ['includes.js', [[1], '1'], false],
  ['includes.js', [[null], null], true],
  ['includes.js', [[null], undefined], false],
  ['includes.js', [[1, 2], 1, -1], false],
  ['includes.js', [[{}, []], 1], false],
  ['join.js', [['a', 1, true]], 'a,1,true'],
  ['join.js', [['a', null, 2], '-'], 'a--2'],
  ['join.js', [[], 'x'], ''],
  ['split.js', ['a,b', ','], ['a', 'b']],
  ['split.js', ['a,b'], ['a,b']],
  ['split.js', ['a,b', undefined, 0], []],
  ['split.js', ['\u{1f600}', ''], ['\ud83d', '\ude00']],
  ['split.js', ['', ''], []],
  ['split.js', ['', 'a'], ['']],
  ['split.js', ['abc', '', 2], ['a', 'b']],
  ['split.js', ['a,b,c', ',', -1], ['a', 'b', 'c']],
  ['split.js', ['a,b,c', ',', 4294967297], ['a']],
  ['trimStart.js', [' a '], 'a '],
  ['trimEnd.js', [' a '], ' a'],
  ['padStart.js', ['7', 3], '  7'],
  ['padStart.js', ['7', 3, '0'], '007'],
  ['padEnd.js', ['ab', 5, 'xy'], 'abxyx'],
  ['padEnd.js', ['ab', 5, ''], 'ab'],
  ['padEnd.js', ['ab', -5], 'ab'],
  ['replace.js', ['aab', 'a', 'c'], 'cab'],
  ['replaceAll.js', ['aab', 'a', 'c'], 'ccb'],
  ['replaceAll.js', ['aaa', 'aa', 'b'], 'ba'],
  ['replaceAll.js', ['ab', '', '-'], '-a-b-'],
  ['replaceAll.js', ['a.b', '.', "[$&|$`|$'|$$|$1|$]"], 'a[.|a|b|$|$1|$]b'],
  ['replaceAll.js', ['ab', 'x', '$'], 'ab'],
  ['concat.js', ['a', 'b', 'c'], 'abc'],
  ['concat.js', [[1], [2, [3]], 4], [1, 2, [3], 4]],
  ['flat.js', [[[1, [2]], [], 3]], [1, [2], 3]],
] as [string, Value[], Value][])('%s of %j is %j', (fn, args, result) => {
  expect(apply(fn, ...args)).toEqual(result);
});

describe('arguments', () => {
  test.each([
    ['trim.js', [null], '`trim.js` takes text, not null'],
    ['trim.js', [undefined], '`trim.js` takes text, not absent'],
    ['toUpperCase.js', [5], '`toUpperCase.js` takes text, not a number'],
    ['startsWith.js', ['a', null], '`startsWith.js` takes text, not null'],
    ['endsWith.js', ['a', 'a', '1'], '`endsWith.js` takes a number, not text'],
    ['includes.js', ['a', 1], '`includes.js` takes text, not a number'],
    ['includes.js', [[[]], []], '`includes.js` takes a scalar, not a list'],
    ['includes.js', [{}, 'a'], '`includes.js` takes text or a list, not an object'],
    ['join.js', ['ab'], '`join.js` takes a list, not text'],
    ['join.js', [[], 1], '`join.js` takes text, not a number'],
    ['split.js', ['a', null], '`split.js` takes text, not null'],
    ['replaceAll.js', ['a', 'b', undefined], '`replaceAll.js` takes text, not absent'],
    ['padStart.js', ['a', '1'], '`padStart.js` takes a number, not text'],
    ['concat.js', ['a', 1], '`concat.js` takes text, not a number'],
    ['flat.js', ['a'], '`flat.js` takes a list, not text'],
  ] as [string, Value[], string][])('%s of %j: %s', (fn, args, message) => {
    expect(fault(fn, ...args)).toBe(`E_ARGUMENT_TYPE ${message}`);
  });

  test('`join` makes no text of a list or an object', () => {
    const message = 'item 1 is an object, and only text, numbers and booleans can be part of a text';
    expect(fault('join.js', ['a', { toString: 'x' }])).toBe(`E_TEXT_VALUE ${message}`);
    expect(fault('join.js', [[1]])).toMatch(/^E_TEXT_VALUE item 0 is a list/);
  });

  test('are as many as the table says', () => {
    expect(fault('trim.js', 'a', 'b')).toBe('E_ARITY `trim.js` takes 1 argument, and 2 were given');
    expect(fault('startsWith.js', 'a')).toBe(
      'E_ARITY `startsWith.js` takes 2 to 3 arguments, and 1 were given',
    );
  });
});

describe('every method', () => {
  test('is in the table, and a method there', () => {
    for (const { name } of javascriptMethods)
      expect(expressionFunctions.get(name)).toMatchObject({ method: name.replace('.js', '') });
    expect(javascriptMethods).toHaveLength(17);
  });

  test('charges by the size of what it touches', () => {
    const long = 'ß'.repeat(1000);
    const items = Array.from({ length: 1000 }, () => 'a');
    const used = (fn: string, ...args: Value[]): number => {
      const budget = new Budget(1_000_000);
      const [of, ...others] = args;
      evaluate(method(fn, value(of), ...others.map(value)), scopeOf({}), budget);
      return 1_000_000 - budget.remaining;
    };
    const cases: [string, ...Value[]][] = [
      ['trim.js', long],
      ['toLowerCase.js', long],
      ['toUpperCase.js', long],
      ['startsWith.js', long, long],
      ['endsWith.js', long, long],
      ['includes.js', long, 'x'],
      ['includes.js', items, 1],
      ['includes.js', ['x', long], `${long.slice(1)}x`],
      ['join.js', items],
      ['join.js', ['', ''], long],
      ['split.js', long],
      ['split.js', long, ''],
      ['split.js', 'a', long],
      ['trimStart.js', long],
      ['trimEnd.js', long],
      ['padStart.js', 'a', 1001],
      ['padEnd.js', '', 1001, 'b'],
      ['replace.js', long, 'x', ''],
      ['replaceAll.js', 'ab', 'a', long],
      ['replaceAll.js', long.slice(0, 500), 'ß', '$`'],
      ['concat.js', 'a', long],
      ['concat.js', [], items],
      ['flat.js', [items]],
    ];
    for (const [fn, ...args] of cases) expect(used(fn, ...args), fn).toBeGreaterThan(1000);
    // Before it makes a text that no memory has room for.
    expect(fault('padEnd.js', 'a', 2 ** 40)).toMatch('E_BUDGET');
    expect(fault('replaceAll.js', 'a'.repeat(2000), 'a', '$`')).toMatch('E_BUDGET');
    // `at` touches one item.
    expect(new Set(cases.map(([fn]) => fn)).size).toBe(javascriptMethods.length - 1);
  });
});
