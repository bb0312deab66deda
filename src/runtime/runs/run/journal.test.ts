import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { ask, body, foreach, parallel, undo, wait } from '../../engine/constructs.fixture.js';
import { again, call, chain, done, graph, input, lit, step } from '../../engine/graph.fixture.js';
import { commandsOf, outputOf } from '../../engine/read.js';
import { FaultyJournal } from '../store/faulty-journal.fixture.js';
import { JournalConflictError, type JournalEntry, JournalFailedError } from '../store/journal.js';
import { MemoryJournal } from '../store/memory-journal.js';
import { MAX_FAILED_WRITES } from './journal-writer.js';
import { LiveRun } from './live-run.js';
import { never, ok, port, Setup, type Tool } from './setup.fixture.js';

const nodes = chain(call('a'), call('b', { of: step('a') }), done('out', step('b')));

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A journal that keeps a write back until it is let through. */
class SlowJournal extends MemoryJournal {
  readonly held: (() => void)[] = [];

  override async append(entry: JournalEntry): Promise<void> {
    await new Promise<void>((resolve) => this.held.push(resolve));
    return super.append(entry);
  }

  /** Lets the oldest write through, and what follows happen. */
  async pass(): Promise<void> {
    await expect.poll(() => this.held).not.toEqual([]);
    this.held.shift()?.();
    await turn();
  }
}

