import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { isNightly } from '../../../test/nightly.js';
import type { Json } from '../../graph/json.js';
import { ask, body, parallel } from '../engine/constructs.fixture.js';
import { call, chain, done, graph, step } from '../engine/graph.fixture.js';
import { FaultyJournal } from './store/faulty-journal.fixture.js';
import { type InboxItem, type JournalEntry, JournalFailedError, request } from './store/journal.js';
import { MemoryJournal } from './store/memory-journal.js';
import { ada, codeOf, envelopeIn, never, ok, Store, settle } from './store.fixture.js';

const sure = graph(
  chain(ask('sure'), call('a', {}, { after: ['sure'] }), done('out', step('sure', 'confirmed'))),
);
const tools = { 'tool-a': () => ok(null) };

/** A journal whose writes wait until they are let through. */
class HeldJournal extends MemoryJournal {
  isHeld = false;
  readonly #held: (() => void)[] = [];

  override async append(entry: JournalEntry): Promise<void> {
    if (this.isHeld) await new Promise<void>((resolve) => this.#held.push(resolve));
    return super.append(entry);
  }

  release(): void {
    this.isHeld = false;
    for (const pass of this.#held.splice(0)) pass();
  }
}

/** Whether a promise has settled when everything has happened that needs no time. */
async function hasSettled(promise: Promise<unknown>): Promise<boolean> {
  let isSettled = false;
  void promise.finally(() => {
    isSettled = true;
  });
  await settle();
  await settle();
  return isSettled;
}

describe('a store with a journal', () => {
  test('tells callers nothing that is not written', async () => {
    const journal = new HeldJournal();
    const store = new Store({ 'tool-a': never }, {}, journal);
    journal.isHeld = true;
    const starting = store.start(sure);
    expect(await hasSettled(starting)).toBe(false);
    journal.release();
    expect((await starting).status).toBe('waiting');

    journal.isHeld = true;
    const answering = store.submit('run-1', { result: true });
    await settle();
    const asked = store.get('run-1');
    const listed = store.store.list(ada);
    const refused = store.submit('run-1', { actionId: 'nowhere#1', result: true });
    for (const reply of [answering, asked, listed, refused]) expect(await hasSettled(reply)).toBe(false);
    journal.release();
    expect(await asked).toMatchObject({ status: 'running', running_steps: ['a'] });
    expect(await listed).toMatchObject([{ status: 'running', open_actions: [] }]);
    expect(codeOf(await refused)).toBe('UNKNOWN_ACTION');
  });

  test('an answer in the process that executes the run is written with its transition alone', async () => {
    const journal = new MemoryJournal();
    const send = vi.spyOn(journal, 'send');
    const store = new Store(tools, {}, journal);
    await store.start(sure);
    expect(envelopeIn(await store.submit('run-1', { actionId: 'sure#1', result: true })).status).toBe(
      'completed',
    );
    const entries = journal.read('run-1')?.entries ?? [];
    expect(entries.flatMap(({ consumed = [] }) => consumed)).toEqual([]);
    expect(send).not.toHaveBeenCalled();
  });

  test('an answer is kept with who gave it, and so is who cancels', async () => {
    const journal = new MemoryJournal();
    const store = new Store({ 'tool-a': never }, {}, journal);
    await store.start(sure);
    void store.submit('run-1', { actionId: 'sure#1', result: true });
    await settle();
    await settle();
    const { state, entries } = journal.read('run-1') ?? {};
    expect(state?.submissions.get('sure#1')).toEqual({
      ...{ at: expect.any(Number), by: ada, value: { confirmed: true } },
    });
    expect(entries?.at(-1)?.events).toMatchObject([
      { kind: 'actionSubmitted', by: ada, id: expect.any(String) },
    ]);
    store.store.endAll('the process ends');
    await settle();
    expect(journal.read('run-1')?.entries.at(-1)?.events).toMatchObject([
      { kind: 'cancelled', by: { kind: 'system' } },
    ]);
  });

  test('what another process sends is applied, and that process told', async () => {
    const journal = new MemoryJournal();
    const store = new Store(tools, {}, journal);
    await store.start(sure);
    const item = (id: string, kind: InboxItem['kind'], content: Record<string, Json>): InboxItem => ({
      ...{ run: 'run-1', id, kind, at: 1, by: { ...ada }, content },
    });
    expect(await request(journal, item('1', 'operator', { retry: 'sure' }))).toMatchObject({
      failure: { code: 'E_UNSUPPORTED' },
    });
    expect(await request(journal, item('2', 'answer', { action_id: 'sure#1', result: 'no' }))).toMatchObject({
      failure: { code: 'E_RESULT_SHAPE' },
    });
    const answer = { action_id: 'sure#1', result: true };
    const accepted = { ok: true, action_id: 'sure#1', warnings: [] };
    expect(await request(journal, item('3', 'answer', answer))).toEqual(accepted);
    await settle();
    expect((await store.get('run-1')).status).toBe('completed');
    expect(envelopeIn(await store.submit('run-1', { actionId: 'sure#1', result: true })).status).toBe(
      'completed',
    );
    const other = await store.submit('run-1', { actionId: 'sure#1', result: false });
    expect(codeOf(other)).toBe('ALREADY_SUBMITTED');
  });

  test('so is a cancellation', async () => {
    const journal = new MemoryJournal();
    const store = new Store(tools, {}, journal);
    await store.start(sure);
    const cancelled = await store.store.cancel(ada, 'run-1', { reason: 'enough' }, store.waiter());
    expect(envelopeIn(cancelled)).toMatchObject({
      status: 'cancelled',
      error: { message: expect.stringContaining('enough') },
    });
    expect(await journal.inbox('run-1')).toEqual([]);
    expect(journal.read('run-1')?.entries.at(-1)?.events).toMatchObject([
      { kind: 'cancelled', id: expect.any(String), by: ada },
    ]);
  });

  test('a run whose start cannot be written does not begin', async () => {
    const store = new Store(tools, {}, new FaultyJournal(() => 'before'));
    await expect(store.start(sure)).rejects.toThrow(JournalFailedError);
    expect(await store.store.list(ada)).toEqual([]);
    expect(store.log.join()).toContain('the disk is full');
    expect(store.clock.pending).toBe(0);
  });

  test('a run that cannot be written any more ends with E_JOURNAL, and its caller is told', async () => {
    let isFull = false;
    const store = new Store(tools, {}, new FaultyJournal(() => (isFull ? 'before' : undefined)));
    await store.start(sure);
    isFull = true;
    const envelope = envelopeIn(await store.submit('run-1', { result: true }));
    expect(envelope).toMatchObject({ status: 'failed', error: { code: 'E_JOURNAL' } });
    expect(envelope.error?.message).toContain('the disk is full');
  });

  test.each(['before', 'after'] as const)(
    'whichever write fails %s it: each answer is accepted once',
    async (how) => {
      for (let failing = 1; failing <= 4; failing += 1) {
        let calls = 0;
        const journal = new FaultyJournal((write) => (write === failing ? how : undefined));
        const store = new Store({ 'tool-a': () => ok(++calls) }, {}, journal);
        await store.start(sure);
        const answers = await Promise.all(
          [1, 2].map(() => store.submit('run-1', { actionId: 'sure#1', result: true })),
        );
        for (const answer of answers) expect(envelopeIn(answer).status).toBe('completed');
        expect(answers[1]).toEqual(answers[0]);
        expect(calls).toBe(1);
        const other = await store.submit('run-1', { actionId: 'sure#1', result: 7 });
        expect(codeOf(other)).toBe('ALREADY_SUBMITTED');
      }
    },
  );
});

test('many questions are answered in any order, each once, with a journal that fails now and then', async () => {
  const names = Array.from({ length: 8 }, (_, index) => `q${index}`);
  const branches = Object.fromEntries(names.map((name) => [name, body([ask(name, 'text')], step(name))]));
  const of = graph([parallel('all', branches), done('out', step('all'), { after: ['all'] })]);
  const fault = fc.constantFrom(undefined, undefined, undefined, 'before' as const, 'after' as const);
  const order = fc.shuffledSubarray([...names, ...names], { minLength: names.length * 2 });
  await fc.assert(
    fc.asyncProperty(
      order,
      fc.array(fault, { maxLength: 20 }),
      fc.boolean(),
      async (sent, faults, hasJournal) => {
        let inRow = 0;
        const journal = new FaultyJournal((write) => {
          const how = inRow < 2 ? faults[write - 1] : undefined;
          inRow = how === undefined ? 0 : inRow + 1;
          return how;
        });
        const store = new Store({}, {}, hasJournal ? journal : undefined);
        await store.start(of);
        const answers = await Promise.all(
          sent.map((name) => store.submit('run-1', { actionId: `${name}#1`, result: name })),
        );
        expect(answers.map(codeOf)).toEqual(sent.map(() => 'accepted'));
        expect(await store.get('run-1')).toMatchObject({
          status: 'completed',
          result: Object.fromEntries(names.map((name) => [name, { input: name }])),
        });
        for (const name of names) {
          const others = answers.filter((_, index) => sent[index] === name);
          expect(others[1]).toEqual(others[0]);
        }
      },
    ),
    { numRuns: isNightly ? 60 : 15 },
  );
});

test('an answer that is changed after it was handed in does not change the run', async () => {
  const store = new Store({ 'tool-a': never });
  const given = graph(
    chain(
      ask('what', 'yield', { expects: {} }),
      call('a', {}, { after: ['what'] }),
      done('out', step('what')),
    ),
  );
  const result = { list: [1] };
  await store.start(given);
  await Promise.race([store.submit('run-1', { result }), settle()]);
  result.list.push(2);
  const envelope = envelopeIn(await store.store.cancel(ada, 'run-1', {}, store.waiter()));
  expect(envelope.error?.partial).toEqual({ what: { list: [1] } });
});
