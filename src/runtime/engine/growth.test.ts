import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Graph } from '../../graph/model.js';
import { planOf } from '../../plan/compile.js';
import { back, body, branch, compensate, foreach, undo } from './constructs.fixture.js';
import { advance, start } from './engine.js';
import type { Event } from './events.js';
import { broken, call, chain, compute, graph, lit, step } from './graph.fixture.js';
import { commandsOf } from './read.js';
import { RunState } from './state.js';
import { RowTable } from './tables.js';

/** Ends the run: answers the oldest call with `{ id: 1 }`, one after the other. */
function finish(of: Graph): RunState {
  const plan = planOf(of);
  let { state } = start(plan, {}, { runId: 'run-1', at: 1 });
  while (state.run.status === 'running') {
    const [command] = commandsOf(state);
    const events: Event[] =
      command === undefined ? [] : [{ kind: 'toolReturned', at: 1, command: command.id, value: { id: 1 } }];
    ({ state } = advance(plan, state, events));
  }
  expect(state.run.status).toBe('succeeded');
  return state;
}

afterEach(() => {
  vi.restoreAllMocks();
});

/** How many undo records a run looks at. */
function effectsRead(of: Graph): number {
  const reads = vi.spyOn(RowTable.prototype, 'get');
  finish(of);
  const count = reads.mock.contexts.filter(
    (table) => (table as RowTable<'effects'>).table === 'effects',
  ).length;
  reads.mockRestore();
  return count;
}

/** How many nodes a run looks for by their keys. */
function nodesFound(of: Graph): number {
  const finds = vi.spyOn(RunState.prototype, 'find');
  finish(of);
  const count = finds.mock.calls.length;
  finds.mockRestore();
  return count;
}

/** Twice the run may look at twice as much, and at a little more where a list is kept in order. */
function expectLinear(work: (size: number) => number, size = 100): void {
  const [once, twice] = [work(size), work(2 * size)];
  expect(once).toBeGreaterThan(size / 2);
  expect(twice).toBeLessThanOrEqual(2.1 * once);
}

const undoes = (id: string) => undo(`undo-${id}`, { id: step(id, 'id') });

describe('the records that a run reads grow with its effects', () => {
  test('where a goto sends a call again and again', () => {
    const visits = (count: number) =>
      graph(
        chain(call('a', {}, { compensate: undoes('a') }), back('again', 'a', count, { onLimit: 'continue' })),
      );
    expectLinear((count) => effectsRead(visits(count)));
  });

  test('where each visit of a goto undoes its call', () => {
    const visits = (count: number) =>
      graph(
        chain(
          call('a', {}, { compensate: undoes('a') }),
          branch('decide', [[undefined, 'cleanup']]),
          compensate('cleanup', [undoes('a')]),
          back('again', 'a', count, { onLimit: 'continue' }),
        ),
      );
    expectLinear((count) => effectsRead(visits(count)));
  });

  test('where many calls are undone by the same tool with the same input', () => {
    const items = (count: number) =>
      graph(
        chain(
          foreach(
            'all',
            lit(Array.from({ length: count }, (_, at) => at)),
            body([call('a', {}, { compensate: undoes('a') })]),
          ),
          foreach(
            'none',
            lit(Array.from({ length: count }, (_, at) => at)),
            body([
              branch('decide', [[undefined, 'cleanup']]),
              compensate('cleanup', [undo('undo-a', { id: lit(1) })]),
            ]),
            { concurrency: 1 },
          ),
        ),
      );
    expectLinear((count) => effectsRead(items(count)));
  });
});

test('the failed items that a run looks at grow with them, where loops in a loop start over', () => {
  const bad = body([compute('bad', broken)]);
  const inner = foreach('inner', lit([1, 2]), bad, { onItemError: 'continue' });
  const nodes = chain(inner, back('again', 'inner', 1, { onLimit: 'continue' }));
  const outer = (count: number) => {
    const items = lit(Array.from({ length: count }, (_, at) => at));
    return graph([foreach('outer', items, body(nodes))]);
  };
  expectLinear((count) => nodesFound(outer(count)));
});
