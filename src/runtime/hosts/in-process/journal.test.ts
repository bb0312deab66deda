import { describe, expect, test, vi } from 'vitest';
import { call, chain, done, graph, step } from '../../engine/graph.fixture.js';
import { MemoryJournal } from '../memory-journal.js';
import { ok, Setup } from './setup.fixture.js';

describe('a journal', () => {
  const nodes = chain(call('a'), call('b', { of: step('a') }), done('out', step('b')));

  test('has each step before anything of it is carried out or told, and forgets the run at its end', async () => {
    const setup = new Setup();
    const journal = new MemoryJournal();
    const open = () => Object.keys(journal.read('run-1')?.state.commands ?? {});
    const seen: unknown[] = [];
    const tool = (name: string) => () => {
      seen.push([name, open()]);
      return ok(name);
    };
    const outcome = await setup.run(
      graph(nodes),
      { 'tool-a': tool('a'), 'tool-b': tool('b') },
      {
        journal,
        observe: ({ kind }) => {
          if (kind === 'finished') seen.push(journal.read('run-1')?.state.run.status);
        },
      },
    );
    expect(outcome.result).toBe('b');
    expect(seen).toEqual([['a', ['a#1', 'a#1:timer']], ['b', ['b#1', 'b#1:timer']], 'succeeded']);
    expect(journal.runs).toEqual([]);
  });

  test('that cannot take the start keeps the run from beginning', async () => {
    const journal = new MemoryJournal();
    journal.open('run-1', graph(nodes));
    const called = vi.fn(() => ok(1));
    await expect(new Setup().run(graph(nodes), { 'tool-a': called }, { journal })).rejects.toThrow('already');
    expect(called).not.toHaveBeenCalled();
  });

  test('that cannot take a step loses the run, and nothing of the step is carried out', async () => {
    const journal = new MemoryJournal();
    const append = journal.append.bind(journal);
    journal.append = (entry) => {
      if (entry.event !== undefined) throw new Error('the disk is full');
      append(entry);
    };
    const called = vi.fn(() => ok(1));
    const setup = new Setup();
    const run = setup.run(graph(nodes), { 'tool-a': () => ok(1), 'tool-b': called }, { journal });
    await expect(run).rejects.toThrow('the disk is full');
    expect(called).not.toHaveBeenCalled();
    expect(setup.clock.pending).toBe(0);
  });
});
