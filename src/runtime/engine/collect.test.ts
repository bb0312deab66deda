import { describe, expect, test } from 'vitest';
import type { Expr } from '../../graph/expression/tree.js';
import type { Node } from '../../graph/kinds/node.js';
import { call, chain, coalesce, done, graph, lit, Run, step, stop } from './graph.fixture.js';

/** As a TypeScript workflow with this strategy is compiled: implied edges join with `all_done`. */
const collect = (...nodes: readonly Node[]) =>
  graph(
    chain(...nodes).map((node): Node => ({ ...node, join: 'all_done' })),
    { errorStrategy: { kind: 'collect' }, failFast: true },
  );

const isNullish = (of: Expr): Expr => ({ kind: 'call', fn: 'isNullish', args: [of] });

const failed = (message: string) => ({ code: 'E_TOOL', message });

describe('E18: the error strategy `collect`', () => {
  test('goes on after a failure, skips who depends on it, and ends failed with all failures', () => {
    const run = new Run(
      collect(
        call('a'),
        call('needs', { x: step('a') }),
        call('needsToo', { x: step('needs') }),
        call('copes', { x: coalesce(step('a'), step('a')) }),
        call('b'),
        call('last'),
      ),
    );
    run.fails('a', failed('one'));
    expect([run.status('needs'), run.status('needsToo')]).toEqual([
      'skipped(upstream_failed)',
      'skipped(upstream_failed)',
    ]);
    run.returns('copes').fails('b', failed('two')).returns('last');
    const failures = [
      { node: 'a', failure: failed('one') },
      { node: 'b', failure: failed('two') },
    ];
    expect(run.state.run).toMatchObject({ status: 'failed', failedNode: 'a', failures });
    expect(run.facts.at(-1)).toMatchObject({ kind: 'finished', status: 'failed', node: 'a', failures });
  });

  test('failures are in declaration order; the first that happened is the run’s', () => {
    const run = new Run(graph([call('a'), call('b')], { errorStrategy: { kind: 'collect' } }));
    run.fails('b', failed('b')).fails('a', failed('a'));
    expect(run.state.run.failedNode).toBe('b');
    expect(run.state.run.failures?.map(({ node }) => node)).toEqual(['a', 'b']);
  });

  test('a result that needs what failed is not made', () => {
    const run = new Run(collect(call('a'), done('out', step('a')))).fails('a');
    expect(run.status('out')).toBe('skipped(upstream_failed)');
    expect(run.state.run.result).toBeUndefined();
  });

  test('a step whose condition takes a failed one for granted depends on it', () => {
    const run = new Run(
      collect(
        call('a'),
        call('asks', {}, { when: step('a', 'ok') }),
        call('copes', {}, { when: isNullish(step('a')) }),
      ),
    ).fails('a');
    expect([run.status('asks'), run.inFlight]).toEqual(['skipped(upstream_failed)', ['copes']]);
  });

  test('a check that ends the run is not made of what failed', () => {
    const run = new Run(
      collect(call('a'), stop('none', lit('none'), { when: isNullish(step('a')) }), call('b')),
    );
    run.fails('a');
    expect([run.status('none'), run.inFlight]).toEqual(['skipped(upstream_failed)', ['b']]);
  });

  test('an `error` node still ends the run', () => {
    const run = new Run(collect(call('a'), stop('no'), call('b'))).fails('a');
    expect(run.status('b')).toBe('skipped(run_ended)');
    expect(run.state.run.failures?.map(({ node }) => node)).toEqual(['a', 'no']);
  });

  test('without a failure the run succeeds', () => {
    const run = new Run(collect(call('a'), call('b'))).returns('a').returns('b');
    expect(run.state.run.status).toBe('succeeded');
    expect(run.state.run.failures).toBeUndefined();
  });

  test('a cancelled run lists what had failed before', () => {
    const run = new Run(collect(call('a'), call('b'))).fails('a');
    run.send({ kind: 'cancelled', at: 2_000, reason: 'enough' });
    expect(run.facts.at(-1)).toMatchObject({ status: 'cancelled', failures: [{ node: 'a' }] });
  });
});
