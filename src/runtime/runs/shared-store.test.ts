import * as sqlite from '@photostructure/sqlite';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { isNightly } from '../../../test/nightly.js';
import type { Json } from '../../graph/json.js';
import { ask, wait } from '../engine/constructs.fixture.js';
import { call, chain, done, graph, lit, step } from '../engine/graph.fixture.js';
import { type OperatorCommand, operatorItem } from './actions/operator-commands.js';
import type { RunStore } from './run-store.js';
import { openFolder, Process, pass, removeFolder, sharedFile, waiter } from './shared-store.fixture.js';
import { JournalFailedError, request } from './store/journal.js';
import { SqliteJournal } from './store/sqlite/sqlite-journal.js';
import { SqliteReader } from './store/sqlite/store-reader.js';
import { ada, bob, codeOf, envelopeIn, never, ok, settle, type Tool } from './store.fixture.js';

beforeEach(openFolder);
afterEach(removeFolder);

const asking = graph(chain(ask('sure'), call('a'), ask('still'), done('out', step('sure'))));

describe('a process that lacks a tool of a run', () => {
  const capability = { kind: 'tool', name: 'tool-a' } as const;
  const old = () => Process.begin('old', {}, { capabilityMs: 500 }, sqlite, () => [capability]);
  const listed = async () => {
    const reader = await SqliteReader.open(sharedFile());
    const rows = reader.list({ limit: 10 });
    reader.close();
    return rows;
  };
  const sent = ({ journal }: Process, id: string) => expect.poll(() => journal.inbox(id)).toHaveLength(1);
  const sleeping = graph(
    chain(wait('rest', { durationMs: lit(100_000) }), call('a'), done('out', step('a'))),
  );

  test('leaves its answers to the process that has it', async () => {
    const [one, other] = [await Process.begin('new'), await old()];
    const id = await one.start(asking);
    const answer = other.submit(id, 'sure#1', true);
    expect(envelopeIn(await answer)).toMatchObject({ status: 'waiting', action: { action_id: 'still#1' } });
    expect([one.calls, other.calls]).toEqual([['tool-a'], []]);
  });

  test('stores an answer that no process takes, and says so', async () => {
    const [one, other] = [await Process.begin('new'), await old()];
    const id = await one.start(asking);
    await one.end();
    const answer = other.submit(id, 'sure#1', true);
    await sent(other, id);
    await pass(250, other);
    other.clock.pass(45_000);
    expect(await answer).toMatchObject({
      envelope: { status: 'waiting', missing_capabilities: [capability] },
      warnings: [{ code: 'W_STORED' }],
    });
    const next = await Process.begin('next');
    // A take-over adopts the run before it calls `a`, so a status read at once may still say "running".
    await expect
      .poll(async () => envelopeIn(await next.get(id)))
      .toMatchObject({ action: { action_id: 'still#1' } });
  });

  test('has an answer judged first, also for a sender that does not wait for the run', async () => {
    const [one, other] = [await Process.begin('new'), await old()];
    const id = await one.start(asking);
    await one.end();
    const misfit = { actionId: 'sure#1', result: 'perhaps' };
    const answer = other.store.submit(ada, id, misfit, { ...waiter(), answerMs: 0 });
    await sent(other, id);
    await pass(250, other);
    other.clock.pass(1);
    await Process.begin('next');
    expect(codeOf(await answer)).toBe('E_RESULT_SHAPE');
  });

  test('refuses an answer that it cannot store', async () => {
    const [one, other] = [await Process.begin('new'), await old()];
    const id = await one.start(asking);
    const send = vi.spyOn(other.journal, 'send').mockRejectedValue(new Error('the disk is full'));
    await expect(other.submit(id, 'sure#1', true)).rejects.toThrow(JournalFailedError);
    send.mockRestore();
    expect(envelopeIn(await one.get(id))).toMatchObject({ action: { action_id: 'sure#1' } });
  });

  test('leaves its times and its calls in flight, and reports them after some time', async () => {
    const [one, other] = [await Process.begin('new', { 'tool-a': never }), await old()];
    const ids = [await one.start(sleeping), await one.start(asking)];
    void one.submit(ids[1] ?? '', 'sure#1', true);
    await expect.poll(() => one.calls).toEqual(['tool-a']);
    one.store.endAll('the end');
    await one.journal.close();
    other.clock.pass(100_000);
    await pass(250, other);
    expect(other.log).toEqual([]);
    for (const id of ids) expect(envelopeIn(await other.get(id))).not.toHaveProperty('error');
    other.clock.pass(500);
    await pass(500, other);
    expect(other.log).toEqual(
      ids.map(() => expect.stringContaining("waits for a server that has tool 'tool-a'")),
    );
    for (const id of ids) expect(envelopeIn(await other.get(id))).toMatchObject({ status: 'waiting' });
    expect((await listed()).map(({ missing }) => missing)).toEqual([[capability], [capability]]);
    expect(other.calls).toEqual([]);

    const next = await Process.begin('next');
    next.clock.pass(100_500);
    await pass(250, next);
    next.clock.pass(1);
    await expect.poll(() => next.calls).toHaveLength(2);
    expect((await listed()).map(({ missing }) => missing)).toEqual([[], []]);
  });

  test('ends a run that is cancelled without undoing, and makes none of its calls', async () => {
    const [one, other] = [await Process.begin('new', { 'tool-a': never }), await old()];
    const ids = [await one.start(sleeping), await one.start(asking)];
    void one.submit(ids[1] ?? '', 'sure#1', true);
    await expect.poll(() => one.calls).toEqual(['tool-a']);
    await one.end();
    const [rest, call] = await Promise.all(ids.map((id) => other.store.cancel(ada, id, {}, waiter())));
    expect(rest).toMatchObject({ envelope: { status: 'cancelled' } });
    const error = { unknown_outcomes: [{ step: 'a' }] };
    expect(call).toMatchObject({ envelope: { status: 'cancelled', error } });
    expect(other.calls).toEqual([]);
  });

  test('leaves a run that is cancelled with undoing, or ended by an operator once it is looked after', async () => {
    const [one, other] = [await Process.begin('new'), await old()];
    const [undone = '', plain = ''] = [await one.start(asking), await one.start(asking)];
    await one.end();
    void other.store.cancel(ada, undone, { compensate: true }, waiter());
    await sent(other, undone);
    const ann = { kind: 'operator', name: 'ann' } as const;
    await other.journal.send(operatorItem({ run: plain, id: 'i', at: 1 }, { command: 'cancel' }, ann));
    await pass(1_500, other);
    await expect.poll(async () => envelopeIn(await other.get(plain)).status).toBe('cancelled');
    expect(envelopeIn(await other.get(undone)).status).toBe('waiting');
  });
});

