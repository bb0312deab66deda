import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { SchemaCompiler } from '../../formats/json-schema/schema-compiler.js';
import { ask, required, wait } from '../engine/constructs.fixture.js';
import { call, chain, done, graph, lit, step } from '../engine/graph.fixture.js';
import type { JournalRunStore } from './journal-run-store.js';
import { fileStore } from './operate/run-stores.js';
import { FakeClock } from './run/fake-clock.fixture.js';
import type { RunLimits, Waiter } from './run-store.js';
import { ada, bob, codeOf, envelopeIn, ok, settle } from './store.fixture.js';

let folder: string;
const opened: JournalRunStore[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'stepwright-runs-'));
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.close()));
  rmSync(folder, { recursive: true });
});

const signal = new AbortController().signal;
const waiter: Waiter = {
  answerMs: 45_000,
  request: { signal, requestId: '1', progress: () => {}, principal: ada },
};

let ids = 0;

/** A store on the file of the test, as a process has it. */
function open(clock: FakeClock, limits: Partial<RunLimits> = {}): JournalRunStore {
  const store = fileStore(join(folder, 'runs.db'), {
    calls: {
      callTool: async (_, input) => ok(input),
      readResource: async () => ({ ok: true, value: {} }),
      evaluate: async () => ok(null),
    },
    schemas: new SchemaCompiler(),
    clock,
    secretInputs: () => [],
    log: () => {},
    newRunId: () => `run-${++ids}`,
    limits,
  });
  opened.push(store);
  return store;
}

const asking = graph(chain(ask('sure'), call('a'), done('out', step('sure'))));

test('a later process has the runs of an earlier one, with their owners, answers and limits', async () => {
  const clock = new FakeClock();
  const first = open(clock);
  const { workflow_id: id } = envelopeIn(await first.start({ owner: ada, graph: asking, input: {} }, waiter));
  const { workflow_id: other } = envelopeIn(
    await first.start({ owner: ada, graph: asking, input: {} }, waiter),
  );
  const answer = { actionId: 'sure#1', result: true };
  const accepted = await first.submit(ada, other, answer, waiter);
  const list = await first.list(ada);
  await first.close();

  const second = open(clock, { maxOpenRuns: 1 });
  expect(await second.list(ada)).toEqual(list);
  expect(codeOf(await second.get(bob, id))).toBe('WORKFLOW_NOT_FOUND');
  const refused = await second.start({ owner: ada, graph: asking, input: {} }, waiter);
  expect(codeOf(refused)).toBe('RESOURCE_EXHAUSTED');
  expect(await second.submit(ada, other, answer, waiter)).toEqual(accepted);
  expect(await second.submit(ada, id, answer, waiter)).toMatchObject({
    ok: true,
    envelope: { status: 'completed', result: { confirmed: true } },
  });
});

test('an answer of 5 MB is refused with the limit, and the question stays open', async () => {
  const store = open(new FakeClock());
  const text = graph(chain(ask('what', 'text'), done('out', step('what'))));
  const { workflow_id: id } = envelopeIn(await store.start({ owner: ada, graph: text, input: {} }, waiter));
  const answer = { actionId: 'what#1', result: 'x'.repeat(5_000_000) };
  expect(await store.submit(ada, id, answer, waiter)).toMatchObject({
    ok: false,
    failure: { code: 'E_RESULT_TOO_LARGE', details: { limit: 4_194_304 } },
  });
  const fits = { actionId: 'what#1', result: 'x'.repeat(4_000_000) };
  expect(await store.submit(ada, id, fits, waiter)).toMatchObject({ envelope: { status: 'completed' } });
});

test('a clock in 1970 changes nothing: a run ends and is kept', async () => {
  const clock = new FakeClock();
  const store = open(clock);
  const { workflow_id: id } = envelopeIn(await store.start({ owner: ada, graph: asking, input: {} }, waiter));
  await store.submit(ada, id, { actionId: 'sure#1', result: true }, waiter);
  await store.close();
  expect(clock.now()).toBeLessThan(10_000);
  expect(await open(clock).get(ada, id)).toMatchObject({ envelope: { status: 'completed' } });
});

test('finished runs are forgotten by the limits of the store, also in the file', async () => {
  const clock = new FakeClock();
  const first = open(clock);
  const quick = graph(chain(call('a'), done('out', step('a'))));
  const begun = [];
  for (let run = 0; run < 3; run += 1)
    begun.push(envelopeIn(await first.start({ owner: ada, graph: quick, input: {} }, waiter)).workflow_id);
  await first.close();
  const second = open(clock, { maxFinishedRuns: 1 });
  expect((await second.list(ada)).map(({ workflow_id }) => workflow_id)).toEqual(begun.slice(2));
  await second.close();
  const third = open(clock);
  expect((await third.list(ada)).map(({ workflow_id }) => workflow_id)).toEqual(begun.slice(2));
  await third.close();
  clock.pass(30 * 86_400_000);
  expect(await open(clock).list(ada)).toEqual([]);
});

test('a run waits for an answer without a limit, unless one is given', async () => {
  const clock = new FakeClock();
  const first = open(clock);
  const { workflow_id: id } = envelopeIn(await first.start({ owner: ada, graph: asking, input: {} }, waiter));
  clock.pass(10 * 86_400_000);
  expect(await first.get(ada, id)).toMatchObject({ envelope: { status: 'waiting' } });
  await first.close();
  const second = open(clock, { idleMs: 5 });
  await second.get(ada, id);
  clock.pass(6);
  await settle();
  await second.atRest();
  expect(await second.get(ada, id)).toMatchObject({ envelope: { error: { code: 'E_IDLE' } } });
});

test('a time that came while no process ran moves its run on', async () => {
  const clock = new FakeClock();
  const first = open(clock);
  const sleeping = graph(chain(wait('pause', { durationMs: lit(60_000) }), done('out', lit(1))));
  const { workflow_id: id } = envelopeIn(
    await first.start({ owner: ada, graph: sleeping, input: {} }, waiter),
  );
  await first.close();
  clock.pass(120_000);
  const second = open(clock);
  await second.resumeAll();
  clock.pass(0);
  await settle();
  await second.atRest();
  expect(await second.get(ada, id)).toMatchObject({ envelope: { status: 'completed', result: 1 } });
});

test('a run of a workflow with secrets is not started', async () => {
  const store = open(new FakeClock());
  const secret = graph(chain(call('a')), { inputs: [{ ...required('pin'), secret: true }] });
  const refused = await store.start({ owner: ada, graph: secret, input: { pin: '4711' } }, waiter);
  expect(codeOf(refused)).toBe('E_STORE_SECRETS');
  expect(await store.list(ada)).toEqual([]);
});
