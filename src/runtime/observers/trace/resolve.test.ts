import { describe, expect, test } from 'vitest';
import type { Expr } from '../../../graph/expression/tree.js';
import type { Json } from '../../../graph/json.js';
import { broken, call, coalesce, graph, input, lit, Run, step, text } from '../../engine/graph.fixture.js';
import { type Derived, Resolver, type Supply } from './resolve.js';

const supplies: Readonly<Record<string, Supply>> = {
  a: 'known',
  later: 'promised',
  lost: 'never',
  left: 'known',
  title: 'promised',
  sum: 'known',
};
const state = new Run(graph([call('a')]), { name: 'Ada', token: 't' }).returns('a', {
  id: 7,
  list: [1],
}).state;
const derived: ReadonlyMap<unknown, Derived> = new Map([
  ['title', { value: '<output from later>!', symbolic: true, sources: ['later'] }],
  ['sum', { value: 3, symbolic: false, sources: [] }],
]);
const resolver = new Resolver({
  lookup: (root, name) =>
    root === 'inputs' ? state.input[name] : (derived.get(name)?.value ?? state.outputs[name]),
  supply: ({ root, path: [name] }) => {
    if (root === 'inputs') return name === 'token' ? 'promised' : 'known';
    return supplies[String(name)] ?? 'never';
  },
  derived: ({ root, path: [name] }) => (root === 'steps' ? derived.get(name) : undefined),
  secretSources: () => undefined,
  name: ({ path: [name] }) => String(name),
});

const get = (of: Expr, key: Json): Expr => ({ kind: 'get', of, key: lit(key) });
const dict = (entries: Readonly<Record<string, Expr>>): Expr => ({
  kind: 'dict',
  entries: Object.entries(entries).map(([key, value]) => ({ key, value })),
});

const when = (test: Expr): Expr => ({
  kind: 'conditional',
  truth: 'boolean',
  test,
  // biome-ignore lint/suspicious/noThenProperty: the model's own name for that side
  then: step('later'),
  else: lit('else'),
});

describe('Resolver', () => {
  test.each<[string, Expr, unknown]>([
    ['a computed value that is worked out', step('sum'), 3],
    ['a computed value made of what is promised', step('title'), '<output from later>!'],
    ['a part of that', get(step('title'), 'length'), '<value computed from later>'],
    ['something made of that', coalesce(step('title'), lit('x')), '<value computed from later>'],
    ['a known output', get(step('a'), 'id'), 7],
    ['a skipped step', step('left'), undefined],
    ['an output to come', step('later'), '<output from later>'],
    ['a field of one, by reference', step('later', 'page', 0), "<field 'page.0' from later>"],
    ['a field of one, by get', get(get(step('later'), 'page'), 'path'), "<field 'page.path' from later>"],
    ['a secret input', input('token'), '<prompt arg token>'],
    ['text', text('to ', input('name'), ' of ', step('later'), '!'), 'to Ada of <output from later>!'],
    [
      'structures, in part',
      dict({
        a: step('a', 'id'),
        b: { kind: 'list', items: [{ value: step('later') }, { value: lit() }] },
        c: lit(),
      }),
      { a: 7, b: ['<output from later>', null] },
    ],
    ['a condition that is decided', when(lit(true)), '<output from later>'],
    ['its other side', when(lit(false)), 'else'],
    ['a condition that is not', when(step('later', 'ok')), '<value computed from later>'],
    ['a computation', coalesce(step('later'), step('a', 'id')), '<value computed from later, a>'],
  ])('%s', (_name, expr, value) => {
    expect(resolver.resolve(expr)).toMatchObject({ ok: true, value });
  });

  test('what needs an output that will never be has no value', () => {
    expect(resolver.resolve(dict({ a: lit(1), b: text(step('lost')) }))).toEqual({ ok: false });
    expect(resolver.resolve(coalesce(step('lost'), lit(1)))).toEqual({ ok: false });
  });

  test('neither has an expression without one', () => {
    expect(resolver.resolve(broken)).toEqual({ ok: false });
    expect(resolver.resolve(dict({ a: step('later'), b: broken }))).toEqual({ ok: false });
  });
});
