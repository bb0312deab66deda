import { expect, test } from 'vitest';
import { planOf } from '../../plan/compile.js';
import { start } from '../engine/engine.js';
import { call, chain, done, graph, step } from '../engine/graph.fixture.js';
import { journalContract } from './journal-contract.fixture.js';
import { GroupCommit, MemoryJournal } from './memory-journal.js';

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

test('what comes while a group is written makes up the next one', async () => {
  const groups: (readonly string[])[] = [];
  let finish: () => void = () => {};
  const group = new GroupCommit<string>((items) => {
    groups.push(items);
    return new Promise((resolve) => {
      finish = () => resolve(items.map((item) => (item === 'bad' ? new Error(item) : undefined)));
    });
  });
  const added = ['a', 'bad'].map((item) => group.add(item));
  await Promise.resolve();
  added.push(...['c', 'd'].map((item) => group.add(item)));
  finish();
  const [first, second] = await Promise.allSettled(added.slice(0, 2));
  expect([first?.status, second]).toEqual(['fulfilled', { status: 'rejected', reason: new Error('bad') }]);
  finish();
  await Promise.all(added.slice(2));
  expect(groups).toEqual([
    ['a', 'bad'],
    ['c', 'd'],
  ]);
});

test('where a group cannot be written, all of it has failed, and the next one is tried', async () => {
  let isFull = true;
  const group = new GroupCommit<string>(async () => {
    if (isFull) throw new Error('the disk is full');
    return [];
  });
  const outcomes = await Promise.allSettled(['a', 'b'].map((item) => group.add(item)));
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  isFull = false;
  await expect(group.add('c')).resolves.toBeUndefined();
});
