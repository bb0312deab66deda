import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { beforeAll, expect, inject, onTestFinished, test } from 'vitest';
import { ask, body, parallel } from '../../src/runtime/engine/constructs.fixture.js';
import { call, chain, graph } from '../../src/runtime/engine/graph.fixture.js';
import { ada, bob, codeOf, ok } from '../../src/runtime/runs/store.fixture.js';
import { temporal } from '../../src/temporal/index.js';
import { workflowIdOf } from '../../src/temporal/protocol.js';
import { desk } from '../e2e/composite/fixture/registry.js';
import * as steps from '../e2e/composite/fixture/workflows.js';
import { listening } from '../e2e/composite/http.js';
import { envelope, post } from '../e2e/eras/client.js';
import { isNightly } from '../nightly.js';
import { describeNightly, describeTemporal, TemporalHost } from './host.js';

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
  beforeAll(() => host.open());

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
    await host.open();
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

  test('has no request that lacks a member, which a server does not send', async () => {
    const { workflow_id: id } = await host.start(graph(chain(ask('one'))));
    const handle = client.workflow.getHandle(workflowIdOf(id));
    const { historyLength } = await handle.describe();
    const waiting = { caller: ada, id, requestId: '1', answerMs: 1_000 };
    const requests: readonly [string, unknown, string][] = [
      ['submit_result', waiting, 'submission'],
      ['submit_result', { ...waiting, submission: null }, 'submission'],
      ['get_next_step', { ...waiting, answerMs: '1' }, 'answerMs'],
      ['cancel_workflow', undefined, 'caller'],
      ['operate', { run: id, id: '1' }, 'content'],
      ['migrate', { graph: {} }, 'tools'],
    ];
    for (const [name, request, member] of requests) {
      const refusal = await handle
        .executeUpdate(name, { args: [request] })
        .catch((error: Error) => error.cause);
      expect(refusal).toMatchObject({
        message: expect.stringMatching(`^'${name}' was sent without '${member}'`),
      });
    }
    expect((await handle.describe()).historyLength).toBe(historyLength);
    expect((await host.submit(id, true)).status).toBe('completed');
  });
});

describeNightly('more answers at once than Temporal lets wait in one workflow', () => {
  const host = new TemporalHost({ 'tool-slow': async () => ok(await delay(1_000, true)) });
  beforeAll(() => host.open());

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

describeTemporal('the state of a request with questions', () => {
  const two = steps.workflow('two', [
    steps.ask('sure'),
    steps.ask('note', { mode: 'text', after: ['sure'] }),
    steps.returns(steps.step('note', 'input')),
  ]);
  const taskQueue = `test-${randomUUID()}`;
  const serve = (letter: string, worker: boolean): Promise<URL> => {
    const at = { address: inject('temporalAddress') ?? '', taskQueue, worker };
    const { server } = desk({
      workflows: [{ graph: two }],
      store: temporal({ ...at, bundlePath: inject('temporalBundle') }),
      questions: { key: letter.repeat(32) },
    });
    onTestFinished(() => server.stop());
    return listening(server);
  };
  const called = async (url: URL, more: object = {}) => {
    const params = { name: 'w_two', arguments: {}, _meta: envelope({ elicitation: { form: {} } }), ...more };
    const response = await post(url, 'tools/call', { params, headers: { 'mcp-name': 'w_two' } });
    return (await response.json()) as {
      readonly result?: { readonly requestState?: string; readonly inputRequests?: object };
      readonly error?: object;
    };
  };
  const accept = (content: object) => ({ action: 'accept', content });

  test('is read by each server with the same key, and by no other', async () => {
    const [one, same, other] = [await serve('a', true), await serve('a', false), await serve('b', false)];
    const { result: first } = await called(one);
    expect(first).toMatchObject({ inputRequests: { 'sure#1': {} } });
    const sure = {
      requestState: first?.requestState,
      inputResponses: { 'sure#1': accept({ confirmed: true }) },
    };
    expect(await called(other, sure)).toMatchObject({
      error: { code: -32_602, message: 'Invalid or expired requestState' },
    });
    const { result: second } = await called(same, sure);
    expect(second).toMatchObject({ inputRequests: { 'note#1': {} } });
    const note = {
      requestState: second?.requestState,
      inputResponses: { 'note#1': accept({ input: 'fine' }) },
    };
    expect(await called(one, note)).toMatchObject({ result: { structuredContent: { result: 'fine' } } });
  }, 60_000);
});
