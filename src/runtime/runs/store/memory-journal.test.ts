import { expect, test } from 'vitest';
import { planOf } from '../../../plan/compile.js';
import { start } from '../../engine/engine.js';
import { call, chain, done, graph, step } from '../../engine/graph.fixture.js';
import { journalContract } from './journal-contract.fixture.js';
import { MemoryJournal } from './memory-journal.js';

journalContract('a journal in memory', () => new MemoryJournal());

test('a journal in memory shows all that was written of a run', async () => {
  const journal = new MemoryJournal();
  const of = graph(chain(call('a'), done('out', step('a'))));
  const { state, changes } = start(planOf(of), {}, { runId: 'r', at: 5 });
  await journal.append({ run: 'r', seq: 1, expectedSeq: 0, epoch: 1, graph: of, events: [], changes });
  expect(journal.runs).toEqual(['r']);
  expect(journal.read('r')).toEqual({ graph: of, state, entries: [expect.objectContaining({ seq: 1 })] });
  await journal.forget('r');
  expect([journal.runs, journal.read('r')]).toEqual([[], undefined]);
});
