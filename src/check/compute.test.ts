import { describe, expect, test } from 'vitest';
import {
  arithmetic,
  ask,
  bound,
  call,
  dict,
  get,
  list,
  literal,
  local,
  map,
  method,
  ref,
  slice,
  text,
} from '../graph/expression/build.fixture.js';
import type { Expr } from '../graph/expression/tree.js';
import type { Node } from '../graph/kinds/node.js';
import { at, check, computes, reads, returns, step } from './check-graph.fixture.js';

const pages = ref('steps', 'list', 'pages');
const listed = step(3, 'list', 'list-pages');

describe('local names', () => {
  test('SW3001: a name that nothing around it binds', () => {
    const nodes = [
      listed,
      returns(4, list(map(pages, 'p', at(4, local('q'))), bound('x', literal(1), local('x')))),
    ];
    expect(check(nodes)).toEqual(['SW3001 4:20 nothing here is bound to `q`']);
    expect(check([], { returns: local('q') })).toEqual(['SW3001 1:1 nothing here is bound to `q`']);
  });

  test('a reference inside an arrow is checked as any other', () => {
    expect(check([returns(4, map(literal([]), 'x', ref('steps', 'later'))), listed])).toEqual([
      'SW3001 4:1 nothing here is bound to `later`',
    ]);
  });
});

describe('failures', () => {
  const handled = (value: Expr): Node => step(3, 'a', 'list-pages', {}, { onError: { value } });

  test('are known in a fallback', () => {
    const value = dict({
      total: literal(0),
      why: text('js', ref('error', 'code'), ref('error', 'attempts')),
    });
    expect(check([handled(value)])).toEqual([]);
  });

  test('SW3012: are known nowhere else', () => {
    const error = at(3, ref('error', 'code'));
    expect(check([returns(3, error)])).toEqual([
      'SW3012 3:20 step `output` names the failure of a step outside of its fallback | only the function that `attempt` takes knows the failure: use it there',
    ]);
    expect(check([returns(3, literal(1), { when: error })])).toHaveLength(1);
  });

  test('SW3001: have four fields', () => {
    expect(check([handled(at(3, ref('error', 'mesage')))])).toEqual([
      'SW3001 3:20 nothing here is bound to `error.mesage` | did you mean `message`?',
    ]);
  });

  test('a fallback orders, and may name earlier steps only', () => {
    const nodes = [handled(ref('steps', 'b')), computes(4, 'b', literal(1))];
    expect(check(nodes)).toEqual(['SW3004 3:1 `b` is bound after `a` | bound here 4:1 | move `b` above `a`']);
    expect(check([handled(ref('steps', 'a'))])).toEqual([
      'SW4006 3:1 steps wait for each other: a → a | remove one of these dependencies',
    ]);
  });
});

describe('SW4005 of computed values', () => {
  const reading = (value: Expr, ...path: (string | number)[]): string[] =>
    check([listed, computes(4, 'c', value), returns(5, ref('steps', 'c', ...path))]);
  const missing = (path: string, hint = ''): string[] => [
    `SW4005 5:1 the output of \`c\` has no \`${path}\`${hint}`,
  ];

  test.each([
    ['an object', dict({ title: literal('a') }), ['titel'], missing('titel', ' | did you mean `title`?')],
    ['a list', list(dict({ a: literal(1) })), [0, 'b'], missing('[0].b')],
    ['text', text('js', 'a'), ['b'], missing('b')],
    ['a number', arithmetic(literal(1), 'sub', literal(2)), ['b'], missing('b')],
    ['either side', call('coalesce', dict({ a: literal(1) }), dict({ b: literal(1) })), ['c'], missing('c')],
    [
      'items of an output',
      map(pages, 'p', local('p')),
      [0, 'titel'],
      missing('[0].titel', ' | did you mean `title`?'),
    ],
    ['items that were found', ask('find', pages, 'p', local('p')), ['x'], missing('x')],
    ['a part of a list', slice(ask('filter', pages, 'p', literal(true))), [0, 'x'], missing('[0].x')],
    ['parts of text', method('split.js', literal('a')), [0, 'x'], missing('[0].x')],
    ['a name', bound('x', dict({ a: literal(1) }), local('x')), ['b'], missing('b')],
    ['a question', ask('some', pages, 'p', literal(true)), ['x'], missing('x')],
  ] as [string, Expr, (string | number)[], string[]][])('%s', (_, value, path, found) => {
    expect(reading(value, ...path)).toEqual(found);
  });

  test.each([
    ['either side', call('coalesce', dict({ a: literal(1) }), dict({ b: literal(1) })), ['b']],
    ['an entry', dict({ a: map(pages, 'p', local('p', 'title')) }), ['a', 0, 'length']],
    ['a spread', { kind: 'dict', entries: [{ spread: ref('steps', 'list') }] }, ['anything']],
    ['absent', literal(), ['a']],
    ['an empty list', literal([]), [0, 'a']],
    ['a computed key', get(dict({ a: literal(1) }), ref('inputs', 'task')), ['x']],
  ] as [string, Expr, (string | number)[]][])('is silent about %s', (_, value, path) => {
    expect(reading(value, ...path)).toEqual([]);
  });

  test('names a key that a constant does not have', () => {
    const limits = literal({ maximum: 7 });
    const reads = (key: string): Expr => get(limits, literal(key));
    expect(check([computes(4, 'c', dict({ most: reads('maximun') }))])).toEqual([
      'SW4005 4:1 the constant has no `maximun` | did you mean `maximum`?',
    ]);
    expect(check([computes(4, 'c', dict({ most: reads('maximum') }))])).toEqual([]);
    expect(check([computes(4, 'c', call('coalesce', reads('least'), literal(1)))])).toEqual([]);
    expect(check([computes(4, 'c', get(limits, literal('least'), true))])).toEqual([]);
  });

  test('is silent about functions, and about values of a fallback', () => {
    const called = computes(4, 'c', list(), { function: { name: 'f', hash: '0'.repeat(64) } });
    expect(check([called, returns(5, ref('steps', 'c', 'x'))])).toEqual([]);
    const attempted = step(
      4,
      'c',
      'list-pages',
      {},
      { onError: { value: dict({ why: ref('error', 'code') }) } },
    );
    expect(check([attempted, returns(5, ref('steps', 'c', 'why'))])).toEqual([]);
    expect(check([attempted, returns(5, ref('steps', 'c', 'wy'))])).toEqual([
      'SW4005 5:1 the output of `c` has no `wy` | did you mean `why`?',
    ]);
    const read = reads(4, 'intro', literal('resource://logseq/intro'), { onError: { value: literal(null) } });
    expect(check([read, returns(5, ref('steps', 'doc', 'text'))])).toEqual([]);
  });

  test('SW4012: types of computed values reach the inputs of tools', () => {
    const nodes = [
      listed,
      computes(4, 'c', method('join.js', map(pages, 'p', local('p', 'title')))),
      step(5, 'b', 'list-pages', { limit: at(5, ref('steps', 'c')) }),
    ];
    expect(check(nodes)).toEqual([
      'SW4012 5:20 `limit` of tool `list-pages` takes an integer, and step `b` gives a string',
    ]);
  });

  test('long chains of computed values are checked in time', () => {
    const nodes: Node[] = [computes(3, 's0', dict({ a: literal(1) }))];
    for (let index = 1; index < 2000; index++) {
      const before = ref('steps', `s${index - 1}`);
      const value = call('coalesce', before, dict({ a: before, b: list(before, before) }));
      nodes.push(computes(index + 3, `s${index}`, value));
    }
    expect(check(nodes)).toEqual([]);
  });
});
