import { describe, expect, test } from 'vitest';
import type { Graph } from '../../graph/model.js';
import { body, foreach, item, optional, required, runs, withTasks } from './constructs.fixture.js';
import { again, call, done, error, graph, input, list, lit, Run, step, stop } from './graph.fixture.js';

const task = (nodes: Graph['nodes'], options: Partial<Graph> = {}) =>
  graph(nodes, { name: 'task', ...options });

const sub = (options = {}, given = {}) => runs('sub', 'task', given, options);

describe('N6: a workflow inside another', () => {
  test('has inputs, names and steps of its own, and its result is the node’s value', () => {
    const inner = task([call('a', { x: input('x'), other: step('b') }), call('b')], {
      inputs: [required('x')],
      returns: step('a'),
    });
    const outer = graph([call('a'), sub({}, { x: step('a') })], { returns: list(step('a'), step('sub')) });
    const run = new Run(withTasks(outer, inner), { x: 'outer' }).returns('a', 'mine');
    expect(run.inFlight).toEqual(['sub/b']);
    run.returns('sub/b', 'theirs');
    expect(run.tables.commands['sub/a#1']).toMatchObject({
      node: 'sub/a',
      input: { x: 'mine', other: 'theirs' },
    });
    expect(run.returns('sub/a', 7).state.run.result).toEqual(['mine', 7]);
    expect(Object.keys(run.tables.nodes)).toEqual(['a', 'sub']);
  });

  test('G14: ends with what it returned, also from inside a loop; without either with null', () => {
    const loop = foreach('loop', lit([1, 2]), body([done('out', item('item'))]));
    const returned = new Run(withTasks(graph([sub()], { returns: step('sub') }), task([call('slow'), loop])));
    expect(returned.inFlight).toEqual(['sub/slow']);
    expect(returned.returns('sub/slow').state.run.result).toBe(1);
    expect(returned.tables.outputs).toEqual({ sub: 1 });
    expect(
      new Run(withTasks(graph([sub()], { returns: step('sub') }), task([]))).state.run.result,
    ).toBeNull();
  });

  test('a return inside leaves the workflow around it alone', () => {
    const nodes = [sub(), call('next', {}, { after: ['sub'] })];
    const run = new Run(withTasks(graph(nodes), task([done('out', lit(1)), call('rest')])));
    expect(run.inFlight).toEqual(['next']);
  });

  test('defaults are filled in', () => {
    const inner = task([call('a', { x: input('x'), y: input('y') })], {
      inputs: [{ ...optional('x'), default: 5 }, optional('y')],
    });
    expect(new Run(withTasks(graph([sub()]), inner)).tables.commands['sub/a#1']).toMatchObject({
      input: { x: 5 },
    });
  });

  test.each([
    ['a required input that is absent', { x: lit() }, 'x missing'],
    ['an unknown input', { x: lit(null), z: lit(1) }, 'z unknown'],
  ])('%s is refused, and not tried again', (_name, given, message) => {
    const inner = task([call('a')], { inputs: [required('x')] });
    const run = new Run(withTasks(graph([sub({ retry: again(2) }, given)]), inner));
    expect(run.state.run.failure).toMatchObject({
      code: 'E_INPUT',
      message: expect.stringContaining(message),
    });
    expect(run.commands).toEqual([]);
  });

  test('null is a value, and no input that is absent', () => {
    const inner = task([call('a', { x: input('x'), y: input('y') })], {
      inputs: [required('x'), { ...optional('y'), default: 5 }],
    });
    const run = new Run(withTasks(graph([sub({}, { x: lit(null), y: lit(null) })]), inner));
    expect(run.tables.commands['sub/a#1']).toMatchObject({ input: { x: null, y: null } });
  });

  test('a failure inside becomes the node’s, and may be handled there', () => {
    const inner = task([call('a'), stop('full', lit('no seats'), { after: ['a'] })]);
    const outer = graph([sub({ onError: { value: list(error('code'), error('node')) } })], {
      returns: step('sub'),
    });
    expect(new Run(withTasks(outer, inner)).returns('sub/a').state.run.result).toEqual(['E_FAIL', 'sub']);
  });

  test('fails fast or not as its own graph says', () => {
    const inner = task([call('bad'), call('a'), call('b', {}, { after: ['a'] })], { failFast: false });
    const run = new Run(withTasks(graph([sub()]), inner)).fails('sub/bad').returns('sub/a');
    expect(run.inFlight).toEqual(['sub/b']);
    expect(run.returns('sub/b').state.run).toMatchObject({ status: 'failed', failedNode: 'sub' });
  });

  test('in a loop, each has its own', () => {
    const inner = task([call('a', { x: input('x') })], { inputs: [required('x')], returns: step('a') });
    const loop = foreach('loop', lit([1, 2]), body([sub({}, { x: item('item') })], step('sub')), {
      concurrency: 2,
    });
    const run = new Run(withTasks(graph([loop], { returns: step('loop') }), inner));
    expect(run.inFlight).toEqual(['sub[0]/a', 'sub[1]/a']);
    const [one, other] = run.commands.flatMap((command) => (command.kind === 'callTool' ? [command] : []));
    expect([one?.input, other?.input]).toEqual([{ x: 1 }, { x: 2 }]);
    expect(one?.key).not.toBe(other?.key);
    expect(run.returns('sub[1]/a', 'b').returns('sub[0]/a', 'a').state.run.result).toEqual(['a', 'b']);
  });

  test('the state of the run is shared, inputs are not', () => {
    const inner = task([call('a', { x: input('secret') })]);
    const run = new Run(withTasks(graph([sub()]), inner), { secret: 1 });
    expect(run.tables.commands['sub/a#1']).toMatchObject({ input: {} });
  });

  test('one that the graph does not include is a fault of the graph', () => {
    const run = new Run(graph([call('a'), sub()]));
    expect([run.commands, run.state.run.failure]).toEqual([
      [],
      { code: 'E_GRAPH', message: "Node 'sub' runs workflow 'task', which the graph does not include." },
    ]);
  });

  test('recursion ends at five nested workflows', () => {
    const inner = task([call('a'), sub({ after: ['a'] })]);
    const run = new Run(withTasks(inner, inner));
    for (const path of ['', 'sub/', 'sub/sub/', 'sub/sub/sub/', 'sub/sub/sub/sub/']) {
      expect(run.inFlight).toEqual([`${path}a`]);
      run.returns(`${path}a`);
    }
    expect(run.state.run).toMatchObject({
      status: 'failed',
      failedNode: 'sub',
      failure: { code: 'E_DEPTH' },
    });
  });
});