describe('a journal', () => {
  test('has each step before it is executed or reported, and forgets the run at its end', async () => {
    const setup = new Setup();
    const journal = new MemoryJournal();
    const open = () => {
      const { state } = journal.read('run-1') ?? {};
      return state === undefined ? [] : commandsOf(state).map(({ id }) => id);
    };
    const seen: unknown[] = [];
    const tool = (name: string) => () => {
      seen.push([name, open().filter((id) => !id.includes(':'))]);
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
    expect(seen).toEqual([['a', ['a#1']], ['b', ['b#1']], 'succeeded']);
    expect(journal.runs).toEqual([]);
  });

  test('during a write nothing of it is reported, executed or shown', async () => {
    const setup = new Setup();
    const journal = new SlowJournal();
    const called = vi.fn<Tool>(() => ok(1));
    const running = setup.run(graph(nodes), { 'tool-a': called, 'tool-b': called }, { journal });
    await turn();
    expect([setup.facts, called.mock.calls.length]).toEqual([[], 0]);
    await journal.pass();
    expect([setup.facts.map(({ kind }) => kind), called.mock.calls.length]).toEqual([
      ['nodeStarted', 'callIssued'],
      1,
    ]);
    await journal.pass();
    expect(called).toHaveBeenCalledTimes(2);
    await journal.pass();
    expect((await running).result).toBe(1);
  });

  test('takes all events during a write in one entry', async () => {
    const setup = new Setup();
    const journal = new SlowJournal();
    const entries: JournalEntry[] = [];
    const append = journal.append.bind(journal);
    journal.append = (entry) => {
      entries.push(entry);
      return append(entry);
    };
    const calls = ['a', 'b', 'c', 'd'].map((id) => call(id));
    let release = (): void => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const later: Tool = () => released.then(() => ok(null));
    const tools = { 'tool-a': () => ok(null), 'tool-b': later, 'tool-c': later, 'tool-d': later };
    const running = setup.run(graph(calls), tools, { journal });
    await journal.pass();
    expect(entries.length).toBe(2);
    release();
    await turn();
    for (let write = 0; write < 2; write += 1) await journal.pass();
    expect((await running).status).toBe('succeeded');
    expect(entries.map(({ events }) => events.length)).toEqual([0, 1, 3]);
    expect(entries.map(({ seq, expectedSeq }) => [seq, expectedSeq])).toEqual([
      [1, 0],
      [2, 1],
      [3, 2],
    ]);
  });

  test('takes calls that come back one right after the other in one entry', async () => {
    const journal = new MemoryJournal();
    const append = vi.spyOn(journal, 'append');
    const calls = ['a', 'b', 'c'].map((id) => call(id));
    const tools = Object.fromEntries(calls.map(({ tool }) => [tool, () => ok(null)]));
    expect((await new Setup().run(graph(calls), tools, { journal })).status).toBe('succeeded');
    expect(append.mock.calls.map(([{ events }]) => events.length)).toEqual([0, 3]);
  });

  test('is not waited for by runs that have none', () => {
    const setup = new Setup();
    const called = vi.fn<Tool>(() => never());
    void setup.run(graph(nodes), { 'tool-a': called });
    expect(called).toHaveBeenCalledOnce();
  });
});

describe('a journal that fails', () => {
  const tools = (called: string[]): Readonly<Record<string, Tool>> => ({
    'tool-a': () => ok(called.push('a')),
    'tool-b': () => ok(called.push('b')),
  });

  test.each(['before', 'after'] as const)(
    'once, %s a write: the run goes on, and each call is made once',
    async (how) => {
      for (let failing = 1; failing <= 3; failing += 1) {
        const setup = new Setup();
        const called: string[] = [];
        const journal = new FaultyJournal((write) => (write === failing ? how : undefined));
        const outcome = await setup.run(graph(nodes), tools(called), { journal });
        expect([outcome.result, called]).toEqual([2, ['a', 'b']]);
        expect(setup.facts.map(({ kind }) => kind)).toEqual([
          ...['nodeStarted', 'callIssued', 'callReturned', 'nodeSucceeded'],
          ...['nodeStarted', 'callIssued', 'callReturned', 'nodeSucceeded'],
          ...['nodeStarted', 'nodeSucceeded', 'finished'],
        ]);
        expect(setup.clock.pending).toBe(0);
      }
    },
  );

  test('always: the run ends with a named error, and nothing of it is executed', async () => {
    const called: string[] = [];
    const setup = new Setup();
    const journal = new FaultyJournal(() => 'before');
    const running = setup.run(graph(nodes), tools(called), { journal });
    await expect(running).rejects.toThrow(JournalFailedError);
    await expect(running).rejects.toThrow(/failed 3 times to write the run: the disk is full/);
    expect([called, journal.writes, setup.facts]).toEqual([[], MAX_FAILED_WRITES, []]);
    expect(setup.clock.pending).toBe(0);
  });

  test('from some step on: calls in flight are aborted', async () => {
    const setup = new Setup();
    const signals: AbortSignal[] = [];
    const journal = new FaultyJournal((write) => (write > 1 ? 'before' : undefined));
    const hangs: Tool = (_given, { signal }) => {
      signals.push(signal);
      return never();
    };
    const of = graph([call('a'), call('b')]);
    const running = setup.run(of, { 'tool-a': hangs, 'tool-b': () => ok(1) }, { journal });
    await expect(running).rejects.toThrow(JournalFailedError);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    expect(setup.clock.pending).toBe(0);
  });

  test('to write, and then to read: the named error says so', async () => {
    const journal = new FaultyJournal(() => 'before');
    journal.load = async () => {
      throw new Error('the file is gone');
    };
    await expect(new Setup().run(graph(nodes), tools([]), { journal })).rejects.toThrow(
      /failed to write the run, and then to read it: the file is gone/,
    );
  });

  test('a run whose id is taken does not begin, and the other one is not forgotten', async () => {
    const journal = new MemoryJournal();
    const first = new Setup();
    void first.run(graph(nodes), { 'tool-a': never }, { journal });
    await expect.poll(() => journal.runs).toEqual(['run-1']);
    const called: string[] = [];
    const second = new Setup().run(graph(nodes), tools(called), { journal });
    await expect(second).rejects.toThrow(JournalConflictError);
    expect([called, journal.runs]).toEqual([[], ['run-1']]);
  });

  test('another holder of the run: this process gives it up', async () => {
    const journal = new MemoryJournal();
    let answer: () => void = () => {};
    const running = new Setup().run(
      graph(nodes),
      {
        'tool-a': () =>
          new Promise((resolve) => {
            answer = () => resolve(ok(1));
          }),
      },
      { journal },
    );
    await expect.poll(() => journal.runs).toEqual(['run-1']);
    await journal.append({ run: 'run-1', seq: 2, expectedSeq: 1, epoch: 2, events: [], changes: [] });
    answer();
    await expect(running).rejects.toThrow(JournalConflictError);
  });

  test('calls in flight are kept over a reload, and those that are not wanted any more aborted', async () => {
    const setup = new Setup();
    const aborted: string[] = [];
    const journal = new FaultyJournal((write) =>
      write === 2 ? 'before' : write === 3 ? 'after' : undefined,
    );
    const left = body([call('left')]);
    const right = body([call('right')]);
    const called: string[] = [];
    let finish: () => void = () => {};
    const running = setup.run(
      graph([parallel('both', { left, right }, { onPartialFailure: 'abort' }), call('beside')]),
      {
        'tool-left': (_given, { signal }) => {
          called.push('left');
          signal.addEventListener('abort', () => aborted.push('left'));
          return never();
        },
        'tool-right': () => ({ ok: false, attempted: true, failure: { code: 'E_TOOL', message: 'no' } }),
        'tool-beside': () =>
          new Promise((resolve) => {
            called.push('beside');
            finish = () => resolve(ok('done'));
          }),
      },
      { journal },
    );
    await expect.poll(() => aborted).toEqual(['left']);
    finish();
    expect((await running).status).toBe('failed');
    expect(called).toEqual(['left', 'beside']);
  });

  test('at random: the outcome and the calls are those of a run without faults', async () => {
    const of = graph([
      ...chain(
        foreach('each', lit([1, 2, 3, 4]), body([call('item', {}, { retry: again(1) })]), { concurrency: 2 }),
        wait('pause', { durationMs: lit(5) }),
        parallel('both', { left: body([call('left')]), right: body([call('right')]) }),
        done('out', step('both')),
      ),
    ]);
    const write = fc.constantFrom(undefined, undefined, 'before' as const, 'after' as const);
    await fc.assert(
      fc.asyncProperty(fc.array(write, { maxLength: 30 }), async (faults) => {
        let inRow = 0;
        const journal = new FaultyJournal((number) => {
          const fault = inRow < MAX_FAILED_WRITES - 1 ? faults[number - 1] : undefined;
          inRow = fault === undefined ? 0 : inRow + 1;
          return fault;
        });
        const run = async (options: { readonly journal?: MemoryJournal }) => {
          const setup = new Setup();
          const made: string[] = [];
          const tool: Tool = (_given, { origin, idempotencyKey }) => {
            made.push(`${origin?.source === 'workflow' ? origin.node : ''} ${idempotencyKey}`);
            return ok(null);
          };
          const names = ['item', 'left', 'right'].map((id) => [`tool-${id}`, tool] as const);
          const running = setup.run(of, Object.fromEntries(names), options);
          while (!setup.facts.some(({ kind }) => kind === 'waiting')) await turn();
          setup.clock.pass(5);
          const { status, result, state } = await running;
          const row = state.run.toRow();
          return {
            status,
            result,
            made: made.sort(),
            row,
            facts: setup.facts.map((fact) => JSON.stringify(fact)).sort(),
          };
        };
        expect(await run({ journal })).toEqual(await run({}));
      }),
      { numRuns: 150 },
    );
  });

  test('a compensation is made once, whichever write fails', async () => {
    for (const how of ['before', 'after'] as const) {
      for (let failing = 1; failing <= 5; failing += 1) {
        const undone: unknown[] = [];
        const journal = new FaultyJournal((write) => (write === failing ? how : undefined));
        const left = call('left', {}, { compensate: undo('cancel-left', { id: step('left', 'id') }) });
        const both = parallel(
          'both',
          { left: body([left]), right: body([call('right', {}, { after: [] })]) },
          { onPartialFailure: 'rollback' },
        );
        const outcome = await new Setup().run(
          graph([both]),
          {
            'tool-left': () => ok({ id: 7 }),
            'tool-right': () => ({ ok: false, attempted: true, failure: { code: 'FULL', message: 'full' } }),
            'cancel-left': (given) => ok(undone.push(given.id)),
          },
          { journal },
        );
        expect([outcome.failure?.code, undone]).toEqual(['E_PARTIAL_FAILURE', [7]]);
      }
    }
  });
});

test('values that are changed after they were handed in do not change a run', async () => {
  const given = { list: [1] };
  const result = { list: [1] };
  const outcome = await new Setup().run(
    graph(
      chain(call('a'), call('b', { mine: input('list'), its: step('a', 'list') }), done('out', step('b'))),
    ),
    {
      'tool-a': () => {
        given.list.push(2);
        return ok(result);
      },
      'tool-b': (received) => {
        result.list.push(2);
        return ok(received);
      },
    },
    { input: given },
  );
  expect(outcome.result).toEqual({ mine: [1], its: [1] });
  expect(outputOf(outcome.state, 'a')).toEqual({ list: [1] });
});

test.each<[string, unknown, string]>([
  ['a function', { run: () => 1 }, '`/run` is a function'],
  ['a number that is not finite', [Number.NaN], '`/0` is NaN'],
])('a result that is not JSON, %s, is refused with a failure of the step', async (_name, value, why) => {
  const outcome = await new Setup().run(graph([call('a')]), { 'tool-a': () => ok(value as never) });
  expect(outcome).toMatchObject({ status: 'failed', node: 'a', failure: { code: 'E_RESULT_NOT_JSON' } });
  expect(outcome.failure?.message).toContain(why);
});

test('an answer that is not JSON is refused before the run sees it', () => {
  const start = { graph: graph([ask('sure')]), input: {}, runId: 'run-1' };
  const context = { requestId: '1', progress() {} };
  const host = { calls: port({}), clock: new Setup().clock };
  const run = new LiveRun({ ...start, context }, host, () => {});
  run.go();
  expect(() => run.answer('sure#1', (() => 1) as never)).toThrow("the answer to 'sure#1' is not JSON");
  expect(run.liveStatus).toBe('asking');
});
