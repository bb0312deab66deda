import { describe, expect, test } from 'vitest';
import type { Graph } from '../../../graph/model.js';
import { planOf } from '../../../plan/compile.js';
import { ask, wait } from '../../engine/constructs.fixture.js';
import { advance, start } from '../../engine/engine.js';
import type { Event } from '../../engine/events.js';
import { call, chain, done, graph, lit, step } from '../../engine/graph.fixture.js';
import { outstanding } from '../../engine/read.js';
import { foldRows, restore } from '../../engine/snapshot.js';
import { textOf } from '../../engine/tables.fixture.js';
import {
  type HostRow,
  type InboxItem,
  type Journal,
  JournalConflictError,
  type JournalEntry,
  request,
} from './journal.js';

/** A run in progress, and its entries so far. */
interface Begun {
  readonly graph: Graph;
  readonly hash: string;
  readonly first: JournalEntry;
  /** The entry of a further event; it is not written. */
  entry(...events: Event[]): JournalEntry;
}

const line = graph(chain(call('a'), done('out', step('a'))));
const returned = (value: number): Event => ({ kind: 'toolReturned', at: 6, command: 'a#1', value });

/** Begins a run in the engine alone. */
function begin(run: string, of: Graph = line): Begun {
  const { state, changes } = start(planOf(of), {}, { runId: run, at: 5 });
  let seq = 1;
  return {
    graph: of,
    hash: state.run.graphHash,
    first: {
      run,
      seq: 1,
      expectedSeq: 0,
      epoch: 1,
      graph: of,
      events: [],
      changes: structuredClone(changes),
    },
    entry(...events) {
      const steps = events.flatMap((event) => structuredClone(advance(planOf(of), state, [event]).changes));
      seq += 1;
      return { run, seq, expectedSeq: seq - 1, epoch: 1, events, changes: steps };
    },
  };
}

const item = (run: string, id: string): InboxItem => ({
  ...{ run, id, kind: 'answer', at: 7, by: { kind: 'local' } },
  content: { action_id: 'sure#1', result: true },
});

/**
 * What every journal does, whatever it keeps runs in.
 *
 * @param open makes an empty journal.
 * @param reopen gives what a later process finds of it; missing for a journal that ends with its process.
 */
