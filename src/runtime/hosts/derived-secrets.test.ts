import { describe, expect, test } from 'vitest';
import type { Expr } from '../../graph/expression/tree.js';
import type { Json } from '../../graph/json.js';
import type { Node } from '../../graph/model.js';
import type { RunState } from '../engine/contract.js';
import { call, coalesce, compute, graph, input, list, lit, step, text } from '../engine/graph.fixture.js';
import { DerivedSecrets } from './derived-secrets.js';

const fn = (name: string, ...args: Expr[]): Expr => ({ kind: 'call', fn: name, args });
const key = (of: Expr, name: string | number): Expr => ({ kind: 'get', of, key: lit(name) });
const part = key(fn('split.js', input('token'), lit(':')), 1);
const dict = (entries: Readonly<Record<string, Expr>>): Expr => ({
  kind: 'dict',
  entries: Object.entries(entries).map(([name, value]) => ({ key: name, value })),
});
const local = (name: string): Expr => ({ kind: 'ref', root: 'local', path: [name] });

const secretsOf = (...nodes: Node[]) => new DerivedSecrets(graph(nodes), (name) => name === 'token');

const stateWith = (outputs: Readonly<Record<string, Json>> = {}): RunState => ({
  run: { id: 'r', workflow: 'w', graphHash: '', status: 'running', startedAt: 0, running: 0, started: 0 },
  input: { token: 'user:hunter2', name: 'Ada', pin: 12_345 },
  scopes: {},
  containers: {},
  nodes: {},
  outputs,
  inputs: {},
  items: {},
  fields: {},
  undoing: {},
  commands: {},
});

/** What is revealed when a call with this input starts. */
const revealed = (value: Expr, outputs?: Readonly<Record<string, Json>>, ...before: Node[]): Json[] =>
  secretsOf(...before, call('go', { value })).revealedBy(
    { kind: 'nodeStarted', node: 'go', nodeKind: 'call' },
    stateWith(outputs),
  );

describe('what derives from a secret', () => {
  test.each<[string, Expr, Json[]]>([
    ['a part of it', part, ['hunter2']],
    ['it in another case', fn('toUpperCase.js', input('token')), ['USER:HUNTER2']],
    ['a place in a text', text('Bearer ', part, ' of ', input('name')), ['hunter2']],
    [
      'one side of a sum',
      { kind: 'arithmetic', op: 'add.js', left: lit('x '), right: part },
      ['x hunter2', 'hunter2'],
    ],
    [
      'an item that is joined',
      fn('join.js', list(input('name'), part), lit(' ')),
      ['Ada hunter2', 'hunter2'],
    ],
    ['a member of an object', dict({ name: input('name'), key: part }), ['hunter2']],
    ['what stands in for another value', coalesce(input('none'), part), ['hunter2']],
    ['texts in a list', fn('split.js', input('token'), lit(':')), ['user', 'hunter2']],
    [
      'a name for it',
      {
        kind: 'let',
        name: 'x',
        value: fn('split.js', input('token'), lit(':')),
        body: dict({ a: key(local('x'), 1), b: input('name') }),
      },
      ['hunter2'],
    ],
    ['nothing: its length', key(input('token'), 'length'), []],
    ['nothing: other inputs', fn('toUpperCase.js', input('name')), []],
    ['nothing: what has no value', key(key(input('token'), 'x'), 'y'), []],
  ])('is %s', (_what, expr, values) => {
    expect(revealed(expr)).toEqual(values);
  });

  test('is not what it decides', () => {
    const chosen: Expr = {
      kind: 'conditional',
      truth: 'truthy.js',
      test: input('token'),
      // biome-ignore lint/suspicious/noThenProperty: the tree's own name for it
      then: lit('a'),
      else: lit('b'),
    };
    expect(revealed(chosen)).toEqual([]);
  });

  test('goes through computed steps, part by part', () => {
    const parts = compute('parts', dict({ host: lit('example.org'), key: part }));
    const outputs = { parts: { host: 'example.org', key: 'hunter2' } };
    expect(revealed(fn('toUpperCase.js', step('parts', 'key')), outputs, parts)).toEqual(['HUNTER2']);
    expect(revealed(fn('toUpperCase.js', step('parts', 'host')), outputs, parts)).toEqual([]);
    const secrets = secretsOf(parts, compute('all', step('parts')));
    expect(secrets.mentions(step('all', 'key'))).toBe(true);
    expect(secrets.sourcesOf({ kind: 'ref', root: 'steps', path: ['all'] })).toEqual(['token']);
    expect(secrets.sourcesOf({ kind: 'ref', root: 'steps', path: ['parts', 'host'] })).toBeUndefined();
  });

  test('is what a function makes of it', () => {
    const slug = compute('slug', list(input('token')), { function: { name: 'slug', hash: 'slug' } });
    const fact = { kind: 'nodeSucceeded', node: 'slug', nodeKind: 'compute' } as const;
    expect(secretsOf(slug).revealedBy(fact, stateWith({ slug: { a: 'xyz', size: 12, id: 98_765 } }))).toEqual(
      ['user:hunter2', 'xyz', 98_765],
    );
  });

  test('is not the result of a tool', () => {
    expect(secretsOf(call('login', { t: input('token') })).mentions(step('login'))).toBe(false);
  });

  test('does not hang on steps that wait for each other', () => {
    const secrets = secretsOf(compute('a', step('b')), compute('b', list(step('a'), input('token'))));
    expect(secrets.mentions(step('a'))).toBe(true);
  });
});
