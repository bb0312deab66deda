import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { ask } from '../../engine/constructs.fixture.js';
import { chain, done, graph, step } from '../../engine/graph.fixture.js';
import { commandsOf } from '../../engine/read.js';
import { FaultyJournal } from '../store/faulty-journal.fixture.js';
import { type InboxItem, JournalFailedError, request } from '../store/journal.js';
import { withLeases } from '../store/local-journal.js';
import { MemoryJournal } from '../store/memory-journal.js';
import { type Delivery, Queue } from './inbox.js';
import { LiveRun } from './live-run.js';
import { port, Setup } from './setup.fixture.js';

describe('the inbox of a run in a journal', () => {
  const sure = graph(chain(ask('sure'), ask('really'), done('out', step('really', 'confirmed'))));
  const item = (id: string, action: string): InboxItem => ({
    ...{ run: 'run-1', id, kind: 'answer', at: 1 },
    content: { action_id: action, result: { confirmed: true } },
  });

  /** A run that answers actions with what is sent to it. */
  function answered(journal: MemoryJournal, opened: string[] = []): Promise<LiveRun> {
    const setup = new Setup();
    const receive = ({ id, content }: InboxItem): Delivery => ({
      item: id,
      open: () => {
        opened.push(id);
        const value = content.result ?? null;
        return { kind: 'actionSubmitted', at: 2, command: String(content.action_id), value };
      },
      respond: (isTaken) => ({ isTaken }),
      done() {},
      failed() {},
    });
    return new Promise((resolve, reject) => {
      const options = {
        graph: sure,
        input: {},
        runId: 'run-1',
        readsInbox: true,
        calls: port({}),
        context: { requestId: '1', progress() {} },
        clock: setup.clock,
        journal: withLeases(journal),
      };
      const run = new LiveRun(options, options, (event) => {
        if (event.kind === 'idle') resolve(run);
        if (event.kind === 'failed') reject(event.fault);
        if (event.kind === 'inbox') for (const each of event.added) run.deliver(receive(each));
      });
      run.go();
    });
  }

  test('answers from elsewhere are applied in order, each once, and their senders told', async () => {
    const journal = new MemoryJournal();
    const opened: string[] = [];
    const run = await answered(journal, opened);
    const sent = [item('1', 'sure#1'), item('2', 'sure#1'), item('3', 'really#1')];
    const responses = await Promise.all([...sent, ...sent].map((each) => request(journal, each)));
    expect(responses).toEqual([
      ...[{ isTaken: true }, { isTaken: false }, { isTaken: true }],
      ...[{ isTaken: true }, { isTaken: false }, { isTaken: true }],
    ]);
    expect(opened).toEqual(['1', '2', '3']);
    expect(run.liveStatus).toBe('over');
    expect(await journal.inbox('run-1')).toEqual([]);
  });

  test.each(['before', 'after'] as const)(
    'an item whose write fails %s it is written is consumed once',
    async (how) => {
      const journal = new FaultyJournal((_write, { consumed = [] }) => {
        if (consumed.length === 0 || hasFailed) return undefined;
        hasFailed = true;
        return how;
      });
      let hasFailed = false;
      await answered(journal);
      expect(await request(journal, item('1', 'sure#1'))).toEqual({ isTaken: true });
      expect(journal.read('run-1')?.entries.flatMap(({ consumed = [] }) => consumed)).toHaveLength(1);
      const { state } = journal.read('run-1') ?? {};
      expect(state && commandsOf(state).map(({ id }) => id)).toEqual(['really#1']);
    },
  );

  test('is read again after a failure, and then fails with a named error', async () => {
    const journal = new MemoryJournal();
    const reading = vi.spyOn(journal, 'inbox').mockRejectedValueOnce(new Error('busy'));
    await answered(journal);
    expect(await request(journal, item('1', 'sure#1'))).toEqual({ isTaken: true });
    expect(reading.mock.calls.length).toBeGreaterThan(1);
    const broken = new MemoryJournal();
    vi.spyOn(broken, 'inbox').mockRejectedValue(new Error('busy'));
    await expect(
      new Promise((_resolve, reject) => {
        const options = {
          graph: sure,
          input: {},
          runId: 'run-1',
          readsInbox: true,
          calls: port({}),
          context: { requestId: '1', progress() {} },
          clock: new Setup().clock,
          journal: withLeases(broken),
        };
        new LiveRun(options, options, (event) => {
          if (event.kind === 'inbox') expect.unreachable();
          if (event.kind === 'failed') reject(event.fault);
        }).go();
      }),
    ).rejects.toThrow(/failed to read what was sent to the run: busy/);
  });

  test('an item that cannot be sent at once is sent again, once', async () => {
    const journal = new MemoryJournal();
    await answered(journal);
    const send = journal.send.bind(journal);
    vi.spyOn(journal, 'send').mockImplementationOnce(async (given) => {
      await send(given);
      throw new Error('the disk went away');
    });
    expect(await request(journal, item('1', 'sure#1'))).toEqual({ isTaken: true });
    vi.spyOn(journal, 'send').mockRejectedValue(new Error('the disk is full'));
    await expect(request(journal, item('2', 'sure#1'))).rejects.toThrow(JournalFailedError);
  });
});

const operation = fc.oneof(
  fc.record({ push: fc.integer({ min: 1, max: 2_000 }) }),
  fc.record({ shift: fc.integer({ min: 1, max: 2_500 }) }),
  fc.record({ unshift: fc.integer({ min: 1, max: 3 }) }),
);

test('gives what was put in, in order, however much was taken out', () => {
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 20 }), (operations) => {
      const queue = new Queue<number>();
      const list: number[] = [];
      let next = 0;
      for (const each of operations) {
        if ('push' in each) {
          for (let count = 0; count < each.push; count += 1) {
            list.push(next);
            queue.push(next++);
          }
        } else if ('shift' in each) {
          const taken = Array.from({ length: each.shift }, () => queue.shift());
          const expected = list.splice(0, each.shift);
          expect(taken.slice(0, expected.length)).toEqual(expected);
          expect(taken.slice(expected.length).every((item) => item === undefined)).toBe(true);
        } else {
          const items = Array.from({ length: each.unshift }, () => next++);
          list.unshift(...items);
          queue.unshift(...items);
        }
        expect([queue.length, [...queue]]).toEqual([list.length, list]);
      }
    }),
  );
});
