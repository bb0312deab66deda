import { describe, expect, test } from 'vitest';
import {
  arithmetic,
  ask,
  bound,
  call,
  dict,
  fault,
  get,
  list,
  literal,
  local,
  map,
  method,
  optional,
  ref,
  run,
  slice,
} from './build.fixture.js';
import type { Expr } from './tree.js';

/** Fails when it is evaluated. */
const boom = get(literal(null), 'boom');

describe('slice', () => {
  test('takes a part of a list or text, from the end as well', () => {
    expect(run(slice(literal([1, 2, 3]), literal(1)))).toEqual([2, 3]);
    expect(run(slice(literal([1, 2, 3]), literal(-2), literal(-1)))).toEqual([2]);
    expect(run(slice(literal('abc'), literal(), literal(2)))).toBe('ab');
    expect(run(slice(literal('\u{1f600}'), literal(1)))).toBe('\ude00');
    expect(run(slice(literal([1]), literal(5)))).toEqual([]);
  });

  test('takes nothing else, and numbers as bounds', () => {
    expect(fault(slice(literal({}))).message).toBe('`slice` takes text or a list, not an object');
    expect(fault(slice(literal())).code).toBe('E_ARGUMENT_TYPE');
    expect(fault(slice(literal('a'), literal('1'))).message).toBe('`slice` takes numbers, not text');
    expect(fault(slice(literal('a'), literal(null))).code).toBe('E_ARGUMENT_TYPE');
  });
});

describe('each', () => {
  const numbers = literal([3, 1, 2]);
  const over = (limit: number): Expr => ({
    kind: 'compare',
    left: local('n'),
    ops: [{ op: 'gt.js', right: literal(limit) }],
  });

  test('map gives the list of the bodies, with the place of each item', () => {
    expect(run(map(numbers, 'n', list(local('i'), local('n')), 'i'))).toEqual([
      [0, 3],
      [1, 1],
      [2, 2],
    ]);
    expect(run(map(literal([]), 'n', boom))).toEqual([]);
  });

  test('filter, find, some and every put a question', () => {
    expect(run(ask('filter', numbers, 'n', over(1)))).toEqual([3, 2]);
    expect(run(ask('find', numbers, 'n', over(1)))).toBe(3);
    expect(run(ask('find', numbers, 'n', over(5)))).toBeUndefined();
    expect(run(ask('some', numbers, 'n', over(2)))).toBe(true);
    expect(run(ask('every', numbers, 'n', over(2)))).toBe(false);
    expect(run(ask('some', literal([]), 'n', boom))).toBe(false);
    expect(run(ask('every', literal([]), 'n', boom))).toBe(true);
  });

  test('find, some and every end as soon as the answer is known', () => {
    const first: Expr = { kind: 'or', truth: 'truthy.js', items: [over(2), boom] };
    expect(run(ask('find', numbers, 'n', first))).toBe(3);
    expect(run(ask('some', numbers, 'n', first))).toBe(true);
    const none: Expr = { kind: 'and', truth: 'truthy.js', items: [over(5), boom] };
    expect(run(ask('every', numbers, 'n', none))).toBe(false);
    expect(fault(ask('filter', numbers, 'n', first)).code).toBe('E_NOT_AN_OBJECT');
  });

  test('questions with the truth `boolean` take booleans only', () => {
    const strict: Expr = {
      kind: 'each',
      mode: 'filter',
      truth: 'boolean',
      as: 'n',
      in: numbers,
      body: local('n'),
    };
    expect(fault(strict).code).toBe('E_NOT_A_BOOLEAN');
  });

  test('goes through lists only', () => {
    for (const value of [literal('ab'), literal({}), literal(null), literal()]) {
      expect(fault(map(value, 'n', literal(1))).code).toBe('E_ARGUMENT_TYPE');
    }
    expect(fault(ask('some', literal('ab'), 'n', literal(1))).message).toBe('`some` takes a list, not text');
  });

  test('an inner name hides an outer one, and no name is known outside', () => {
    const inner = map(
      literal([[1], [2, 3]]),
      'n',
      map(local('n'), 'n', arithmetic(local('n'), 'mul', literal(2))),
    );
    expect(run(inner)).toEqual([[2], [4, 6]]);
    expect(run(bound('n', literal(1), list(bound('n', literal(2), local('n')), local('n'))))).toEqual([2, 1]);
    expect(fault(list(map(numbers, 'n', local('n')), local('n'))).message).toBe('nothing here is named `n`');
    expect(fault(local('constructor')).code).toBe('E_UNKNOWN_NAME');
    expect(run(bound('__proto__', literal({ a: 1 }), local('__proto__', 'a')))).toBe(1);
  });
});

