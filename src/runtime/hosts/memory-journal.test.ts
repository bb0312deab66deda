import { describe, expect, test } from 'vitest';
import { advance } from '../engine/advance.js';
import { call, chain, done, graph, step } from '../engine/graph.fixture.js';
import { start } from '../engine/start.js';
import { MemoryJournal } from './memory-journal.js';

const line = graph(chain(call('a'), done('out', step('a'))));

describe('a journal in memory', () => {
  test('gives back what was written down, and what it adds up to', () => {
    const journal = new MemoryJournal();
    journal.open('r', line);
    const begun = start(line, {}, { runId: 'r', at: 5 });
    journal.append({ run: 'r', seq: 0, changes: begun.changes });
    const halfway = structuredClone(begun.state);
    expect(journal.read('r')?.state).toEqual(halfway);

    const event = { kind: 'toolReturned', at: 6, command: 'a#1', value: { n: 1 } } as const;
    const { changes, state } = advance(line, begun.state, event);
    expect(journal.read('r')?.state).toEqual(halfway);
    journal.append({ run: 'r', seq: 1, event, changes });
    const read = journal.read('r');
    expect(read?.state).toEqual(state);
    expect(read?.state.run).toMatchObject({ status: 'succeeded', result: { n: 1 } });
    expect(read?.entries.map((entry) => entry.event)).toEqual([undefined, event]);
    expect(read?.graph).toEqual(line);
  });

  test('a run goes on from what was written down as from what was not', () => {
    const journal = new MemoryJournal();
    journal.open('r', line);
    const { changes, state } = start(line, {}, { runId: 'r', at: 5 });
    journal.append({ run: 'r', seq: 0, changes });
    const read = journal.read('r');
    if (read === undefined) throw new Error('nothing was written down');
    const event = { kind: 'toolReturned', at: 6, command: 'a#1', value: 1 } as const;
    expect(advance(read.graph, read.state, event)).toEqual(advance(line, state, event));
  });

  test('takes no run twice, no step of an unknown one, and none out of order', () => {
    const journal = new MemoryJournal();
    expect(() => journal.append({ run: 'r', seq: 0, changes: [] })).toThrow("no run 'r'");
    journal.open('r', line);
    expect(() => journal.open('r', line)).toThrow("a run 'r' already");
    expect(() => journal.append({ run: 'r', seq: 1, changes: [] })).toThrow(/not the next one, which is 0/);
    expect(journal.read('r')).toBeUndefined();
  });

  test('forgets', () => {
    const journal = new MemoryJournal();
    journal.open('r', line);
    journal.open('s', line);
    journal.forget('r');
    expect([journal.runs, journal.read('r')]).toEqual([['s'], undefined]);
  });
});
