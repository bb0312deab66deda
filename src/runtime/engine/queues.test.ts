import { expect, test } from 'vitest';
import { call, graph, Run } from './graph.fixture.js';

const names = (count: number) => Array.from({ length: count }, (_, index) => `n${index}`);

test('those that wait start in the order in which they came, and none that has left', () => {
  const nodes = [...names(6).map((id) => call(id)), call('last', {}, { after: ['n0'] })];
  const run = new Run(graph(nodes, { maxConcurrency: 1, failFast: false }));
  expect(run.inFlight).toEqual(['n0']);
  expect(run.state.queue.isEmpty).toBe(false);
  const order = [];
  for (let [next] = run.inFlight; next !== undefined; [next] = run.inFlight) {
    order.push(next);
    run.returns(next);
  }
  expect(order).toEqual([...names(6), 'last']);
  expect([run.state.queue.isEmpty, run.state.queue.first]).toEqual([true, undefined]);
});

test('a retried node waits behind those that were there before', () => {
  const retry = { extra: 1, delayMs: 0, backoff: 'constant', capMs: 60_000, jitter: 0 } as const;
  const run = new Run(
    graph([call('a', {}, { retry }), call('b'), call('c')], { maxConcurrency: 1, failFast: false }),
  );
  expect(run.fails('a').inFlight).toEqual(['b']);
  expect(run.returns('b').inFlight).toEqual(['c']);
  expect(run.returns('c').inFlight).toEqual(['a']);
  expect(run.returns('a').state.run.status).toBe('succeeded');
});

test('who is left out is not started when its turn comes', () => {
  const run = new Run(graph([call('a'), call('b'), call('c')], { maxConcurrency: 1 })).fails('a');
  expect([run.state.run.status, run.status('b'), run.status('c')]).toEqual([
    ...['failed', 'skipped(upstream_failed)', 'skipped(upstream_failed)'],
  ]);
  expect(run.state.queue.isEmpty).toBe(true);
});
