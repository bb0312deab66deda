import { Client, Connection, type WorkflowHandle, WorkflowUpdateStage } from '@temporalio/client';
import { beforeAll, expect, inject, test } from 'vitest';
import { runs } from '../../src/cli/commands/runs/store.fixture.js';
import { studioFor } from '../../src/cli/commands/studio.fixture.js';
import { packageVersion } from '../../src/formats/own-files.js';
import type { Graph, Node } from '../../src/graph/model.js';
import { planOf } from '../../src/plan/compile.js';
import { ask, undo } from '../../src/runtime/engine/constructs.fixture.js';
import { call, chain, done, graph, lit, step } from '../../src/runtime/engine/graph.fixture.js';
import { ada, codeOf, envelopeIn, ok } from '../../src/runtime/runs/store.fixture.js';
import { runRef } from '../../src/runtime/tools/port.js';
import { type CommandResponse, type RemoteMove, workflowIdOf } from '../../src/temporal/protocol.js';
import { operatorOf } from '../../src/temporal/temporal-operator.js';
import { nightlyTest } from '../nightly.js';
import { describeTemporal, TemporalHost } from './host.js';

interface Metadata {
  readonly currentDetails?: string;
}

/** What Temporal's web page shows of a run as it is. */
async function detailsOf(handle: WorkflowHandle): Promise<string | undefined> {
  return (await handle.query<Metadata>('__temporal_workflow_metadata')).currentDetails;
}

function textIn(payload: { readonly data?: Uint8Array | null } | null | undefined): string | undefined {
  const text = Buffer.from(payload?.data ?? []).toString();
  return text === '' ? undefined : JSON.parse(text);
}

