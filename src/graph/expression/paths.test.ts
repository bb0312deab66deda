import { expect, test } from 'vitest';
import { get, list, literal, ref } from './build.fixture.js';
import { readKey } from './paths.js';
import type { Expr } from './tree.js';

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
  ['a key of what is no reference', readKey(list(), literal(0)), get(list(), 0)],
])('%s has one spelling', (_what, made, expected) => {
  expect(made).toEqual(expected);
});

test('a longer reference stands where the whole of it is written', () => {
  expect(readKey({ ...found, at: [1, 1, 1, 5] }, literal('page'), { at: [1, 1, 1, 10] })).toEqual({
    ...ref('steps', 'find', 'page'),
    at: [1, 1, 1, 10],
  });
});
