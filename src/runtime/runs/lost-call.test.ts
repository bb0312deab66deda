import { expect, test } from 'vitest';
import { call, chain, graph } from '../engine/graph.fixture.js';
import type { ToolOutcome } from '../tools/port.js';
import { ada, ok, Store, settle } from './store.fixture.js';

const LOST: ToolOutcome = {
  ok: false,
  attempted: true,
  isLost: true,
  failure: { code: 'E_CALL_LOST', message: 'It is gone', outcomeUnknown: true },
};

const steps = graph(chain(call('a', {}, { timeoutMs: 1_000 }), call('b')));

test('a call of a process that is gone is held, and has no limit any more', async () => {
  const store = new Store({ 'tool-a': () => LOST, 'tool-b': () => ok(1) });
  const { workflow_id, status, paused_steps } = await store.start(steps);
  expect([status, paused_steps]).toEqual(['waiting', [{ step_id: 'a', tool: 'tool-a' }]]);
  store.clock.pass(60_000);
  expect((await store.get(workflow_id)).status).toBe('waiting');
  await store.store.cancel(ada, workflow_id, {}, store.waiter());
  const { error } = await store.get(workflow_id);
  expect([error?.code, error?.outcome_unknown]).toEqual(['E_CANCELLED', true]);
});

test('a run that was cancelled does not wait for it', async () => {
  let lose = (_: ToolOutcome): void => {};
  const lost = new Promise<ToolOutcome>((resolve) => {
    lose = resolve;
  });
  const store = new Store({ 'tool-a': () => lost });
  const started = store.start(steps);
  await settle();
  const cancelled = store.store.cancel(ada, 'run-1', { compensate: true }, store.waiter());
  await settle();
  lose(LOST);
  expect((await started).status).toBe('cancelled');
  expect((await cancelled).ok).toBe(true);
});
