import { setTimeout as delay } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { beforeAll, expect, inject, test } from 'vitest';
import { ask, body, parallel } from '../../src/runtime/engine/constructs.fixture.js';
import { call, chain, graph } from '../../src/runtime/engine/graph.fixture.js';
import { ada, bob, codeOf, ok } from '../../src/runtime/runs/store.fixture.js';
import { workflowIdOf } from '../../src/temporal/protocol.js';
import { isNightly } from '../nightly.js';
import { describeTemporal, TemporalHost } from './host.js';

const PAIRS = isNightly ? 1_000 : 5;

describeTemporal('two answers at once', () => {
  const payments = new Map<string, number>();
  const host = new TemporalHost({
    'tool-pay': (_input, { origin }) => {
      const run = origin?.source === 'workflow' ? origin.run : '';
      payments.set(run, (payments.get(run) ?? 0) + 1);
      return ok(null);
    },
  });
  beforeAll(() => host.store.open?.());

  test(
    `are accepted once, in ${PAIRS} runs`,
    async () => {
      const steps = graph(chain(ask('sure'), call('pay'), ask('next')));
      let next = 0;
      const lane = async (): Promise<void> => {
        while (next < PAIRS) {
          next += 1;
          const { workflow_id: id } = await host.start(steps);
          const send = (result: boolean) =>
            host.store.submit(ada, id, { actionId: 'sure#1', result }, host.waiter());
          const answers = await Promise.all([send(true), send(false)]);
          expect(answers.map(codeOf).sort()).toEqual(['ALREADY_SUBMITTED', 'accepted']);
          const winner = codeOf(answers[0]) === 'accepted';
          expect(await send(winner)).toEqual(answers[winner ? 0 : 1]);
          await host.store.cancel(ada, id, {}, host.waiter());
        }
      };
      await Promise.all(Array.from({ length: 10 }, lane));
      expect(payments.size).toBe(PAIRS);
      expect(Math.max(...payments.values())).toBe(1);
    },
    60_000 + 300 * PAIRS,
  );
});

describeTemporal('the history of a run', () => {
  const host = new TemporalHost();
  let client: Client;
  beforeAll(async () => {
    await host.store.open?.();
    const connection = await Connection.connect({ address: inject('temporalAddress') ?? '' });
    client = new Client({ connection });
    return () => connection.close();
  });

  const updatesOf = async (id: string): Promise<number> => {
    const { events = [] } = await client.workflow.getHandle(workflowIdOf(id)).fetchHistory();
    return (events ?? []).filter((event) => event.workflowExecutionUpdateAcceptedEventAttributes).length;
  };

  test('has an answer once that is sent again, and gives it the first response', async () => {
    const { workflow_id: id } = await host.start(graph(chain(ask('one'), ask('two'))));
    const before = await updatesOf(id);
    const send = () => host.store.submit(ada, id, { actionId: 'one#1', result: true }, host.waiter());
    const [first, second] = await Promise.all([send(), send()]);
    expect(first).toMatchObject({ ok: true, envelope: { action: { action_id: 'two#1' } } });
    expect(second).toEqual(first);
    await host.submit(id, true, 'two#1');
    expect(await updatesOf(id)).toBe(before + 2);
  });

  test('does not keep an answer from its action that was sent before that was open', async () => {
    const { workflow_id: id } = await host.start(graph(chain(ask('one'), ask('two'))));
    const send = () => host.store.submit(ada, id, { actionId: 'two#1', result: true }, host.waiter());
    expect(await send()).toMatchObject({ ok: false });
    await host.submit(id, true, 'one#1');
    expect(await send()).toMatchObject({ ok: true, envelope: { status: 'completed' } });
  });

  test('has no request of a caller that has no part in the run', async () => {
    const { workflow_id: id } = await host.start(graph(chain(ask('one'))));
    const before = await updatesOf(id);
    const answer = await host.store.submit(bob, id, { actionId: 'one#1', result: true }, host.waiter());
    expect(codeOf(answer)).toBe('WORKFLOW_NOT_FOUND');
    expect(await updatesOf(id)).toBe(before);
  });
});

describeTemporal('more answers at once than Temporal lets wait in one workflow', () => {
  const host = new TemporalHost({ 'tool-slow': async () => ok(await delay(1_000, true)) });
  beforeAll(() => host.store.open?.());

  test('all take effect', { timeout: 90_000 }, async () => {
    const names = Array.from({ length: 15 }, (_, index) => `p${index}`);
    const arms = names.map((name) => {
      const slow = call(`slow-${name}`, {}, { tool: 'tool-slow' });
      return [name, body(chain(ask(name), slow))] as const;
    });
    const { workflow_id: id } = await host.start(graph([parallel('all', Object.fromEntries(arms))]));
    const answers = await Promise.all(
      names.map((name) =>
        host.store.submit(
          ada,
          id,
          { actionId: `${name}#1`, result: true },
          host.waiter({ answerMs: 60_000 }),
        ),
      ),
    );
    expect(answers.map(codeOf)).toEqual(names.map(() => 'accepted'));
    await expect.poll(async () => (await host.get(id)).status, { timeout: 20_000 }).toBe('completed');
  });
});
