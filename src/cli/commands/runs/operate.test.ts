import { expect, test, vi } from 'vitest';
import type { JsonObject } from '../../../graph/json.js';
import { ask } from '../../../runtime/engine/constructs.fixture.js';
import { call, chain, done, graph, step } from '../../../runtime/engine/graph.fixture.js';
import { never, ok } from '../../../runtime/runs/store.fixture.js';
import { runRef } from '../../../runtime/tools/port.js';
import { runs, ServedStore } from './store.fixture.js';

const store = new ServedStore();

const paying = graph(chain(call('pay'), done('out', step('pay'))));

/** A run whose server was stopped in a call that may not be repeated. Another server has the store. */
async function paused(of = paying, calls = 1): Promise<string> {
  let made = 0;
  for (const name of ['tool-pay', 'tool-ship']) {
    store.tools[name] = () => {
      made += 1;
      return never();
    };
  }
  void store.start(of).catch(() => {});
  await vi.waitFor(() => expect(made).toBe(calls), { timeout: 20_000 });
  await store.close();
  store.tools = {};
  const ref = runRef(`run-${store.started}`);
  await serve();
  await vi.waitFor(async () => expect((await shown(ref)).status).toBe('waiting'), { timeout: 20_000 });
  return ref;
}

const serve = (): Promise<void> => store.served({ leaseMs: 400 }).resumeAll();

async function shown(ref: string): Promise<JsonObject> {
  const { out } = await runs('show', ref, '--store', `sqlite:${store.path}`, '--json');
  return JSON.parse(out) as JsonObject;
}

const on = (...args: readonly string[]) => runs(...args, '--store', `sqlite:${store.path}`);

const events = async (ref: string): Promise<string> => (await on('events', ref)).out;

test('a paused run is listed and shown with what to type', async () => {
  const ref = await paused();
  expect((await on('list', '--status', 'paused')).out).toContain(`${ref}  paused`);
  expect((await on('list', '--status', 'running')).out).toBe('');
  const { out } = await on('show', ref);
  expect(out).toContain('pay: tool-pay may have taken effect before its server stopped');
  expect(out).toContain(`stepwright runs answer ${ref} did-not-happen --call pay`);
  expect(await shown(ref)).toMatchObject({ paused_steps: [{ step_id: 'pay', tool: 'tool-pay' }] });
});

test('a call that happened gets the value that the operator knows, and is not made again', async () => {
  const ref = await paused();
  const made = vi.fn(async () => ok('again'));
  store.tools = { 'tool-pay': made };
  const answer = ['answer', ref, 'happened', '{"id": 7}', '--by', 'ann', '--reason', 'seen in the bank'];
  expect(await on(...answer)).toEqual({ code: 0, out: `run ${ref} has taken it\n`, err: '' });
  expect(await shown(ref)).toMatchObject({ status: 'completed', result: { id: 7 } });
  expect(made).not.toHaveBeenCalled();
  expect(await events(ref)).toMatch(/outcomeDecided .*"name":"ann","reason":"seen in the bank"/);
  const twice = await on(...answer);
  expect(twice).toMatchObject({ code: 1, err: expect.stringContaining('is completed') });
});

test('a call that did not happen is made, also where it is only repeated', async () => {
  for (const command of [['answer', 'did-not-happen'], ['retry']] as const) {
    const ref = await paused();
    store.tools = { 'tool-pay': async () => ok('paid') };
    const [name, ...given] = command;
    const { out } = await on(name, ref, ...given, '--json');
    expect(JSON.parse(out)).toEqual({ run: ref, outcome: 'applied' });
    await expect.poll(() => shown(ref)).toMatchObject({ result: 'paid' });
    expect(await events(ref)).toMatch(/"by":\{"kind":"operator","name":"[^"]+"\}/);
  }
});

test('of several paused calls one is named', async () => {
  const both = graph([call('pay'), call('ship')]);
  const ref = await paused(both, 2);
  const unnamed = await on('answer', ref, 'did-not-happen');
  expect(unnamed).toMatchObject({ code: 2, err: expect.stringContaining('one of `pay`, `ship`') });
  expect(await on('answer', ref, 'happened', '1', '--call', 'ship')).toMatchObject({ code: 0 });
  const again = await on('answer', ref, 'happened', '1', '--call', 'ship');
  expect(again).toMatchObject({ code: 1, err: expect.stringContaining("but that of 'pay' does") });
  store.tools = { 'tool-pay': async () => ok(1) };
  expect(await on('retry', ref)).toMatchObject({ code: 0 });
  await expect.poll(() => shown(ref)).toMatchObject({ status: 'completed' });
});

test('without a server a decision is stored, and the next server takes it', async () => {
  const ref = await paused();
  await store.close();
  const { code, out } = await on('answer', ref, 'happened', '"paid"', '--wait', '0');
  expect([code, out]).toEqual([0, expect.stringContaining('the next one that uses the store does')]);
  await serve();
  await expect.poll(() => shown(ref)).toMatchObject({ result: 'paid' });
});

test('a run is cancelled, and a question answered, in the place of those who may', async () => {
  const asking = graph(
    chain(ask('sure', 'confirm', { answerBy: [{ kind: 'role', role: 'lead' }] }), done('out', step('sure'))),
  );
  const first = runRef(await store.start(asking));
  const override = ['--action', 'sure#1', '--override', '--reason', 'the lead is away'];
  expect(await on('answer', first, '3', ...override)).toMatchObject({ code: 1 });
  expect(await on('answer', first, 'true', ...override)).toMatchObject({ code: 0 });
  expect(await shown(first)).toMatchObject({ status: 'completed', result: { confirmed: true } });
  expect(await events(first)).toMatch(/actionSubmitted .*"reason":"the lead is away"/);
  const second = runRef(await store.start(asking));
  expect(await on('cancel', second, '--reason', 'no longer needed')).toMatchObject({ code: 0 });
  expect(await shown(second)).toMatchObject({ status: 'cancelled' });
});

test.each<[readonly string[], string]>([
  [['answer'], 'needs a run'],
  [['answer', '../../etc/passwd', 'did-not-happen'], 'has no run `../../etc/passwd`'],
  [['answer', 'REF'], 'takes `happened VALUE`'],
  [['answer', 'REF', 'happened'], 'takes `happened VALUE`'],
  [['answer', 'REF', 'happened', '{'], 'VALUE is JSON'],
  [['answer', 'REF', 'did-not-happen', '1'], 'takes `happened VALUE`'],
  [['answer', 'REF', 'did-not-happen'], 'no call of run'],
  [['answer', 'REF', '1', '--action', 'sure#1'], 'needs `--override`'],
  [['answer', 'REF', '1', '2', '--action', 'sure#1', '--override', '--reason', 'x'], 'takes one VALUE'],
  [['answer', 'REF', 'did-not-happen', '--override'], 'needs `--action ID`'],
  [['retry', 'REF'], 'no call of run'],
  [['retry', 'REF', '--wait', '-1'], '--wait'],
  [['cancel'], 'needs a run'],
])('runs %j is refused: %s', async (args, expected) => {
  const ref = runRef(await store.start(graph([ask('sure')])));
  const { code, err } = await on(...args.map((arg) => (arg === 'REF' ? ref : arg)));
  expect([code, err]).toEqual([2, expect.stringContaining(expected)]);
});
