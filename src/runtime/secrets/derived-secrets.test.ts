import { describe, expect, test } from 'vitest';
import type { Expr } from '../../graph/expression/tree.js';
import type { Json } from '../../graph/json.js';
import type { Node } from '../../graph/kinds/node.js';
import type { Graph } from '../../graph/model.js';
import {
  body,
  branch,
  field,
  foreach,
  item,
  parallel,
  required,
  runs,
  set,
  withTasks,
} from '../engine/constructs.fixture.js';
import type { RunState } from '../engine/contract.js';
import {
  call,
  coalesce,
  compute,
  graph,
  input,
  list,
  lit,
  Run,
  step,
  text,
} from '../engine/graph.fixture.js';
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

/** A state in which these nodes have given these values. */
function stateWith(nodes: readonly Node[], outputs: Readonly<Record<string, Json>> = {}): RunState {
  const { state } = new Run(graph(nodes), { token: 'user:hunter2', name: 'Ada', pin: 12_345 });
  for (const [node, output] of Object.entries(outputs)) state.find(node).output = output;
  return state;
}

/** What is revealed when a call with this input starts. */
const revealed = (value: Expr, outputs?: Readonly<Record<string, Json>>, ...before: Node[]): Json[] =>
  secretsOf(...before, call('go', { value })).revealedBy(
    { kind: 'nodeStarted', node: 'go', nodeKind: 'call' },
    stateWith([...before, call('go', { value })], outputs),
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
    ['a value that replaces another', coalesce(input('none'), part), ['hunter2']],
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
    expect(
      secretsOf(slug).revealedBy(fact, stateWith([slug], { slug: { a: 'xyz', size: 12, id: 98_765 } })),
    ).toEqual(['user:hunter2', 'xyz', 98_765]);
  });

  test('is not the result of a tool', () => {
    expect(secretsOf(call('login', { t: input('token') })).mentions(step('login'))).toBe(false);
  });

  test('does not hang on steps that wait for each other', () => {
    const secrets = secretsOf(compute('a', step('b')), compute('b', list(step('a'), input('token'))));
    expect(secrets.mentions(step('a'))).toBe(true);
  });

  describe('goes through constructs', () => {
    const shout = fn('toUpperCase.js', input('token'));

    /** What a run of this graph reveals, its calls answered with null. */
    const revealedBy = (of: Graph): Json[] => {
      const secrets = new DerivedSecrets(of, (name) => name === 'token');
      const run = new Run(of, { token: 'user:hunter2', name: 'Ada' });
      const found: Json[] = [];
      for (;;) {
        for (const fact of run.last.facts) found.push(...secrets.revealedBy(fact, run.state));
        const [call] = run.inFlight;
        if (call === undefined) return [...new Set(found)];
        run.returns(call);
      }
    };

    test('into the items of a loop, and out of its value', () => {
      const items = list(shout, lit('plain'));
      const each = foreach('each', items, body([call('go', { key: item('item') })], text(item('item'), '!')));
      const of = graph([each, call('use', { it: key(step('each'), 0) })]);
      expect(revealedBy(of)).toEqual(expect.arrayContaining(['USER:HUNTER2', 'USER:HUNTER2!']));
    });

    test('into members of items that are written out, and not into those beside them', () => {
      const items = list(dict({ key: shout, name: input('name') }));
      const secrets = new DerivedSecrets(
        graph([
          foreach(
            'each',
            items,
            body([call('go', { key: item('item', 'key'), name: item('item', 'name') })]),
          ),
        ]),
        (name) => name === 'token',
      );
      const run = new Run(graph([foreach('each', items, body([call('go', { key: item('item', 'key') })]))]), {
        token: 'user:hunter2',
        name: 'Ada',
      });
      expect(run.last.facts.flatMap((fact) => secrets.revealedBy(fact, run.state))).not.toContain('Ada');
    });

    test('into another workflow, its loops, and out of its result', () => {
      const inner = graph(
        [
          foreach(
            'each',
            list(input('x')),
            body([call('go', { key: fn('split.js', item('item'), lit(':')) })]),
          ),
          compute('cut', { kind: 'slice', style: 'js', of: input('x'), start: lit(5) }),
        ],
        { name: 'inner', inputs: [required('x')], returns: dict({ cut: step('cut') }) },
      );
      const of = withTasks(
        graph([
          runs('sub', 'inner', { x: shout }),
          call('use', { it: fn('trim.js', text(step('sub', 'cut'), '?')) }),
        ]),
        inner,
      );
      expect(revealedBy(of)).toEqual(expect.arrayContaining(['USER:HUNTER2', 'USER', 'HUNTER2', 'HUNTER2?']));
    });

    test('through the state, once it was written', () => {
      const of = graph([
        set('keep', { key: shout, name: input('name') }),
        call('use', { key: text(field('key'), '.'), name: text(field('name'), '.') }, { after: ['keep'] }),
      ]);
      const values = revealedBy(of);
      expect(values).toContain('USER:HUNTER2');
      expect(values).not.toContain('Ada.');
    });

    test('out of branches and arms', () => {
      const of = graph([
        parallel('both', {
          left: body([compute('a', shout)], step('a')),
          right: body([compute('b', lit('plain'))], step('b')),
        }),
        branch('which', [[lit(true), body([compute('c', step('both', 'left'))], step('c'))]], {
          after: ['both'],
        }),
        call('use', { it: fn('trim.js', step('which')), other: fn('trim.js', step('both', 'right')) }),
      ]);
      const values = revealedBy(of);
      expect(values).toContain('USER:HUNTER2');
      expect(values).not.toContain('plain');
    });

    test('is what a workflow is given for an input it calls secret', () => {
      const inner = graph([call('go', { pin: input('pin') })], {
        name: 'inner',
        inputs: [{ ...required('pin'), secret: true }],
      });
      expect(revealedBy(withTasks(graph([runs('sub', 'inner', { pin: lit('4711-0815') })]), inner))).toEqual([
        '4711-0815',
      ]);
    });

    test('ends where workflows run themselves', () => {
      const inner = graph([runs('again', 'inner', { x: input('x') })], {
        name: 'inner',
        inputs: [required('x')],
        returns: step('again'),
      });
      const of = withTasks(graph([runs('sub', 'inner', { x: shout })]), inner);
      expect(new DerivedSecrets(of, (name) => name === 'token').mentions(step('sub'))).toBe(false);
    });
  });
});
