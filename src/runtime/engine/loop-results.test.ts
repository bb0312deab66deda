import { describe, expect, test } from 'vitest';
import type { ForeachNode } from '../../graph/model.js';
import { agentItemOf } from './agent-loops.js';
import { body, foreach, item, runs, shell, withTasks } from './constructs.fixture.js';
import type { Failure } from './events.js';
import { again, call, done, graph, list, lit, Run, step } from './graph.fixture.js';

const loop = (onItemError: ForeachNode['onItemError'], options: Partial<ForeachNode> = {}) =>
  foreach('l', list(lit('a'), lit('b'), lit('c'), lit('d')), body([call('c')], step('c')), {
    onItemError,
    ...options,
  });

const failure = (run: Run): Failure | undefined => run.state.run.failure;

describe('Q12: failed items', () => {
  test('of a loop that settles remain reported when it is cancelled or times out', () => {
    const failing = (options: Partial<ForeachNode> = {}) =>
      new Run(graph([loop('settle', { concurrency: 2, ...options })])).fails('c[1]');
    const failed = [{ step: 'l', index: 1, failure: { code: 'E_TOOL' } }];
    expect(failing().cancel().remains.failedItems).toMatchObject(failed);
    expect(failing({ timeoutMs: 50 }).fires('l').remains.failedItems).toMatchObject(failed);
  });

  test('`settle` runs all items, and then fails with the results of all', () => {
    const run = new Run(graph([loop('settle', { concurrency: 2 })]));
    run.returns('c[0]', 1).fails('c[1]').fails('c[3]', { code: 'E_OTHER', message: 'too' });
    expect([run.status('l'), run.inFlight]).toEqual(['running', ['c[2]']]);
    run.returns('c[2]', 3);
    const failed = { status: 'failed', error: { code: 'E_TOOL', message: 'broke' } };
    expect(failure(run)).toEqual({
      ...{ code: 'E_TOOL', message: 'broke' },
      details: {
        index: 1,
        results: [
          { status: 'succeeded', value: 1 },
          failed,
          { status: 'succeeded', value: 3 },
          { status: 'failed', error: { code: 'E_OTHER', message: 'too' } },
        ],
      },
    });
    expect(run.remains.failedItems).toEqual([]);
  });

  test('`settle` without concurrency stops at the first failure', () => {
    const run = new Run(graph([loop('settle')])).returns('c[0]', 1).fails('c[1]');
    expect(failure(run)?.details).toEqual({
      index: 1,
      results: [
        { status: 'succeeded', value: 1 },
        { status: 'failed', error: { code: 'E_TOOL', message: 'broke' } },
        { status: 'not_run' },
        { status: 'not_run' },
      ],
    });
  });

  test('`settle` succeeds if all items do, and starts over in another attempt', () => {
    const run = new Run(graph([loop('settle', { concurrency: 4, retry: again(1) })], { returns: step('l') }));
    run.fails('c[0]').returns('c[1]').returns('c[2]').returns('c[3]');
    for (const index of [0, 1, 2, 3]) run.returns(`c[${index}]`, index);
    expect(run.state.run.result).toEqual([0, 1, 2, 3]);
  });

  test('`settle` has no other attempt if an item failed permanently', () => {
    const refused = { code: 'E_INPUT_INVALID', message: 'refused' };
    const run = new Run(graph([loop('settle', { concurrency: 4, retry: again(1) })]));
    run.fails('c[0]').fails('c[1]', refused, false).returns('c[2]').returns('c[3]');
    expect([run.state.run.status, failure(run)?.code]).toEqual(['failed', 'E_TOOL']);
  });

  test('values that are long are left out of the results', () => {
    const run = new Run(graph([loop('settle', { concurrency: 4 })]));
    for (const index of [0, 1, 2]) run.returns(`c[${index}]`, 'x'.repeat(9_000));
    expect(run.fails('c[3]').state.run.failure?.details).toMatchObject({
      results: [
        { value: expect.anything() },
        { status: 'succeeded' },
        { status: 'succeeded' },
        { status: 'failed' },
      ],
      values_omitted: 2,
    });
  });

  test('`report` has the error in the place of a failed item', () => {
    const run = new Run(graph([loop('report', { concurrency: 4 })], { returns: step('l') }));
    run.fails('c[1]').returns('c[0]', 1).returns('c[2]').returns('c[3]', 4);
    expect(run.state.run.result).toEqual([1, { error: { code: 'E_TOOL', message: 'broke' } }, null, 4]);
    expect(run.remains.failedItems).toMatchObject([{ step: 'l', index: 1 }]);
  });

  test('Q11: an item reads the results of those before', () => {
    const one = foreach('l', list(lit(1), lit(2), lit(3)), body([], item('results')), {
      resultsAs: 'results',
    });
    expect(new Run(graph([one], { returns: step('l') })).state.run.result).toEqual([[], [[]], [[], [[]]]]);
  });
});

describe('Q15: loops with an agent', () => {
  const task = graph([shell('sh'), done('r', step('sh', 'exit_code'), { after: ['sh'] })], { name: 'check' });
  const sample = (options: Partial<ForeachNode> = {}) => {
    const each = body([runs('t', 'check')], step('t'));
    const l = foreach('l', list(lit('a'), lit('b'), lit('c')), each, {
      agent: '@checker',
      concurrency: 2,
      ...options,
    });
    return withTasks(graph([l], { returns: step('l') }), task);
  };

  test('own the steps of their items, and no others', () => {
    const run = new Run(sample());
    expect(agentItemOf(run.state, 't[1]/sh')).toEqual({ loop: 'l', index: 1 });
    expect(agentItemOf(run.state, 'l')).toBeUndefined();
    run.answers('t[0]/sh', { exit_code: 4 });
    expect(agentItemOf(run.state, 't[2]/sh')).toEqual({ loop: 'l', index: 2 });
    run.answers('t[1]/sh', { exit_code: 0 }).answers('t[2]/sh', { exit_code: 0 });
    expect(run.state.run.result).toEqual([4, 0, 0]);
  });

  test('a loop without an agent owns none', () => {
    expect(agentItemOf(new Run(graph([loop('fail')])).state, 'c[0]')).toBeUndefined();
  });
});
