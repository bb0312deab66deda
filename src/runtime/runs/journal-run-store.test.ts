import { EventEmitter, once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { ask } from '../engine/constructs.fixture.js';
import { call, chain, done, graph, lit } from '../engine/graph.fixture.js';
import { JournalRunStore } from './journal-run-store.js';
import { VolatileJournal } from './store/local-journal.js';
import { Store } from './store.fixture.js';

const asking = graph(chain(ask('sure'), done('out', lit(1))));
const calling = graph(chain(call('a'), done('out', lit(1))));

/** A store that records what is asked of its journal, which is opened when the test says so. */
function setUp(hasRuns = false) {
  const asked: string[] = [];
  const journal = new VolatileJournal();
  const { index } = journal;
  journal.openRuns = async () => {
    asked.push('open runs');
    return [];
  };
  index.listed = () => {
    asked.push('list');
    return [];
  };
  let opens = 0;
  let decisions = 0;
  const close = async (): Promise<void> => void asked.push('close');
  const base = new Store({ 'tool-a': () => new Promise(() => {}) });
  // The test may decide before the store asks.
  const gates = Array.from({ length: 2 }, () => new EventEmitter());
  const answers = gates.map(async (gate) => {
    const [fault] = await once(gate, 'decided');
    if (fault !== undefined) throw fault;
    return { journal, close };
  });
  for (const answer of answers) answer.catch(() => {});
  const open = () => answers[opens++] ?? Promise.reject(new Error('opened too often'));
  const decide = (fault?: Error): void => void gates[decisions++]?.emit('decided', fault);
  const store = new JournalRunStore({ hasRuns, open }, base.options);
  const start = async (of = asking) => {
    const answer = await store.start({ owner: { kind: 'local' }, graph: of, input: {} }, base.waiter());
    const status = answer.ok ? answer.envelope.status : answer.failure.code;
    asked.push(`start: ${status}`);
    return status;
  };
  return {
    store,
    start,
    asked,
    letOpen: () => decide(),
    fail: (fault: Error) => decide(fault),
    opens: () => opens,
  };
}

describe('a run store', () => {
  test('is not opened by a server that starts, drains and stops without a run', async () => {
    const { store, opens } = setUp();
    await store.open();
    await store.resumeAll();
    expect(await store.openGraphs()).toEqual([]);
    await store.atRest();
    expect(store.endAll('stopped')).toBe(0);
    await store.close();
    expect(opens()).toBe(0);
  });

  test('is opened at the start where it may have runs of earlier processes', async () => {
    const { store, asked, letOpen, opens } = setUp(true);
    const opening = store.open();
    letOpen();
    await opening;
    expect(asked).toEqual([]);
    await store.resumeAll();
    expect(asked).toEqual(['open runs']);
    expect(opens()).toBe(1);
  });

  test('is opened once, and takes the calls in their order', async () => {
    const { store, start, asked, letOpen, opens } = setUp();
    const calls = [start(), store.list({ kind: 'local' }), start()];
    letOpen();
    expect(await Promise.all(calls)).toEqual(['waiting', [], 'waiting']);
    await start();
    expect(asked.filter((each) => each !== 'list')).toHaveLength(3);
    expect(opens()).toBe(1);
  });

  test('ends the runs that wait for it, and no later ones', async () => {
    const { store, start, asked, letOpen } = setUp();
    const early = start(calling);
    expect(store.endAll('stopped')).toBe(0);
    const late = start();
    letOpen();
    await Promise.all([early, late]);
    expect(asked.sort()).toEqual(['start: cancelled', 'start: waiting']);
    expect(store.endAll('stopped')).toBe(1);
  });

  test('is at rest when the runs are that wait for it', async () => {
    const { store, start, asked, letOpen } = setUp();
    const begun = start();
    const atRest = store.atRest();
    letOpen();
    await Promise.all([begun, atRest]);
    await store.close();
    expect(asked).toEqual(['start: waiting', 'close']);
  });

  test('reports to every call why it could not be opened, and tries again', async () => {
    const { store, start, fail, letOpen } = setUp();
    const begun = start();
    store.endAll('stopped');
    const other = start();
    fail(new Error('no such file'));
    await expect(begun).rejects.toThrow('no such file');
    await expect(other).rejects.toThrow('no such file');
    const later = start();
    letOpen();
    expect(await later).toBe('waiting');
  });
});