describeTemporal('an operator of runs on Temporal', () => {
  const upstream: { isAway: boolean; release?: () => void } = { isAway: false };
  const calls: { readonly tool: string; readonly key: string | undefined }[] = [];
  const tool =
    (name: string, fails = false) =>
    (_: unknown, { idempotencyKey: key }: { readonly idempotencyKey?: string | undefined }) => {
      calls.push({ tool: name, key });
      if (!fails || !upstream.isAway) return ok(name);
      return { ok: false, attempted: true, failure: { code: 'E_AWAY', message: 'away' } } as const;
    };
  const host = new TemporalHost(
    {
      'tool-a': tool('a'),
      'undo-a': tool('undo'),
      'tool-b': tool('b', true),
      'tool-w': () =>
        new Promise((resolve) => {
          upstream.release = () => resolve(ok('w'));
        }),
    },
    { maxEvents: 40 },
  );
  const store = `temporal://${inject('temporalAddress')}/default?taskQueue=${host.taskQueue}`;
  const on = (...args: readonly string[]) => runs(...args, '--store', store);
  const json = async (...args: readonly string[]) => {
    const { code, out, err } = await on(...args, '--json');
    expect([code, err]).toEqual([0, '']);
    return JSON.parse(out);
  };
  const named = (name: string) => calls.filter(({ tool: each }) => each === name);
  const asking = graph(
    chain(call('a', {}, { compensate: undo('undo-a') }), ask('sure'), done('out', step('a'))),
    {
      name: 'asks',
    },
  );
  const failing = graph(chain(call('a'), call('b'), done('out', step('b'))), { name: 'fails' });
  let client: Client;

  beforeAll(async () => {
    await host.open();
    const connection = await Connection.connect({ address: inject('temporalAddress') ?? '' });
    client = new Client({ connection });
    return () => connection.close();
  });

  const headOf = async (ref: string) => {
    const [head] = await operatorOf(store).read((reader) => reader.find(ref));
    if (head === undefined) throw new Error('the run is not found');
    return head;
  };

  const start = async (of: typeof asking) => {
    calls.length = 0;
    const { workflow_id: id } = await host.start(of);
    return { id, ref: runRef(id) };
  };

  test('lists runs, shows one, and prints its log', async () => {
    const { id, ref } = await start(asking);
    await expect
      .poll(async () => (await json('list', '--workflow', 'asks')).runs, { timeout: 10_000 })
      .toMatchObject([{ run: ref, status: 'waiting', waits_for: [{ for: 'answer', of: 'sure#1' }] }]);
    expect((await json('list', '--status', 'paused')).runs).toEqual([]);
    const shown = await json('show', ref);
    expect(shown).toMatchObject({
      ...{ run: ref, status: 'waiting', owner: { kind: 'principal', subject: 'ada' }, entries: 2, calls: [] },
      steps: [{ status: 'succeeded' }, { step_id: 'sure', status: 'waiting' }, { status: 'pending' }],
      actions: [{ action_id: 'sure#1' }],
    });
    expect(JSON.stringify(shown)).not.toContain(id);
    expect(await json('show', id)).toEqual(shown);
    const { events } = await json('export', ref);
    expect(events).toMatchObject([{ entry: 2, kind: 'toolReturned', value: 'a' }]);
    const missing = await on('show', 'no-such-run');
    expect(missing).toMatchObject({ code: 2, err: expect.stringContaining('has no run `no-such-run`') });
  });

  nightlyTest('answers a question in the place of others, and the log has who did', async () => {
    const { id, ref } = await start(asking);
    const how = ['--action', 'sure#1', '--override', '--by', 'ann', '--reason', 'bob is ill'];
    expect(await json('answer', ref, 'true', ...how)).toEqual({ run: ref, outcome: 'applied' });
    expect((await host.get(id)).status).toBe('completed');
    expect((await on('events', ref)).out).toMatch(/actionSubmitted .*"name":"ann","reason":"bob is ill"/);
    expect(await json('show', ref)).toMatchObject({ status: 'completed', result: 'a' });
    const again = await on('answer', ref, 'true', ...how);
    expect(again).toMatchObject({ code: 1, err: expect.stringContaining('is completed') });
  });

  test('cancels a run, and undoes what it did', async () => {
    const { id, ref } = await start(asking);
    expect(await json('cancel', ref, '--compensate', '--reason', 'enough')).toMatchObject({
      outcome: 'applied',
    });
    await expect.poll(async () => (await host.get(id)).status, { timeout: 10_000 }).toBe('cancelled');
    expect((await host.get(id)).error).toMatchObject({ undone: ['a'] });
    expect(named('undo')).toHaveLength(1);
    const { id: other, ref: otherRef } = await start(asking);
    await host.store.cancel(ada, other, {}, host.waiter());
    const listed = async () => (await json('list', '--status', 'cancelled')).runs;
    await expect.poll(listed, { timeout: 10_000 }).toMatchObject([
      { run: otherRef, status: 'cancelled' },
      { run: ref, status: 'cancelled' },
    ]);
    expect((await json('list', '--status', 'failed')).runs).toEqual([]);
    expect(await json('show', ref)).toMatchObject({ status: 'cancelled', actions: [] });
    expect(await json('show', otherRef)).toMatchObject({ status: 'cancelled', actions: [] });
  });

  nightlyTest('has the calls made again that failed a run, with their keys', async () => {
    upstream.isAway = true;
    const { id, ref } = await start(failing);
    await expect.poll(async () => (await host.get(id)).status, { timeout: 10_000 }).toBe('failed');
    upstream.isAway = false;
    const retried = await on('retry', ref, '--by', 'ann');
    expect(retried).toEqual({ code: 0, out: `run ${ref} has taken it\n`, err: '' });
    await expect.poll(async () => (await host.get(id)).status, { timeout: 10_000 }).toBe('completed');
    expect(named('a')).toHaveLength(1);
    const [first, second] = named('b');
    expect(second?.key).toBe(first?.key);
    expect((await json('list', '--workflow', 'fails')).runs).toMatchObject([
      { run: ref, status: 'completed' },
    ]);
    const { out } = await on('events', ref);
    expect(
      out.match(/^ *\d+ .*/gm)?.map((line) => /toolReturned|toolFailed|retryRequested/.exec(line)?.[0]),
    ).toEqual([...['toolReturned', 'toolFailed', 'retryRequested', 'retryRequested', 'toolReturned']]);
  });

  nightlyTest('forks a run that has continued in another workflow', async () => {
    const many = Array.from({ length: 30 }, (_, index) => call(`n${index}`, {}, { tool: 'tool-a' }));
    const { id, ref } = await start(graph(chain(...many, ask('sure'), call('b')), { name: 'long' }));
    await expect.poll(async () => (await host.get(id)).action?.step_id, { timeout: 20_000 }).toBe('sure');
    expect(await json('show', ref)).toMatchObject({ entries: 31 });
    const handle = client.workflow.getHandle(workflowIdOf(id));
    expect(await detailsOf(handle)).toContain('- answer: `sure#1`');
    const stubbed = await json('fork', ref, '--at', '29');
    expect(stubbed.stubbed_calls).toMatchObject([{ step_id: 'n28' }, { step_id: 'n29' }]);
    calls.length = 0;
    const kept = await on('fork', ref, '--at', '29', '--real', '--yes');
    const [, fork = ''] = /run `([0-9a-f]{12})` begins/.exec(kept.out) ?? [];
    await expect.poll(async () => (await json('show', fork)).status, { timeout: 10_000 }).toBe('waiting');
    expect(named('a')).toHaveLength(2);
    expect(await json('show', fork)).toMatchObject({ forked_from: { run: ref, entry: 29 } });
    expect((await host.store.list(ada)).length).toBeGreaterThan(1);
  });

  nightlyTest('moves a run to the workflow as it is now, with what it did', async () => {
    const { id, ref } = await start(asking);
    const operator = operatorOf(store);
    const head = await headOf(ref);
    const migrate = async (of: Graph, applies: boolean) => {
      const more = { tools: {}, mapping: new Map(), secretInputs: () => [] };
      const target = { graph: of, hash: planOf(of).hash, ...more };
      for await (const { outcome } of operator.migrate([head], target, applies)) return outcome;
      return undefined;
    };
    const edited = graph(
      [
        ...chain(call('a', {}, { compensate: undo('undo-a') }), ask('sure'), call('b')),
        ask('extra'),
        done('out', step('b'), { after: ['b', 'extra'] }),
      ],
      { name: 'asks' },
    );
    expect(await migrate(edited, false)).toEqual({ kind: 'safe', starts: ['extra'] });
    const removed = graph(chain(ask('sure'), done('out', lit(1))), { name: 'asks' });
    expect(await migrate(removed, true)).toMatchObject({
      kind: 'stays',
      reasons: expect.arrayContaining([{ node: 'a', reason: 'removed' }]),
    });
    expect(await migrate(edited, true)).toEqual({ kind: 'moved' });
    expect(await migrate(edited, true)).toEqual({ kind: 'current' });
    expect((await host.get(id)).actions.map(({ step_id }) => step_id)).toEqual(['sure', 'extra']);
    await host.submit(id, true, 'extra#1');
    await host.submit(id, true, 'sure#1');
    await expect.poll(async () => (await host.get(id)).result, { timeout: 10_000 }).toBe('b');
    expect(calls.map(({ tool: name }) => name)).toEqual(['a', 'b']);
    const shown = await json('show', ref);
    expect(shown).toMatchObject({ status: 'completed', definition: { hash: planOf(edited).hash } });
    const { out } = await on('events', ref);
    expect(out.match(/toolReturned|actionSubmitted/g)).toEqual([
      ...['toolReturned', 'actionSubmitted', 'actionSubmitted', 'toolReturned'],
    ]);
    expect(await migrate(asking, true)).toEqual({ kind: 'stays', reasons: [{ reason: 'over' }] });
  });

  nightlyTest(
    'moves a run that is at work when its call has returned, and leaves one that cannot move',
    async () => {
      const slow = (...more: readonly Node[]) =>
        graph(chain(call('w', {}, { tool: 'tool-w' }), ...more), { name: 'slow' });
      const request = { owner: ada, graph: slow(ask('one')), input: {} };
      const { workflow_id: id } = envelopeIn(await host.store.start(request, host.waiter({ answerMs: 0 })));
      const handle = client.workflow.getHandle(workflowIdOf(id));
      const { runId } = await handle.describe();
      const begin = (to: Graph) => {
        const args: [RemoteMove] = [{ graph: to, tools: {}, privateTools: [], mapping: {} }];
        return handle.startUpdate<CommandResponse, [RemoteMove]>('migrate', {
          args,
          waitForStage: WorkflowUpdateStage.ACCEPTED,
        });
      };
      const move = async (to: Graph) => (await begin(to)).result();
      await expect.poll(() => upstream.release !== undefined).toBe(true);
      const moving = await begin(slow(ask('one'), ask('two')));
      expect(await move(slow(ask('other')))).toMatchObject({ ok: false, failure: { code: 'not_moved' } });
      upstream.release?.();
      expect(await moving.result()).toEqual({ ok: true });
      await expect.poll(async () => (await handle.describe()).runId).not.toBe(runId);
      const other = { ok: false, failure: { code: 'not_moved', message: 'The run cannot move as it is.' } };
      expect(await move(slow(ask('other')))).toEqual(other);
      await host.submit(id, true, 'one#1');
      await host.submit(id, true, 'two#1');
      expect((await host.get(id)).status).toBe('completed');
    },
  );

  nightlyTest('cancels a run in the web page of Temporal: it is undone', async () => {
    const { id, ref } = await start(asking);
    const handle = client.workflow.getHandle(workflowIdOf(id));
    await expect.poll(() => detailsOf(handle), { timeout: 10_000 }).toBe('waiting for\n\n- answer: `sure#1`');
    await handle.cancel();
    await expect.poll(async () => (await host.get(id)).status, { timeout: 10_000 }).toBe('cancelled');
    expect((await host.get(id)).error).toMatchObject({ undone: ['a'] });
    expect((await on('events', ref)).out).toMatch(/cancelled .*"kind":"operator","name":"Temporal"/);
    expect((await handle.describe()).status.name).toBe('CANCELLED');
    expect(await detailsOf(handle)).toBe('cancelled');
    const { events = [] } = await handle.fetchHistory();
    const summaries = events?.flatMap(({ userMetadata }) => textIn(userMetadata?.summary) ?? []);
    expect(summaries).toEqual(['asks', 'a: tool-a', 'a: undo-a']);
  });

  nightlyTest('terminates a run in the web page of Temporal: it is cancelled as it is', async () => {
    const { id, ref } = await start(asking);
    await client.workflow.getHandle(workflowIdOf(id)).terminate();
    expect(await json('show', ref)).toMatchObject({ status: 'cancelled', actions: [] });
    expect(await host.get(id)).toMatchObject({ status: 'cancelled', error: { code: 'E_CANCELLED' } });
    const answer = await host.store.submit(ada, id, { actionId: 'sure#1', result: true }, host.waiter());
    expect(codeOf(answer)).toBe('E_TASK_OVER');
    const cancelled = await host.store.cancel(ada, id, {}, host.waiter());
    expect(cancelled).toMatchObject({ ok: true, envelope: { status: 'cancelled' } });
    const [listed] = await host.store.list(ada, { status: 'cancelled' });
    expect(listed).toMatchObject({ workflow_id: id, open_actions: [] });
    const other = { ...ada, subject: 'eve' };
    expect(codeOf(await host.store.get(other, id))).toBe('WORKFLOW_NOT_FOUND');
    expect(named('undo')).toHaveLength(0);
  });

  nightlyTest('sees a run in the studio, answers and cancels there as a caller', async () => {
    const { id, ref } = await start(asking);
    const { id: other, ref: otherRef } = await start(asking);
    const studio = await studioFor(store);
    const text = async (path: string) => (await studio.get('ada', path)).text();
    await expect.poll(() => text('/runs?workflow=asks'), { timeout: 10_000 }).toContain(`/runs/${ref}`);
    expect(await text(`/runs/${ref}`)).toMatch(
      /name="json\/confirmed" value="true".*<h2>Graph<\/h2>.*toolReturned/s,
    );
    const live = studio.follow('ada', `/live/runs/${ref}?at=`, 'status completed');
    const answer = { action: 'sure#1', 'json/confirmed': 'true' };
    const forbidden = await studio.send('lea', ref, 'answer', answer);
    const response = await studio.send('ada', ref, 'answer', answer);
    await live;
    expect([forbidden.status, response.status]).toEqual([422, 303]);
    expect((await host.get(id)).status).toBe('completed');
    const cancelled = await studio.send('lea', otherRef, 'cancel', { reason: 'enough', compensate: '1' });
    expect(cancelled.status).toBe(303);
    await expect.poll(async () => (await host.get(other)).status, { timeout: 10_000 }).toBe('cancelled');
    expect((await on('events', otherRef)).out).toMatch(/cancelled .*"name":"lea","principal":.*"enough"/);
    await studio.close();
  });

  nightlyTest(
    'sees which version of a worker a run waits for',
    async () => {
      const left = new TemporalHost({ 'tool-a': tool('a') });
      await left.open();
      const { workflow_id: id } = await left.start(asking);
      await left.store.close?.();
      const name = store.replace(host.taskQueue, left.taskQueue);
      const list = async () => JSON.parse((await runs('list', '--json', '--store', name)).out).runs;
      await expect.poll(list, { timeout: 40_000 }).toMatchObject([
        {
          run: runRef(id),
          missing_capabilities: [{ kind: 'engine', name: `stepwright ${packageVersion()}` }],
        },
      ]);
      const { code, err } = await runs('show', id, '--store', name);
      expect([code, err]).toEqual([2, expect.stringContaining('no worker shows the run')]);
    },
    90_000,
  );

  test('learns what a store on Temporal does not do', async () => {
    for (const [command, why] of [
      [['metrics'], 'see the metrics of Temporal'],
      [['prune', '--keep', '1'], 'Temporal removes runs'],
    ] as const)
      expect(await on(...command)).toMatchObject({ code: 2, err: expect.stringContaining(why) });
  });
});
