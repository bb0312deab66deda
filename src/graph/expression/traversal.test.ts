import { describe, expect, test } from 'vitest';
import {
  bound,
  call,
  dict,
  get,
  list,
  literal,
  local,
  map,
  method,
  optional,
  ref,
  slice,
  text,
} from './build.fixture.js';
import { readKey, references, unboundLocals } from './traversal.js';
import type { Expr } from './tree.js';

/** `a`, or `?a` for a guarded one. */
function shown(expr: Expr): string[] {
  return references(expr).map(({ ref: { path }, guarded }) => `${guarded ? '?' : ''}${path.join('.')}`);
}

const a = ref('steps', 'a');
const b = ref('inputs', 'b');
const c = ref('steps', 'c', 'x', 0);

describe('references', () => {
  test('are found in written order, at any depth', () => {
    const expr = dict({
      one: text('js', 'x', a, { kind: 'list', items: [{ value: b }] }),
      two: get(c, ref('inputs', 'k')),
    });
    expect(shown(expr)).toEqual(['a', 'b', 'c.x.0', 'k']);
    expect(shown({ kind: 'dict', entries: [{ spread: a }] })).toEqual(['a']);
    expect(shown({ kind: 'compare', left: a, ops: [{ op: 'lt.js', right: b }] })).toEqual(['a', 'b']);
    expect(shown(literal('inputs.x'))).toEqual([]);
  });

  test('are guarded where absence is provided for', () => {
    expect(shown(call('coalesce', a, b, c))).toEqual(['?a', '?b', 'c.x.0']);
    expect(shown(call('isNullish', a))).toEqual(['?a']);
    expect(shown(get(get(a, 'x', true), b))).toEqual(['?a', 'b']);
    // biome-ignore lint/suspicious/noThenProperty: the name is the model's
    expect(shown({ kind: 'conditional', truth: 'boolean', test: a, then: b, else: c })).toEqual([
      '?a',
      'b',
      'c.x.0',
    ]);
    expect(shown({ kind: 'and', truth: 'truthy.js', items: [a, b, c] })).toEqual(['?a', '?b', 'c.x.0']);
    expect(shown({ kind: 'or', truth: 'truthy.js', items: [a, b] })).toEqual(['?a', 'b']);
    expect(shown({ kind: 'not', truth: 'truthy.js', of: a })).toEqual(['a']);
  });

  test('below a guarded position are guarded', () => {
    expect(shown(call('coalesce', dict({ x: text('js', a) }), literal(1)))).toEqual(['?a']);
  });

  test('are guarded as the subject of an optional link', () => {
    expect(shown(optional(slice(a, b)))).toEqual(['?a', 'b']);
    expect(shown(optional(map(a, 'x', b)))).toEqual(['?a', 'b']);
    expect(shown(optional(method('join.js', a, b)))).toEqual(['?a', 'b']);
    expect(shown(method('join.js', get(a, 'x', true), b))).toEqual(['?a', 'b']);
    expect(shown(slice(a))).toEqual(['a']);
  });

  test('of every other kind are found as well', () => {
    const later: Expr[] = [
      { kind: 'slice', style: 'py', of: a, start: b, end: c, step: a },
      { kind: 'arithmetic', op: 'sub', left: a, right: b },
      { kind: 'negate', of: a },
      map(a, 'x', list(b, local('x'))),
      bound('x', a, local('x')),
    ];
    expect(later.map(shown)).toEqual([
      ['a', 'b', 'c.x.0', 'a'],
      ['a', 'b'],
      ['a'],
      ['a', 'b', 'x'],
      ['a', 'x'],
    ]);
  });
});

describe('unboundLocals', () => {
  const names = (expr: Expr): string[] => unboundLocals(expr).map(({ path }) => String(path[0]));

  test('are names that nothing around them binds', () => {
    expect(names(map(local('in'), 'x', list(local('x'), local('i'), local('y')), 'i'))).toEqual(['in', 'y']);
    expect(names(bound('x', local('x'), local('x')))).toEqual(['x']);
    expect(names(list(map(a, 'x', local('x')), local('x')))).toEqual(['x']);
    expect(names(map(a, 'x', map(a, 'y', list(local('x'), local('y')))))).toEqual([]);
  });
});

const found = ref('steps', 'find');

test.each<[string, Expr, Expr]>([
  ['a name of a reference', readKey(found, literal('page')), ref('steps', 'find', 'page')],
  [
    'an index of a reference',
    readKey(readKey(found, literal('pages')), literal(0)),
    ref('steps', 'find', 'pages', 0),
  ],
  ['a negative index', readKey(found, literal(-1)), get(found, -1)],
  ['a computed key', readKey(found, ref('inputs', 'key')), get(found, ref('inputs', 'key'))],
  ['an optional link', readKey(found, literal('page'), { optional: true }), get(found, 'page', true)],
  ['a key behind one', readKey(get(found, 'page', true), literal('id')), get(get(found, 'page', true), 'id')],
  ['a key of a value that is not a reference', readKey(list(), literal(0)), get(list(), 0)],
])('%s has one spelling', (_what, made, expected) => {
  expect(made).toEqual(expected);
});

test('a longer reference is found where the whole of it is written', () => {
  expect(readKey({ ...found, at: [1, 1, 1, 5] }, literal('page'), { at: [1, 1, 1, 10] })).toEqual({
    ...ref('steps', 'find', 'page'),
    at: [1, 1, 1, 10],
  });
});
