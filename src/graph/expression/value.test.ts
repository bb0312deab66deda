import { describe, expect, test } from 'vitest';
import type { Json, Value } from '../json.js';
import { call, dict, get, literal, map, ref, text } from './build.fixture.js';
import { Budget, evaluate } from './evaluate.js';
import type { Expr } from './tree.js';
import { isUnknown, Unknown, unknownIn } from './value.js';

/** What the step `find` will give. */
const find = Unknown.value({
  sources: ['find'],
  text: (path) => (path.length === 0 ? '<find>' : `<${path.join('.')} of find>`),
});

const lost = Unknown.value({ sources: [], isUnavailable: true });

const steps: Readonly<Record<string, Json>> = { find, lost, known: { n: 2, list: [1, 2] } };

const given = (expr: Expr): Value =>
  evaluate(expr, { lookup: (_root, name) => steps[name] }, new Budget(1_000));

const printed = (expr: Expr): unknown => JSON.parse(JSON.stringify(given(expr)));

const found = ref('steps', 'find');
const n = ref('steps', 'known', 'n');

describe('a value that is not known', () => {
  test('goes through lists, objects, texts and paths', () => {
    expect(
      printed(dict({ whole: found, id: get(found, 'id'), deep: ref('steps', 'find', 'pages', 0), n })),
    ).toEqual({ whole: '<find>', id: '<id of find>', deep: '<pages.0 of find>', n: 2 });
    expect(printed(text('js', 'Page ', get(found, 'id'), ' of ', n))).toBe('Page <id of find> of 2');
  });

  test.each<[string, Expr]>([
    ['a comparison', { kind: 'compare', left: found, ops: [{ op: 'eq.strict', right: literal('x') }] }],
    ['a sum', { kind: 'arithmetic', op: 'add.js', left: n, right: found }],
    ['a negation', { kind: 'not', truth: 'boolean', of: found }],
    ['a sign', { kind: 'negate', of: found }],
    ['a choice', { kind: 'and', truth: 'truthy.js', items: [n, found, literal(1)] }],
    ['a slice', { kind: 'slice', style: 'js', of: ref('steps', 'known', 'list'), start: found }],
    ['a function', call('toUpperCase.js', found)],
    [
      'a function of a list that holds it',
      call('includes.js', { kind: 'list', items: [{ value: found }] }, n),
    ],
    ['a function of any value', call('isNullish', found)],
    ['a default', call('coalesce', found, n)],
    ['a list that is poured out', { kind: 'list', items: [{ value: found, spread: true }] }],
    ['an object that is poured out', { kind: 'dict', entries: [{ spread: found }] }],
    ['the items of a list', map(found, 'x', ref('local', 'x'))],
    [
      'the items that match',
      {
        kind: 'each',
        mode: 'filter',
        as: 'x',
        truth: 'boolean',
        in: ref('steps', 'known', 'list'),
        body: found,
      },
    ],
    ['a key', get(ref('steps', 'known'), found)],
    ['what is read from a text it is part of', get(text('js', 'Page ', found), 'length')],
  ])('makes unknown what comes of it: %s', (_name, expr) => {
    expect(printed(expr)).toBe('<value computed from find>');
  });

  test('counts as true in a condition, and its choice is not known', () => {
    // biome-ignore lint/suspicious/noThenProperty: the tree's own name for it
    const choice: Expr = { kind: 'conditional', test: found, truth: 'boolean', then: n, else: literal('no') };
    expect(printed(choice)).toBe('<value computed from find>');
    const decided: Expr = { ...choice, test: literal(false) };
    expect(given(decided)).toBe('no');
  });

  test('is lost where a part of it is', () => {
    const value = given(dict({ both: text('js', found, ref('steps', 'lost')) }));
    expect(unknownIn(value).map(({ isUnavailable: isLost }) => isLost)).toEqual([true]);
  });

  test('has nothing of its own that could be taken for data', () => {
    expect(isUnknown(find)).toBe(true);
    expect(Object.keys(find as object)).toEqual([]);
    expect(isUnknown({ sources: [], isLost: true })).toBe(false);
  });
});