describe('a disk that is full for some time', () => {
  let isFull = false;
  class Filling extends sqlite.DatabaseSync {
    #isWriting = false;

    override exec(sql: string): void {
      if (sql.startsWith('BEGIN')) this.#isWriting = sql === 'BEGIN IMMEDIATE';
      if (isFull && sql === 'COMMIT' && this.#isWriting)
        throw Object.assign(new Error('database or disk is full'), { errcode: 13 });
      super.exec(sql);
    }
  }
  let fills = 0;
  const fill: Tool = () => {
    fills += 1;
    isFull = fills === 1;
    return ok('done');
  };
  const working = graph(chain(ask('sure'), call('a'), call('b'), done('out', step('b'))));
  afterEach(() => {
    isFull = false;
    fills = 0;
  });

  test.each(['tool-a', 'tool-b'])(
    'does not end a run: it goes on from what was written, after %s',
    async (tool) => {
      const one = await Process.begin('one', { [tool]: fill }, {}, { DatabaseSync: Filling });
      const id = await one.start(working);
      // It is open what became of the call, and the run is not over.
      expect(envelopeIn(await one.submit(id, 'sure#1', true)).status).toBe('running');
      await one.store.lookAfter().catch(() => undefined);
      expect(envelopeIn(await one.get(id)).status).toBe('running');
      expect((await one.store.list(ada)).map(({ status }) => status)).toEqual(['running']);

      isFull = false;
      await pass(2_000, one);
      await expect.poll(async () => envelopeIn(await one.get(id)).status).toBe('completed');
      expect(one.calls.filter((name) => name === tool)).toHaveLength(2);
    },
  );
});

describe('two processes on a file', () => {
  test('go on with a run that one claimed without the response', async () => {
    const [one, other] = [await Process.begin('one'), await Process.begin('other')];
    const id = await one.start(asking);
    const { leases } = other.journal;
    const claim = leases.claim.bind(leases);
    vi.spyOn(leases, 'claim').mockImplementationOnce(async (run) => {
      await claim(run);
      throw new Error('the response was lost');
    });
    const answered = other.submit(id, 'sure#1', true);
    await expect.poll(() => other.log).toContainEqual(expect.stringContaining('the response was lost'));
    await pass(2_000, one, other);
    expect(await answered).toMatchObject({
      envelope: { status: 'waiting', actions: [{ action_id: 'still#1' }] },
    });
    expect(await one.submit(id, 'still#1', true)).toMatchObject({ envelope: { status: 'completed' } });
    expect([one.calls, other.calls]).toEqual([[], ['tool-a']]);
  });

  test('start a run of one id once when both do it at once', async () => {
    const processes = [await Process.begin('one'), await Process.begin('other')];
    const starts = processes.map(({ store }) =>
      store.start({ id: 'once', owner: ada, graph: asking, input: {} }, waiter()),
    );
    const settled = await Promise.allSettled(starts);
    expect(settled.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    for (const { store } of processes) {
      expect(await store.get(ada, 'once')).toMatchObject({ ok: true, envelope: { status: 'waiting' } });
      expect(store.fault).toBeUndefined();
    }
  });

  test('list, show and answer the runs of each other', async () => {
    const [one, other] = [await Process.begin('one'), await Process.begin('other')];
    const id = await one.start(asking);
    expect(await other.store.list(ada)).toEqual(await one.store.list(ada));
    expect(await other.get(id)).toEqual(await one.get(id));
    expect(codeOf(await other.store.get(bob, id))).toBe('WORKFLOW_NOT_FOUND');
    expect(await other.submit(id, 'sure#1', true)).toMatchObject({
      envelope: { status: 'waiting', actions: [{ action_id: 'still#1' }] },
    });
    expect([one.calls, other.calls]).toEqual([[], ['tool-a']]);
    expect(await one.get(id)).toEqual(await other.get(id));
    expect(await one.submit(id, 'still#1', true)).toMatchObject({ envelope: { status: 'completed' } });
    expect(await other.get(id)).toEqual(await one.get(id));
    expect(await other.store.list(ada)).toEqual(await one.store.list(ada));
    expect([...one.log, ...other.log].filter((text) => text.includes('broke'))).toEqual([]);
  });

  test('keep no run that only waits, and none that is over', async () => {
    const one = await Process.begin('one');
    const loads = vi.spyOn(one.journal, 'load');
    const [id, finished] = [await one.start(asking), await one.start(graph(chain(done('out', lit(1)))))];
    expect(await one.get(id)).toMatchObject({ envelope: { status: 'waiting' } });
    expect(loads).not.toHaveBeenCalled();
    await one.store.lookAfter();
    expect(await one.get(finished)).toMatchObject({ envelope: { status: 'completed', result: 1 } });
    expect(await one.get(id)).toMatchObject({ envelope: { status: 'waiting' } });
    expect(loads.mock.calls).toEqual([[finished], [id]]);
    expect(await one.submit(id, 'sure#1', true)).toMatchObject({
      envelope: { status: 'waiting', actions: [{ action_id: 'still#1' }] },
    });
    expect(codeOf(await one.store.get(bob, id))).toBe('WORKFLOW_NOT_FOUND');
    expect(loads).toHaveBeenCalledTimes(2);
    const other = await Process.begin('other');
    const read = vi.spyOn(other.journal, 'load');
    await other.store.lookAfter();
    expect(read).not.toHaveBeenCalled();
  });

  test.each([
    { what: 'a time', waits: wait('nap', { durationMs: lit(100_000) }), status: 'completed' },
    {
      what: 'the limit of a question',
      waits: ask('sure', 'confirm', { timeoutMs: 100_000 }),
      status: 'failed',
    },
  ])('answer $what that comes for a run which none of them keeps', async ({ waits, status }) => {
    const one = await Process.begin('one');
    const id = await one.start(graph(chain(waits, done('out', lit(1)))));
    await one.store.lookAfter();
    expect(await one.journal.index.nextDue(0)).toBe(one.clock.now() + 100_000);
    one.clock.pass(100_000);
    await one.store.lookAfter();
    one.clock.pass(0);
    await settle();
    await one.store.atRest();
    expect(await one.get(id)).toMatchObject({ envelope: { status } });
  });

  test('count the runs of each other, and those that begin at once', async () => {
    const limits = { maxOpenRuns: 5 };
    const [one, other] = [await Process.begin('one', {}, limits), await Process.begin('other', {}, limits)];
    for (let run = 0; run < 3; run += 1) await one.start(asking);
    await one.store.lookAfter();
    const starts = [1, 2, 3, 4].map(() =>
      other.store.start({ owner: ada, graph: asking, input: {} }, waiter()),
    );
    const codes = (await Promise.all(starts)).map(codeOf);
    expect(codes.sort()).toEqual(['RESOURCE_EXHAUSTED', 'RESOURCE_EXHAUSTED', 'accepted', 'accepted']);
    const ofBob = await one.store.start({ owner: bob, graph: asking, input: {} }, waiter());
    expect(codeOf(ofBob)).toBe('accepted');
  });

  test('list the runs of a caller in parts', async () => {
    const one = await Process.begin('one', {}, { maxOpenRuns: 200, maxPendingActions: 200 });
    const begun: string[] = [];
    for (let run = 0; run < 120; run += 1)
      begun.unshift(await one.start(run % 40 === 0 ? graph(chain(done('out', lit(1)))) : asking));
    await one.store.lookAfter();
    const ids = async (query: Parameters<RunStore['list']>[1]) =>
      (await one.store.list(ada, query)).map(({ workflow_id }) => workflow_id);
    expect(await ids({})).toEqual(begun);
    expect(await ids({ limit: 2, before: begun[9] ?? '' })).toEqual(begun.slice(10, 12));
    expect(await ids({ status: 'completed' })).toEqual([begun[39], begun[79], begun[119]]);
    expect(await ids({ status: 'waiting', limit: 3, before: begun[38] ?? '' })).toEqual(begun.slice(40, 43));
    expect(await ids({ status: 'running' })).toEqual([]);
  });

  test('leave an answer to the one that holds the run', async () => {
    let release = (): void => {};
    const blocked = new Promise<void>((resolve) => {
      release = resolve;
    });
    const both = graph(chain(call('a'), ask('sure'), done('out', step('sure'))));
    const one = await Process.begin('one', { 'tool-a': () => blocked.then(() => ok(1)) });
    const other = await Process.begin('other');
    const started = one.start(both);
    await expect.poll(() => one.calls).toEqual(['tool-a']);
    const [{ workflow_id: id = '' } = {}] = await other.store.list(ada);
    expect(await other.get(id)).toMatchObject({ envelope: { status: 'running' } });
    const cancelled = other.store.cancel(ada, id, { reason: 'enough' }, waiter());
    expect(await cancelled).toMatchObject({
      envelope: { status: 'cancelled', error: { message: 'The run was cancelled: enough' } },
    });
    release();
    await started;
    expect(other.calls).toEqual([]);
    expect(await one.get(id)).toEqual(await other.get(id));
  });

  const ROUNDS = isNightly ? 1_000 : 20;

  test('consume an answer once when both take it, and give the same response', {
    timeout: 300_000,
  }, async () => {
    const [one, other] = [await Process.begin('one'), await Process.begin('other')];
    for (let round = 0; round < ROUNDS; round += 1) {
      const id = await (round % 2 === 0 ? one : other).start(asking);
      const [first, second] = await Promise.all([
        one.submit(id, 'sure#1', true),
        other.submit(id, 'sure#1', true),
      ]);
      expect(first).toMatchObject({ ok: true, envelope: { status: 'waiting' } });
      expect(second).toEqual(first);
      const events = await one.journal.events(id);
      expect(events.filter(({ kind }) => kind === 'actionSubmitted')).toHaveLength(1);
      const two = await Promise.all([one.submit(id, 'still#1', true), other.submit(id, 'still#1', false)]);
      // The later one does not change how the run ended.
      expect(two.map(codeOf).toSorted()).toEqual(['ALREADY_SUBMITTED', 'accepted']);
    }
    expect(one.calls.length + other.calls.length).toBe(ROUNDS);
  });

  test('do not report an answer as accepted that could not be written', async () => {
    const one = await Process.begin('one');
    const id = await one.start(asking);
    const append = vi.spyOn(one.journal, 'append').mockRejectedValue(new Error('the disk failed'));
    const answer = await one.submit(id, 'sure#1', true);
    expect(answer).toMatchObject({ ok: false, failure: { code: 'E_JOURNAL' } });
    expect(append).toHaveBeenCalledTimes(3);
    const events = await one.journal.events(id);
    expect(events.filter(({ kind }) => kind === 'actionSubmitted')).toEqual([]);
  });

  test('answer a caller whose response is in the file before its entry is known to be there', async () => {
    const one = await Process.begin('one');
    const id = await one.start(asking);
    await one.submit(id, 'sure#1', true);
    const append = one.journal.append.bind(one.journal);
    vi.spyOn(one.journal, 'append').mockImplementation(async (entry) => {
      await append(entry);
      // It looks for responses, and finds that of the entry.
      void one.get(id);
      for (let turn = 0; turn < 20; turn += 1) await settle();
    });
    const both = await Promise.all([one.submit(id, 'still#1', true), one.submit(id, 'still#1', false)]);
    expect(both.map(codeOf)).toEqual(['accepted', 'ALREADY_SUBMITTED']);
  });

  test('go on with the run of the other when that one is gone, and not before', async () => {
    const one = await Process.begin('one', { 'tool-a': never });
    const other = await Process.begin('other');
    void one.start(graph(chain(call('a'), done('out', step('a')))));
    await expect.poll(() => one.calls).toEqual(['tool-a']);
    await pass(10_000, one, other);
    expect(other.calls).toEqual([]);
    await pass(1_250, other);
    await other.store.atRest();
    const [{ workflow_id: id = '' } = {}] = await other.store.list(ada);
    expect(other.calls).toEqual(['tool-a']);
    expect(await other.get(id)).toMatchObject({ envelope: { status: 'completed' } });
    expect(await one.get(id)).toEqual(await other.get(id));
  });

  test('pause a call that may not be repeated, in each of them', async () => {
    const one = await Process.begin('one', { 'tool-charge': never });
    const other = await Process.begin('other');
    void one.start(graph(chain(call('charge'), done('out', step('charge')))));
    await expect.poll(() => one.calls).toEqual(['tool-charge']);
    const early = await Process.begin('early');
    expect(await early.store.list(ada)).toMatchObject([{ status: 'running' }]);
    await pass(1_500, other);
    await other.store.atRest();
    const [{ workflow_id: id = '' } = {}] = await other.store.list(ada);
    const third = await Process.begin('third');
    for (const process of [other, early, third]) {
      // The one that looked before has the run until its release is written.
      await expect
        .poll(() => process.get(id))
        .toMatchObject({
          envelope: { status: 'waiting', paused_steps: [{ step_id: 'charge' }] },
        });
      expect(process.calls).toEqual([]);
    }
    expect(await third.store.cancel(ada, id, {}, waiter())).toMatchObject({
      envelope: { status: 'cancelled', error: { unknown_outcomes: [{ step: 'charge' }] } },
    });
  });

  test('take the decision of an operator about a paused call, whichever has the run', async () => {
    const run = async (): Promise<readonly [string, Process]> => {
      const one = await Process.begin('one', { 'tool-charge': never });
      void one.start(graph(chain(call('charge'), done('out', step('charge')))));
      await expect.poll(() => one.calls).toEqual(['tool-charge']);
      await one.end();
      const other = await Process.begin('other', { 'tool-charge': async () => ok('again') });
      const [{ workflow_id: id = '' } = {}] = await other.store.list(ada);
      expect(await other.get(id)).toMatchObject({ envelope: { paused_steps: [{ step_id: 'charge' }] } });
      return [id, other];
    };
    const ann = { kind: 'operator', name: 'ann', reason: 'seen in the bank' } as const;
    let items = 0;
    const send = async (id: string, process: Process, command: OperatorCommand): Promise<Json> => {
      const operator = await SqliteJournal.open(sharedFile(), { pollMs: 1 });
      const item = operatorItem({ run: id, id: `item-${++items}`, at: 7 }, command, ann);
      const response = request(operator, item);
      for (let round = 0; round < 20; round += 1) {
        await settle();
        await process.store.lookAfter();
      }
      const given = await response;
      await operator.close();
      return given;
    };

    const [first, one] = await run();
    const misfit = { command: 'decide', step: 'charge', outcome: { kind: 'happened', value: 3 } } as const;
    expect(await send(first, one, misfit)).toMatchObject({ ok: false, failure: { code: 'E_OUTPUT_SCHEMA' } });
    const value = { ...misfit, outcome: { kind: 'happened', value: 'paid' } } as const;
    expect(await send(first, one, { ...value, step: 'other' })).toMatchObject({
      ok: false,
      failure: { code: 'E_NOT_PAUSED', details: { paused_steps: ['charge'] } },
    });
    expect(await send(first, one, value)).toEqual({ ok: true });
    await one.store.atRest();
    expect(await one.get(first)).toMatchObject({ envelope: { status: 'completed', result: 'paid' } });
    expect(one.calls).toEqual([]);
    const events = await one.journal.events(first);
    expect(events.filter(({ kind }) => kind === 'outcomeDecided')).toMatchObject([{ by: ann }]);

    for (const command of [
      { command: 'decide', step: 'charge', outcome: { kind: 'didNotHappen' } },
      { command: 'retry', step: 'charge' },
    ] as const) {
      const [id, process] = await run();
      expect(await send(id, process, command)).toEqual({ ok: true });
      await process.store.atRest();
      expect(await process.get(id)).toMatchObject({ envelope: { status: 'completed', result: 'again' } });
      expect(process.calls).toEqual(['tool-charge']);
    }

    const [cancelled, process] = await run();
    expect(await send(cancelled, process, { command: 'cancel', reason: 'enough' })).toEqual({ ok: true });
    expect(await process.get(cancelled)).toMatchObject({ envelope: { status: 'cancelled' } });
  });

  test('take the answer of an operator to a question that it may not answer as a caller', async () => {
    const one = await Process.begin('one');
    const asked = graph(
      chain(
        ask('sure', 'confirm', { answerBy: [{ kind: 'role', role: 'lead' }] }),
        done('out', step('sure')),
      ),
    );
    const id = await one.start(asked);
    const by = { kind: 'operator', name: 'ann' } as const;
    const answer = (result: Json) => ({ command: 'answer', actionId: 'sure#1', result }) as const;
    const item = { run: id, at: 7 };
    expect(await request(one.journal, operatorItem({ ...item, id: 'i' }, answer(3), by))).toMatchObject({
      ok: false,
      failure: { code: 'E_RESULT_SHAPE' },
    });
    expect(await request(one.journal, operatorItem({ ...item, id: 'j' }, answer(true), by))).toMatchObject({
      ok: true,
    });
    await one.store.atRest();
    expect(await one.get(id)).toMatchObject({ envelope: { status: 'completed' } });
    const events = await one.journal.events(id);
    expect(events.filter(({ kind }) => kind === 'actionSubmitted')).toMatchObject([{ by }]);
  });

  test('fire a timer once', async () => {
    const sleeping = graph(
      chain(wait('nap', { durationMs: lit(100_000) }), call('a'), done('out', step('a'))),
    );
    const processes = [await Process.begin('one'), await Process.begin('two'), await Process.begin('three')];
    const id = await processes[0]?.start(sleeping);
    await Promise.all(processes.map(({ store }) => store.list(ada)));
    for (const { clock } of processes) clock.pass(101_000);
    await Promise.all(processes.map(({ store }) => store.lookAfter()));
    for (let round = 0; round < 50; round += 1) {
      await settle();
      for (const { clock } of processes) clock.pass(1);
    }
    await Promise.all(processes.map(({ store }) => store.atRest()));
    expect(processes.flatMap(({ calls }) => calls)).toEqual(['tool-a']);
    for (const each of processes)
      expect(await each.get(id ?? '')).toMatchObject({ envelope: { status: 'completed' } });
  });

  test('go on with runs beside one that they cannot read, which is logged once', async () => {
    const one = await Process.begin('one', { 'tool-a': never });
    for (let run = 0; run < 2; run += 1) void one.start(graph(chain(call('a'), done('out', step('a')))));
    await expect.poll(() => one.calls).toEqual(['tool-a', 'tool-a']);
    await one.end();
    const database = new sqlite.DatabaseSync(sharedFile());
    database.exec("UPDATE state SET row = '{' WHERE run = 1");
    database.close();
    const other = await Process.begin('other');
    for (let round = 0; round < 3; round += 1) await other.store.lookAfter();
    await other.store.atRest();
    // It is not denied.
    expect(await other.store.list(ada)).toMatchObject([{ status: 'completed' }, { unreadable: 'damaged' }]);
    const [, { workflow_id = '' } = {}] = await other.store.list(ada);
    await expect(other.get(workflow_id)).rejects.toMatchObject({
      name: 'UnreadableRunError',
      isDamaged: true,
    });
    expect(other.log.filter((text) => text.includes('does not go on in this process'))).toHaveLength(1);
  });

  test('leave their open runs to each other when they end', async () => {
    const one = await Process.begin('one', { 'tool-a': never });
    const other = await Process.begin('other');
    void one.start(graph(chain(call('a'), done('out', step('a')))));
    await expect.poll(() => one.calls).toEqual(['tool-a']);
    await one.end();
    await other.store.lookAfter();
    await other.store.atRest();
    expect(await other.store.list(ada)).toMatchObject([{ status: 'completed' }]);
  });
});
