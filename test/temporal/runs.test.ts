import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { Client, Connection } from '@temporalio/client';
import type { PayloadCodec } from '@temporalio/common';
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest';
import { runs } from '../../src/cli/commands/runs/store.fixture.js';
import { ask } from '../../src/runtime/engine/constructs.fixture.js';
import { call, chain, graph } from '../../src/runtime/engine/graph.fixture.js';
import { ada, ok } from '../../src/runtime/runs/store.fixture.js';
import { runRef } from '../../src/runtime/tools/port.js';
import { workflowIdOf } from '../../src/temporal/protocol.js';
import { describeNightly, describeTemporal, TemporalHost } from './host.js';

describeNightly('without a worker', () => {
  const host = new TemporalHost({}, { worker: false });

  test('a start is reported as not known to be taken', async () => {
    const start = host.start(graph(chain(call('a'))), {}, { answerMs: 0 });
    await expect(start).rejects.toThrow('Temporal gave no response');
  });
});

describeTemporal('a run that is cancelled', () => {
  const moments = new EventEmitter();
  let connection: Connection;
  let id = '';
  const handle = () => new Client({ connection }).workflow.getHandle(workflowIdOf(id));
  /** The call returns after the worker has computed the end of the run, and before Temporal knows of it. */
  const codec: PayloadCodec = {
    encode: async (payloads) => {
      const isEnd = payloads.some(({ data }) => Buffer.from(data ?? []).includes('"status":"cancelled"'));
      if (!isEnd) return payloads;
      moments.emit('end');
      const pending = async () => (await handle().describe()).raw.pendingActivities;
      await expect.poll(pending, { timeout: 5_000 }).toEqual([]);
      return payloads;
    },
    decode: async (payloads) => payloads,
  };
  const tool = async () => {
    moments.emit('call');
    await once(moments, 'end');
    return ok('late');
  };
  const host = new TemporalHost({ 'tool-a': tool }, { dataConverter: { payloadCodecs: [codec] } });
  beforeAll(async () => {
    connection = await Connection.connect({ address: inject('temporalAddress') ?? '' });
    await host.open();
  });
  afterAll(() => connection.close());

  test('is so where a call returns at the same time', async () => {
    const called = once(moments, 'call');
    ({ workflow_id: id } = await host.start(graph(chain(call('a'), ask('sure'))), {}, { answerMs: 0 }));
    await called;
    const answer = await host.store.cancel(ada, id, {}, host.waiter());
    expect(answer).toMatchObject({ ok: true, envelope: { status: 'cancelled' } });
    const { events } = await handle().fetchHistory();
    const failures = events?.map(({ workflowTaskFailedEventAttributes: failed }) => failed?.failure?.message);
    expect(failures).toContain('UnhandledCommand');
  });
});

describeTemporal('a run that no worker has taken', () => {
  test('is in lists, which say what it waits for', async () => {
    const address = inject('temporalAddress') ?? '';
    const connection = await Connection.connect({ address });
    onTestFinished(() => connection.close());
    const taskQueue = `idle-${randomUUID()}`;
    const [run, workflowId] = [randomUUID(), workflowIdOf(randomUUID())];
    const memo = { workflow: 'asks', ref: runRef(run), startedAt: Date.now() };
    await new Client({ connection }).workflow.start('stepwright', { taskQueue, workflowId, memo });
    const list = async () =>
      (await runs('list', '--store', `temporal://${address}/default?taskQueue=${taskQueue}`)).out;
    const row = `${runRef(run)} +waiting +asks .* a worker of the queue ${taskQueue}: start \`stepwright worker\``;
    await expect.poll(list).toMatch(new RegExp(row));
  });
});

describeTemporal('a server that ends', () => {
  const calls = new EventEmitter();
  const host = new TemporalHost({
    'tool-a': async () => {
      calls.emit('call');
      await once(calls, 'return');
      return ok('late');
    },
  });
  beforeAll(() => host.open());

  test('responds to requests in flight with their runs, which continue', async () => {
    const called = once(calls, 'call');
    const started = host.start(graph(chain(call('a'))));
    await called;
    const [{ workflow_id: id } = { workflow_id: '' }] = await host.store.list(ada);
    const looked = host.store.get(ada, id, { waiter: host.waiter({ untilOver: true }) });
    host.store.endAll('the server was stopped');
    expect(await started).toMatchObject({ workflow_id: id, status: 'running' });
    expect(await looked).toMatchObject({ ok: true, envelope: { status: 'running' } });
    calls.emit('return');
    await expect.poll(async () => (await host.get(id)).status).toBe('completed');
  });
});

describeTemporal('in the web page of Temporal', () => {
  const host = new TemporalHost();
  beforeAll(() => host.open());

  test.each([
    ['the description and steps of a workflow', 'Ask first', /^Ask first\n\n1\. .+ {2}\n2\. /],
    ['the beginning of a long description', 'x'.repeat(100_000), /^x{3399}…/],
  ])('a run shows %s', async (_what, description, shown) => {
    const { workflow_id: id } = await host.start({ ...graph(chain(ask('sure'), call('a'))), description });
    const connection = await Connection.connect({ address: inject('temporalAddress') ?? '' });
    try {
      const run = await new Client({ connection }).workflow.getHandle(workflowIdOf(id)).describe();
      expect(await run.staticSummary()).toBe('sample');
      expect(await run.staticDetails()).toMatch(shown);
    } finally {
      await connection.close();
    }
  });
});

describeNightly('workers of a deployment that pins runs', () => {
  const address = inject('temporalAddress') ?? '';
  const deploymentName = `team-${randomUUID()}`;
  const taskQueue = randomUUID();
  const hostOf = (buildId: string) =>
    new TemporalHost(
      {},
      {
        taskQueue,
        worker: {
          workerDeploymentOptions: {
            version: { deploymentName, buildId },
            useWorkerVersioning: true,
            defaultVersioningBehavior: 'PINNED',
          },
        },
      },
    );
  const [first, second, again] = [hostOf('1'), hostOf('2'), hostOf('1')];

  // A worker that has stopped counts for minutes, and a list waits 10 s for its response.
  test('take the runs of their version, and a list names that of the others', async () => {
    const connection = await Connection.connect({ address });
    const setCurrent = (buildId: string) =>
      expect
        .poll(() =>
          connection.workflowService
            .setWorkerDeploymentCurrentVersion({ namespace: 'default', deploymentName, buildId })
            .then(() => 'set', String),
        )
        .toBe('set');
    await first.open();
    await setCurrent('1');
    const asking = graph(chain(ask('sure')));
    const { workflow_id: id } = await first.start(asking);
    await second.open();
    await setCurrent('2');
    await first.store.close?.();
    const { workflow_id: later } = await second.start(asking);
    expect((await second.submit(later, true)).status).toBe('completed');
    const list = async () => {
      const name = `temporal://${address}/default?taskQueue=${taskQueue}`;
      const { out } = await runs('list', '--json', '--store', name);
      return JSON.parse(out).runs;
    };
    const needed = [{ kind: 'engine', name: `${deploymentName}:1` }];
    await expect
      .poll(list, { timeout: 40_000 })
      .toContainEqual(expect.objectContaining({ run: runRef(id), missing_capabilities: needed }));
    await again.open();
    expect((await again.submit(id, true)).status).toBe('completed');
    await connection.close();
  }, 90_000);
});
