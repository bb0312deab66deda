import { describe, expect, test } from 'vitest';
import { computes, graphOf, returns, step } from '../../check/check-graph.fixture.js';
import { arm, body, branches, loop, parallel, undoing } from '../../check/constructs.fixture.js';
import { bound, get, literal, local, map, method, ref, text } from '../../graph/expression/build.fixture.js';
import type { Expr } from '../../graph/expression/tree.js';
import type { Node } from '../../graph/kinds/node.js';
import { usesOf } from './drift.js';

/** What is read of a step, `!` for what is read as a whole. */
function read(nodes: readonly Node[], id = 'list'): string[] {
  const use = usesOf(graphOf(nodes), () => true).find((each) => each.step === id);
  const paths = use?.reads.map(({ path, isWhole }) => `${path.join('.')}${isWhole ? '!' : ''}`) ?? [
    'no call',
  ];
  return [...new Set(paths)].sort();
}

const list = step(3, 'list', 'find');
const from = (...path: (string | number)[]): Expr => ref('steps', 'list', ...path);
const listOf = (...parts: Expr[]): Expr => ({ kind: 'list', items: parts.map((value) => ({ value })) });

describe('what a workflow reads of a call', () => {
  test.each<[string, Node[], string[]]>([
    ['nothing', [list], []],
    ['a path', [list, returns(4, from('pages', 0, 'title'))], ['pages.0.title!']],
    ['the whole', [list, returns(4, from())], ['!']],
    [
      'paths in texts and inputs',
      [list, step(4, 'b', 'find', { a: text('js', from('x')), b: from('y') })],
      ['x!', 'y!'],
    ],
    ['a computed key', [list, returns(4, get(from('pages'), ref('inputs', 'task')))], ['pages!']],
    ['a length', [list, returns(4, from('pages', 'length'))], ['pages.length!']],
    ['an optional link', [list, returns(4, get(from('page'), 'title', true))], ['page.title!']],
    [
      'what is read of items',
      [list, returns(4, map(from('pages'), 'p', local('p', 'title')))],
      ['pages', 'pages.0.title!'],
    ],
    [
      'what is read of items of items',
      [list, returns(4, map(from('pages'), 'p', map(local('p', 'tags'), 't', local('t'))))],
      ['pages', 'pages.0.tags', 'pages.0.tags.0!'],
    ],
    [
      'what is read through a name',
      [list, returns(4, bound('a', from('page'), local('a', 'title')))],
      ['page.title!'],
    ],
    ['the subject of a method', [list, returns(4, method('toUpperCase', from('name')))], ['name!']],
    [
      'what a computed step passes on',
      [list, computes(4, 'page', from('page')), returns(5, ref('steps', 'page', 'title'))],
      ['page.title!'],
    ],
    ['a computed step that is not read', [list, computes(4, 'page', from('page'))], []],
    [
      'what a function gets',
      [list, computes(4, 'f', listOf(from('page')), { function: { name: 'f', hash: 'a'.repeat(64) } })],
      ['page!'],
    ],
    [
      'items of a loop',
      [list, loop(4, 'each', from('pages'), body([step(5, 'put', 'put', { id: ref('item', 'x', 'id') })]))],
      ['pages', 'pages.0.id!'],
    ],
  ])('%s', (_, nodes, paths) => {
    expect(read(nodes)).toEqual(paths);
  });

  test('through the arms of a branch', () => {
    const arms = [
      arm('a', body([list], from())),
      arm('b', body([step(4, 'other', 'find')], ref('steps', 'other'))),
    ];
    const branch = branches(5, 'either', arms);
    expect(read([branch])).toEqual([]);
    expect(read([branch, returns(6, ref('steps', 'either', 'title'))])).toEqual(['title!']);
    expect(read([branch, returns(6, ref('steps', 'either', 'title'))], 'other')).toEqual(['title!']);
  });

  test('through a loop and a parallel', () => {
    const each = loop(5, 'each', literal([1]), body([list], from('id')));
    expect(read([each, returns(6, ref('steps', 'each', 0, 'text'))])).toEqual(['id.text!']);
    const both = parallel(5, 'both', {
      a: body([list], from()),
      b: body([step(4, 'other', 'find')], ref('steps', 'other')),
    });
    const one = returns(6, ref('steps', 'both', 'a', 'title'));
    expect([read([both, one]), read([both, one], 'other')]).toEqual([['title!'], []]);
    expect(read([both, returns(6, ref('steps', 'both'))], 'other')).toEqual(['!']);
  });
});

test('compensations and tasks are calls as well', () => {
  const undone = step(3, 'a', 'put', {}, { compensate: undoing('remove', { id: ref('steps', 'a', 'id') }) });
  const task = { ...graphOf([step(3, 'b', 'put')]), name: 'task' };
  const uses = usesOf({ ...graphOf([undone]), tasks: [task] }, (tool) => tool !== 'find');
  expect(uses.map(({ workflow, step: id, tool, reads }) => [workflow, id, tool, reads.length])).toEqual([
    ['add-task', 'a', 'put', 1],
    ['add-task', 'a', 'remove', 0],
    ['task', 'b', 'put', 0],
  ]);
  expect(usesOf(graphOf([step(3, 'a', 'put')]), () => false)).toEqual([]);
});