export function journalContract(
  name: string,
  open: () => Promise<Journal> | Journal,
  reopen?: (journal: Journal) => Promise<Journal> | Journal,
): void {
  describe(name, () => {
    test('gives back what was written, as it was then', async () => {
      const journal = await open();
      const run = begin('r');
      await journal.append(run.first);
      const expected = textOf(foldRows(run.first.changes));
      (run.first.changes as unknown[]).length = 0;
      const loaded = await journal.load('r');
      expect(loaded).toMatchObject({ run: 'r', seq: 1, epoch: 1, graphHash: run.hash });
      expect(textOf(loaded?.rows ?? [])).toEqual(expected);
      expect(await journal.graph(run.hash)).toEqual(line);
      expect([await journal.load('other'), await journal.graph('other')]).toEqual([undefined, undefined]);
    });

    test('keeps rows of the host, of which a later one replaces an earlier one', async () => {
      const journal = await open();
      const run = begin('r');
      const row = (key: string, value: string): HostRow => ({ table: 'actions', key, row: { value } });
      await journal.append({ ...run.first, hostRows: [row('a', 'old'), row('b', 'kept')] });
      await journal.append({
        ...run.entry(returned(1)),
        hostRows: [row('a', 'new'), { table: 'run', key: 'a', row: 1 }],
      });
      const { hostRows = [] } = (await journal.load('r')) ?? {};
      expect(hostRows).toEqual([row('a', 'new'), row('b', 'kept'), { table: 'run', key: 'a', row: 1 }]);
      await journal.append(run.entry());
      expect((await journal.load('r'))?.hostRows).toEqual(hostRows);
    });

    test('a run goes on with the graph of a later entry, and a graph that no run has is gone', async () => {
      const journal = await open();
      const run = begin('r');
      await journal.append(run.first);
      const other = graph([call('a'), call('z')]);
      const { hash } = planOf(other);
      const start = run.first.changes.find(({ table }) => table === 'start');
      if (start?.op !== 'put' || start.table !== 'start') throw new Error('there is no start');
      const moved = { ...start, row: { ...start.row, graphHash: hash } };
      await journal.append({ ...run.entry(), events: [], graph: other, changes: [moved] });
      expect(await journal.load('r')).toMatchObject({ seq: 2, graphHash: hash });
      expect(await journal.openRuns()).toEqual([{ run: 'r', graphHash: hash }]);
      expect([await journal.graph(hash), await journal.graph(run.hash)]).toEqual([other, undefined]);
      await journal.forget('r');
      expect(await journal.graph(hash)).toBe(undefined);
    });

    test('a run goes on from what was written as from what was not', async () => {
      const journal = await open();
      const run = begin('r');
      await journal.append(run.first);
      const loaded = await journal.load('r');
      const expected = run.entry(returned(1)).changes;
      const stored = restore(planOf(line), loaded?.rows ?? []);
      expect(advance(planOf(line), stored, [returned(1)]).changes).toEqual(expected);
    });

    test('what is still owed comes back in the order in which it was asked for', async () => {
      const journal = await open();
      const of = graph([call('b'), call('a'), ask('c')]);
      const run = begin('r', of);
      await journal.append(run.first);
      const loaded = await journal.load('r');
      const owed = outstanding(restore(planOf(of), loaded?.rows ?? [])).commands.map(({ id }) => id);
      expect(owed).toEqual(['b#1', 'a#1', 'c#1']);
    });

    test('takes an entry with several events, and one with none', async () => {
      const journal = await open();
      const run = begin('r');
      await journal.append(run.first);
      const late: Event = { kind: 'timerFired', at: 9, command: 'a#1' };
      await journal.append(run.entry(returned(1), late));
      await journal.append(run.entry());
      const loaded = await journal.load('r');
      expect(loaded?.seq).toBe(3);
      expect(restore(planOf(line), loaded?.rows ?? []).run).toMatchObject({ status: 'succeeded', result: 1 });
    });

    test('refuses an entry that does not follow the last one, and writes nothing of it', async () => {
      const journal = await open();
      const run = begin('r');
      await journal.append(run.first);
      await expect(journal.append(run.first)).rejects.toThrow(JournalConflictError);
      const next = run.entry(returned(1));
      await expect(journal.append({ ...next, seq: 3, expectedSeq: 2 })).rejects.toThrow(JournalConflictError);
      await expect(journal.append({ ...next, seq: 3 })).rejects.toThrow(JournalConflictError);
      await journal.append(next);
      await expect(journal.append(next)).rejects.toThrow(JournalConflictError);
      expect((await journal.load('r'))?.seq).toBe(2);
    });

    test('refuses an entry of an earlier holder, and one of a run it does not have', async () => {
      const journal = await open();
      const run = begin('r');
      await journal.append({ ...run.first, epoch: 4 });
      const next = run.entry(returned(1));
      await expect(journal.append({ ...next, epoch: 3 })).rejects.toThrow(JournalConflictError);
      await journal.append({ ...next, epoch: 5 });
      expect((await journal.load('r'))?.epoch).toBe(5);
      await expect(journal.append({ ...next, run: 's' })).rejects.toThrow(JournalConflictError);
      const { graph: _, ...bare } = begin('s').first;
      await expect(journal.append(bare)).rejects.toThrow(JournalConflictError);
      expect(await journal.load('s')).toBeUndefined();
    });

    test('of entries that come together, only the one in conflict is refused', async () => {
      const journal = await open();
      const runs = ['r', 's', 't'].map((id) => begin(id));
      await Promise.all(runs.map(({ first }) => journal.append(first)));
      const [r, s, t] = runs.map((run) => run.entry(returned(1))) as [
        JournalEntry,
        JournalEntry,
        JournalEntry,
      ];
      const outcomes = await Promise.allSettled([
        journal.append(r),
        journal.append({ ...s, seq: 9, expectedSeq: 8 }),
        journal.append(t),
      ]);
      expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
      const seqs = await Promise.all(['r', 's', 't'].map(async (id) => (await journal.load(id))?.seq));
      expect(seqs).toEqual([2, 1, 2]);
    });

    test('of two writers of one entry, one is refused', async () => {
      const journal = await open();
      const run = begin('r');
      await journal.append(run.first);
      const next = run.entry(returned(1));
      const outcomes = await Promise.allSettled([
        journal.append(next),
        journal.append({ ...next, epoch: 2 }),
      ]);
      expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      expect((await journal.load('r'))?.seq).toBe(2);
    });

    test('knows the runs that are open, and keeps a graph once for all of them', async () => {
      const journal = await open();
      const [one, two] = [begin('one'), begin('two')];
      await journal.append(one.first);
      await journal.append(two.first);
      expect((await journal.openRuns()).map(({ run }) => run)).toEqual(['one', 'two']);
      await journal.append(one.entry(returned(1)));
      expect(await journal.openRuns()).toEqual([{ run: 'two', graphHash: two.hash }]);
      expect(await journal.finishedRuns()).toEqual(['one']);
      const three = begin('three');
      await journal.append(three.first);
      await journal.append(three.entry(returned(1)));
      await journal.append(two.entry(returned(1)));
      expect(await journal.finishedRuns()).toEqual(['one', 'three', 'two']);
      await journal.forget('one');
      expect(await journal.load('one')).toBeUndefined();
      expect(await journal.graph(two.hash)).toEqual(line);
      await journal.forget('unknown');
    });

    test('knows the times that open runs wait for', async () => {
      const journal = await open();
      const long = begin('long', graph([wait('pause', { durationMs: lit(60_000) })]));
      const short = begin('short', graph([wait('pause', { durationMs: lit(1_000) })]));
      await journal.append(long.first);
      await journal.append(short.first);
      expect(await journal.dueTimers(1_004)).toEqual([]);
      const first = { run: 'short', command: 'pause#1', dueAt: 1_005 };
      expect(await journal.dueTimers(1_005)).toEqual([first]);
      const second = { run: 'long', command: 'pause#1', dueAt: 60_005 };
      expect(await journal.dueTimers(Number.MAX_SAFE_INTEGER)).toEqual([first, second]);
      await journal.append(short.entry({ kind: 'timerFired', at: 1_005, command: 'pause#1' }));
      expect(await journal.dueTimers(Number.MAX_SAFE_INTEGER)).toEqual([second]);
    });

    test('keeps what is sent to a run until it is consumed, in order and each item once', async () => {
      const journal = await open();
      const run = begin('r');
      await expect(journal.send(item('r', '1'))).rejects.toThrow("no run 'r'");
      await journal.append(run.first);
      for (const id of ['1', '2', '1', '3']) await journal.send(item('r', id));
      expect(await journal.inbox('r')).toEqual(['1', '2', '3'].map((id) => item('r', id)));
      expect(await journal.response('r', '1')).toBeUndefined();
      await journal.append({ ...run.entry(), consumed: [{ id: '1', response: { ok: true } }] });
      expect(await journal.response('r', '1')).toEqual({ ok: true });
      await journal.send(item('r', '1'));
      expect((await journal.inbox('r')).map(({ id }) => id)).toEqual(['2', '3']);
      expect(await journal.inbox('unknown')).toEqual([]);
    });

    test('has no items for a run that is over', async () => {
      const journal = await open();
      const run = begin('r');
      await journal.append(run.first);
      await journal.send(item('r', '1'));
      await journal.append(run.entry(returned(1)));
      expect(await journal.inbox('r')).toEqual([]);
      await journal.send(item('r', '2'));
      expect(await journal.inbox('r')).toEqual([]);
      // Its holder may have the item, and answers its sender.
      await journal.append({ ...run.entry(), consumed: [{ id: '1', response: 'late' }] });
      expect(await journal.response('r', '1')).toBe('late');
    });

    test('consumes an item once, together with its entry or not at all', async () => {
      const journal = await open();
      const run = begin('r');
      await journal.append(run.first);
      await journal.send(item('r', '1'));
      const consumed = [{ id: '1', response: 'first' }];
      const entry = { ...run.entry(), consumed };
      await expect(journal.append({ ...entry, seq: 7, expectedSeq: 6 })).rejects.toThrow();
      expect((await journal.inbox('r')).map(({ id }) => id)).toEqual(['1']);
      await journal.append(entry);
      const again = { ...run.entry(), consumed: [{ id: '1', response: 'second' }] };
      await expect(journal.append(again)).rejects.toThrow(JournalConflictError);
      expect([await journal.response('r', '1'), (await journal.load('r'))?.seq]).toEqual(['first', 2]);
    });

    test('a sender waits for the response of the process that holds the run', async () => {
      const journal = await open();
      const run = begin('r');
      await journal.append(run.first);
      const stop = journal.watch('r', () => {
        void (async () => {
          const [open] = await journal.inbox('r');
          if (open === undefined) return;
          stop();
          await journal.append({ ...run.entry(), consumed: [{ id: open.id, response: 'taken' }] });
        })();
      });
      expect(await request(journal, item('r', '1'))).toBe('taken');
      const controller = new AbortController();
      const waiting = request(journal, item('r', '2'), controller.signal);
      controller.abort(new Error('gone'));
      await expect(waiting).rejects.toThrow('gone');
    });

    test('a watcher that has stopped is not called', async () => {
      const journal = await open();
      await journal.append(begin('r').first);
      let calls = 0;
      const first = journal.watch('r', () => {
        calls += 1;
      });
      first();
      const called = new Promise<void>((resolve) => journal.watch('r', resolve));
      await journal.send(item('r', '1'));
      await called;
      expect(calls).toBe(0);
    });

    test('forgets all of a run, so that its id is free', async () => {
      const journal = await open();
      await journal.append(begin('r').first);
      await journal.send(item('r', '1'));
      await journal.forget('r');
      expect([await journal.load('r'), await journal.inbox('r'), await journal.openRuns()]).toEqual([
        ...[undefined, [], []],
      ]);
      await journal.append(begin('r').first);
      expect((await journal.load('r'))?.seq).toBe(1);
    });

    if (reopen === undefined) return;
    test('a later process finds everything', async () => {
      const journal = await open();
      const run = begin('r');
      await journal.append(run.first);
      await journal.send(item('r', '1'));
      await journal.send(item('r', '2'));
      await journal.append({ ...run.entry(), consumed: [{ id: '1', response: 'first' }] });
      const later = await reopen(journal);
      expect((await later.load('r'))?.seq).toBe(2);
      expect(await later.graph(run.hash)).toEqual(line);
      expect((await later.inbox('r')).map(({ id }) => id)).toEqual(['2']);
      expect(await later.response('r', '1')).toBe('first');
    });
  });
}
