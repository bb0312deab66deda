import { describe, expect, test } from 'vitest';
import type { StateField } from '../../graph/model.js';
import {
  ask,
  body,
  branch,
  field,
  foreach,
  item,
  runs,
  set,
  shell,
  withTasks,
} from './constructs.fixture.js';
import { fieldOf, fieldsOf } from './fields.js';
import { again, call, chain, compute, done, graph, list, lit, not, Run, step } from './graph.fixture.js';

const own = (name: string, initial?: number): StateField => ({
  ...{ name, scope: 'workflow', schema: {} },
  ...(initial === undefined ? {} : { initial }),
});

const shared = (name: string): StateField => ({ name, scope: 'run', schema: {} });

const fieldIn = (run: Run, name: string) => fieldOf(run.state, run.state.root.workflow, name);

describe('Q1: a node that writes a field', () => {
  test('writes its value when it succeeds, in the same transition', () => {
    const run = new Run(graph([call('a', {}, { writes: 'x' })], { state: [shared('x')] })).returns('a', 7);
    expect([fieldIn(run, 'x'), run.facts.filter(({ kind }) => kind === 'stateSet')]).toEqual([
      7,
      [{ kind: 'stateSet', node: 'a', field: 'x', value: 7 }],
    ]);
    expect(run.last.facts.map(({ kind }) => kind).slice(-3)).toEqual([
      'stateSet',
      'nodeSucceeded',
      'finished',
    ]);
  });

  test.each([
    ['skipped', compute('a', lit(7), { writes: 'x', when: lit(false) })],
    ['failed', compute('a', field('no'), { writes: 'x', reads: [] })],
  ])('that is %s leaves it as it is', (_how, node) => {
    expect(fieldIn(new Run(graph([node], { state: [own('x', 1)] })), 'x')).toBe(1);
  });

  test('may be of any kind that has a value', () => {
    const nodes = chain(
      ask('q', 'confirm', { writes: 'q' }),
      shell('s', lit('x'), { writes: 's' }),
      branch('b', [[lit(true), body([compute('one', lit(1))], step('one'))]], { writes: 'b' }),
      foreach('f', list(lit(1), lit(2)), body([], item('item')), { writes: 'f' }),
      set('w', { x: lit(3) }, { writes: 'w' }),
    );
    const state = ['q', 's', 'b', 'f', 'w', 'x'].map((name) => own(name));
    const run = new Run(graph(nodes, { state }))
      .answers('q', { confirmed: true })
      .answers('s', { exit_code: 0 });
    expect(fieldsOf(run.state)).toEqual({
      q: { confirmed: true },
      s: { stdout: '', stderr: '', exit_code: 0 },
      ...{ b: 1, f: [1, 2], w: { x: 3 }, x: 3 },
    });
  });

  test('writes the value of its fallback', () => {
    const node = call('a', {}, { writes: 'x', onError: { value: lit('instead') } });
    expect(fieldIn(new Run(graph([node], { state: [own('x')] })).fails('a'), 'x')).toBe('instead');
  });
});

describe('Q10: fields of a workflow itself', () => {
  const task = graph(
    chain(set('w', { n: field('n') }), set('v', { n: lit(5) }), done('r', list(field('n'), field('m')))),
    {
      ...{ name: 'task', state: [own('n', 2)] },
    },
  );

  test('are those of one execution: what runs it sees its own, and the next one starts again', () => {
    const main = graph(
      chain(set('a', { n: lit(1), m: lit(9) }), runs('one', 'task'), runs('two', 'task'), call('end')),
      { state: [own('n', 0), own('m', 8)], returns: list(field('n'), step('one'), step('two')) },
    );
    const run = new Run(withTasks(main, task));
    expect([fieldsOf(run.state), [...run.state.fields.rows()].length]).toEqual([{ n: 1, m: 9 }, 2]);
    expect(run.returns('end').state.run.result).toEqual([1, [5, null], [5, null]]);
  });

  test('do not mix between items that run side by side', () => {
    const echo = graph(
      chain(set('w', { n: { kind: 'ref', root: 'inputs', path: ['v'] } }), call('a'), done('r', field('n'))),
      {
        name: 'echo',
        state: [own('n')],
        inputs: [{ name: 'v', description: '', schema: {}, required: true }],
      },
    );
    const loop = foreach(
      'l',
      list(lit(1), lit(2)),
      body([runs('t', 'echo', { v: item('item') })], step('t')),
      {
        concurrency: 2,
      },
    );
    const run = new Run(withTasks(graph([loop], { returns: step('l') }), echo));
    run.returns('t[1]/a').returns('t[0]/a');
    expect([run.state.run.result, [...run.state.fields.rows()]]).toEqual([[1, 2], []]);
  });

  test('a field of the run is one for all workflows', () => {
    const other = graph([set('w', { x: lit(5) })], { name: 'other', state: [shared('x')] });
    const main = graph(chain(runs('o', 'other'), call('end')), { state: [shared('x')] });
    expect(fieldIn(new Run(withTasks(main, other)), 'x')).toBe(5);
  });
});

