import { describe, expect, test } from 'vitest';
import { call, chain, done, graph, lit, Run, read, stop } from '../engine/graph.fixture.js';
import { createProgress } from './progress.js';

type Report = [progress: number, total: number, message: string];

function reportsOf(run: Run, of: Parameters<typeof createProgress>[0]): Report[] {
  const reports: Report[] = [];
  const progress = createProgress(of, (...report) => reports.push(report));
  for (const fact of run.facts) progress.observe(fact);
  return reports;
}

const complete = (total: number): Report => [total, total, 'Workflow execution complete'];

describe('createProgress', () => {
  test('reports each call and read before it, and the end', () => {
    const of = graph(
      chain(call('a'), stop('check', lit('no'), { when: lit(false) }), read('b'), done('out', lit(1))),
    );
    const run = new Run(of).returns('a').returns('b', { uri: 'res://b', text: '' });
    expect(reportsOf(run, of)).toEqual([[0, 2, 'Step 1/2: a'], [1, 2, 'Step 2/2: b'], complete(2)]);
  });

  test('reports the end after a failure as well', () => {
    const of = graph(chain(call('a'), call('b')));
    expect(reportsOf(new Run(of).fails('a'), of)).toEqual([[0, 2, 'Step 1/2: a'], complete(2)]);
  });

  test('only ever rises', () => {
    const of = graph([call('a', {}, { after: ['c'] }), call('b'), call('c')]);
    const run = new Run(of).returns('c').returns('b').returns('a');
    expect(reportsOf(run, of)).toEqual([[1, 3, 'Step 2/3: b'], [2, 3, 'Step 3/3: c'], complete(3)]);
  });
});
