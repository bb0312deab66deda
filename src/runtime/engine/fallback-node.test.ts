import { describe, expect, test } from 'vitest';
import { body, branch, parallel } from './constructs.fixture.js';
import { again, call, error, graph, lit, Run, step, stop, text } from './graph.fixture.js';

describe('E6: a fallback node', () => {
  const nodes = [
    call('reserve', {}, { onError: { fallbackNode: 'other' }, retry: again(1) }),
    call('pay', {}, { after: ['reserve'], join: 'none_failed_min_one_success' }),
    call('other', { why: text(error('code'), ' ', error('attempts')) }),
  ];

  test('takes over after the retries; who depends on the failed node alone is skipped', () => {
    const run = new Run(graph(nodes)).fails('reserve').fails('reserve');
    expect([run.status('reserve'), run.status('pay')]).toEqual(['handled', 'skipped(upstream_skipped)']);
    expect(run.facts).toContainEqual({
      ...{ kind: 'handled', node: 'reserve', nodeKind: 'call', attempts: 2, fallbackNode: 'other' },
      failure: { code: 'E_TOOL', message: 'broke' },
    });
    expect(run.tables.commands['other#1']).toMatchObject({ input: { why: 'E_TOOL 2' } });
    expect(run.returns('other').state.run.status).toBe('succeeded');
  });

  test('is not run where nothing failed', () => {
    const run = new Run(graph(nodes)).returns('reserve').returns('pay');
    expect([run.status('other'), run.state.run.status]).toEqual(['skipped(not_selected)', 'succeeded']);
  });

  test('that was left out already cannot take over: the node fails', () => {
    const run = new Run(graph([...nodes, call('bad')])).fails('bad').fails('reserve');
    expect([run.status('other'), run.status('reserve')]).toEqual(['skipped(upstream_failed)', 'failed']);
  });

  const shared = () => {
    const onError = { fallbackNode: 'other' };
    return new Run(graph([call('a', {}, { onError }), call('b', {}, { onError }), call('other')]));
  };

  test('of two nodes runs once, and both are handled', () => {
    const run = shared().fails('a').fails('b').returns('other');
    const ends = [run.status('a'), run.status('b'), run.state.run.status];
    expect(ends).toEqual(['handled', 'handled', 'succeeded']);
  });

  test('that has succeeded already handles later failures as well', () => {
    const run = shared().fails('a').returns('other').fails('b');
    const ends = [run.status('a'), run.status('b'), run.state.run.status];
    expect(ends).toEqual(['handled', 'handled', 'succeeded']);
  });

  test('that has failed already handles no other failure: the node fails', () => {
    const onError = { fallbackNode: 'other' };
    const nodes = [call('a', {}, { onError }), call('b', {}, { onError }), call('other')];
    const run = new Run({ ...graph(nodes), failFast: false }).fails('a').fails('other').fails('b');
    expect([run.status('a'), run.status('b'), run.state.run.status]).toEqual(['handled', 'failed', 'failed']);
  });

  test('that was skipped for a reason of its own does not lose the failure', () => {
    const nodes = [
      branch('pick', [[lit(true), 'other']]),
      call('no', {}, { when: lit(false) }),
      call('a', {}, { onError: { fallbackNode: 'other' } }),
      call('other', { x: step('no') }, { join: 'all_success' }),
    ];
    const run = new Run(graph(nodes)).fails('a');
    expect([run.status('other'), run.status('a')]).toEqual(['skipped(upstream_skipped)', 'failed']);
    expect(run.state.run).toMatchObject({ failedNode: 'a', failure: { code: 'E_TOOL' } });
  });

  test('is not selected for a container that a cancellation aborts', () => {
    const trip = parallel(
      'trip',
      { bad: body([stop('no')]), slow: body([call('slow')]) },
      { onPartialFailure: 'rollback', onError: { fallbackNode: 'other' } },
    );
    const run = new Run(graph([trip, call('other')])).cancel();
    expect([run.status('trip'), run.status('other')]).toEqual(['failed', 'cancelled']);
    expect(run.kinds()).not.toContain('handled trip');
  });

  test('for the node it belongs to is a cycle', () => {
    const run = new Run(graph([call('a', {}, { onError: { fallbackNode: 'a' } })]));
    expect(run.state.run.failure?.code).toBe('E_GRAPH');
  });
});