describe('absent items and properties', () => {
  const pages = literal([{ alias: 'a' }, {}, { alias: null }]);
  const aliases = map(pages, 'p', local('p', 'alias'));
  const isAbsent = (of: Expr): Expr => ({
    kind: 'compare',
    left: of,
    ops: [{ op: 'eq.strict', right: literal() }],
  });

  test('stay absent while an expression is evaluated', () => {
    expect(
      run(ask('filter', aliases, 'a', { kind: 'not', truth: 'boolean', of: isAbsent(local('a')) })),
    ).toEqual(['a', null]);
    expect(run(isAbsent(get(list(literal()), 0)))).toBe(true);
    expect(run(method('includes.js', aliases, literal()))).toBe(true);
    expect(run(method('includes.js', list(literal()), literal(null)))).toBe(false);
    const emptied: Expr = { kind: 'dict', entries: [{ key: 'a', value: literal() }] };
    const poured: Expr = {
      kind: 'dict',
      entries: [{ spread: literal({ a: 1, b: 2 }) }, { spread: emptied }],
    };
    expect(JSON.stringify(run(poured))).toBe('{"b":2}');
  });

  test('are null or gone in the value, however deep', () => {
    expect(run(aliases)).toEqual(['a', null, null]);
    const value = run(dict({ x: list(dict({ y: literal(), z: list(aliases) })), w: literal() }));
    expect(Object.keys(value as object)).toEqual(['x']);
    expect(value).toEqual({ x: [{ z: [['a', null, null]] }] });
    expect(Object.keys((value as { x: object[] }).x[0]!)).toEqual(['z']);
  });

  test('are taken out of a part that occurs twice once', () => {
    const value = run(bound('a', list(literal()), list(local('a'), local('a')))) as unknown[];
    expect(value).toEqual([[null], [null]]);
    expect(value[0]).toBe(value[1]);
  });
});

describe('chains', () => {
  const o = ref('inputs', 'o');
  const links: [string, (of: Expr, isOptional: boolean) => Expr][] = [
    ['get', (of, isOptional) => get(of, 'k', isOptional)],
    ['slice', (of, isOptional) => (isOptional ? optional(slice(of)) : slice(of))],
    ['each', (of, isOptional) => (isOptional ? optional(map(of, 'x', boom)) : map(of, 'x', boom))],
    [
      'a method',
      (of, isOptional) => (isOptional ? optional(method('join.js', of, boom)) : method('join.js', of, boom)),
    ],
  ];

  test.each(links)('%s may be optional, and what follows is not evaluated', (_, link) => {
    for (const [, next] of links) {
      expect(run(link(o, true))).toBeUndefined();
      expect(run(next(link(o, true), false))).toBeUndefined();
      expect(run(next(link(get(o, 'a', true), false), false), { inputs: { o: null } })).toBeUndefined();
      expect(['E_NOT_AN_OBJECT', 'E_ARGUMENT_TYPE']).toContain(fault(next(link(o, false), true)).code);
    }
  });

  test('end at a function that is not a method', () => {
    expect(fault(method('trim.js', call('coalesce', get(o, 'a', true)))).message).toBe(
      '`trim.js` takes text, not absent',
    );
    expect(run(list(get(o, 'a', true)))).toEqual([null]);
  });
});