describe('a node with `reads`', () => {
  const state = [own('x', 1), own('y', 2)];

  test('reads these fields, in its condition and its values', () => {
    const node = compute('a', field('x'), { reads: ['x'], when: not(field('z')) });
    const run = new Run(graph([{ ...node, reads: ['x', 'z'] }], { state, returns: step('a') }));
    expect(run.state.run.result).toBe(1);
  });

  test.each([
    ['a value', compute('a', field('y'), { reads: ['x'] })],
    ['a condition', compute('a', lit(1), { reads: ['x'], when: field('y') })],
    ['an arm', branch('a', [[field('y'), body([])]], { reads: ['x'] })],
    ['a fallback', call('a', {}, { reads: ['x'], onError: { value: field('y') } })],
  ])('fails for another one in %s', (_where, node) => {
    const run = new Run(graph([node], { state }));
    if (run.inFlight.length > 0) run.fails('a', { code: 'E_ACCESS', message: 'first' });
    expect(run.state.run.failure).toMatchObject({
      code: 'E_ACCESS',
      message: expect.stringContaining('state field `y`'),
    });
  });
});

describe('L10: limits of a run', () => {
  const limits = { steps: 3, stateBytes: 20 };

  test('more steps than allowed fail it', () => {
    const nodes = chain(...['a', 'b', 'c', 'd'].map((id) => compute(id, lit(1))));
    const run = new Run(graph(nodes, { limits }));
    expect(run.state.run.failure).toMatchObject({
      code: 'E_STEP_LIMIT',
      message: expect.stringContaining('3 steps'),
    });
    expect(new Run(graph(nodes.slice(0, 3), { limits })).state.run.status).toBe('succeeded');
  });

  test('a write that makes the state too large fails its node, and writes no field', () => {
    const nodes = chain(
      set('a', { x: lit('12345678') }),
      set('b', { y: lit(1), z: lit('0123456789') }, { onError: { value: lit() } }),
      set('c', { x: lit('é'), y: lit('ab') }),
      call('d', {}, { writes: 'z', retry: again(1) }),
    );
    const state = ['x', 'y', 'z'].map((name) => own(name));
    const run = new Run(graph(nodes, { state, limits: { ...limits, steps: 10 } }));
    expect(run.facts).toContainEqual(
      expect.objectContaining({
        kind: 'handled',
        failure: expect.objectContaining({ code: 'E_STATE_SIZE' }),
      }),
    );
    // {"x":"é","y":"ab"} has 19 bytes of UTF-8.
    expect(fieldsOf(run.state)).toEqual({ x: 'é', y: 'ab' });
    expect(run.returns('d', 1).state.run.failure).toEqual({
      ...{ code: 'E_STATE_SIZE', message: 'The state would have 25 bytes, and at most 20 are allowed.' },
    });
    expect(run.tables.nodes.d?.output).toBeUndefined();
  });

  test('what a workflow has for itself is given back when it ends', () => {
    const task = graph([set('w', { n: lit('0123456') })], { name: 'task', state: [own('n')] });
    const main = graph(chain(runs('one', 'task'), runs('two', 'task'), runs('three', 'task')), {
      limits: { ...limits, steps: 10 },
    });
    expect(new Run(withTasks(main, task)).state.run.status).toBe('succeeded');
  });
});
