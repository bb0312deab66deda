import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { beforeAll, expect, inject, test } from 'vitest';
import { runs } from '../../src/cli/commands/runs/store.fixture.js';
import { ask } from '../../src/runtime/engine/constructs.fixture.js';
import { call, chain, done, graph, step } from '../../src/runtime/engine/graph.fixture.js';
import { ada, bob, ok } from '../../src/runtime/runs/store.fixture.js';
import { runRef } from '../../src/runtime/tools/port.js';
import { workflowIdOf } from '../../src/temporal/protocol.js';
import { nightlyTest } from '../nightly.js';
import { createNamespace, registerSearchAttributes } from './find-server.js';
import { describeTemporal, TemporalHost } from './host.js';

const address = inject('temporalAddress') ?? '';
const asking = graph(chain(ask('sure'), done('out', step('sure'))), { name: 'asks' });
const tools = { 'tool-a': () => ok('a') };

describeTemporal('search attributes of runs', () => {
  const host = new TemporalHost(tools, { maxEvents: 40 });
  const store = `temporal://${address}/default?taskQueue=${host.taskQueue}`;
  let client: Client;
  beforeAll(async () => {
    await host.open();
    client = new Client({ connection: await Connection.connect({ address }) });
    return () => client.connection.close();
  });

  const idsOf = async (condition: string) => {
    const ids: string[] = [];
    const query = `TaskQueue = "${host.taskQueue}" AND ExecutionStatus != "ContinuedAsNew" AND ${condition}`;
    for await (const { workflowId } of client.workflow.list({ query })) ids.push(workflowId);
    return ids;
  };
  const eventually = (condition: string) => expect.poll(() => idsOf(condition), { timeout: 10_000 });

  test('find a run by its workflow, ref and status, and hold no secret', async () => {
    const { workflow_id: id } = await host.start(asking, { token: 'not to be shown' });
    const workflowId = workflowIdOf(id);
    await eventually('StepwrightStatus = "waiting"').toEqual([workflowId]);
    await eventually(`StepwrightWorkflow = "asks" AND StepwrightRef = "${runRef(id)}"`).toEqual([workflowId]);
    const { typedSearchAttributes } = await client.workflow.getHandle(workflowId).describe();
    const shown = typedSearchAttributes.getAll().filter(({ key }) => key.name.startsWith('Stepwright'));
    expect(shown.map(({ key, value }) => [key.name, value]).sort()).toEqual([
      ['StepwrightOwner', expect.stringMatching(/^[0-9a-f]{32}$/)],
      ['StepwrightRef', runRef(id)],
      ['StepwrightStatus', 'waiting'],
      ['StepwrightWorkflow', 'asks'],
    ]);
    await host.submit(id, true);
    await eventually('StepwrightStatus = "succeeded"').toEqual([workflowId]);
  });

  nightlyTest(
    'remain when a run continues in another workflow',
    async () => {
      const calls = Array.from({ length: 30 }, (_, index) => call(`n${index}`, {}, { tool: 'tool-a' }));
      const { workflow_id: id } = await host.start(graph(chain(...calls, ask('last')), { name: 'long' }));
      await eventually('StepwrightStatus = "waiting" AND StepwrightWorkflow = "long"').toEqual([
        workflowIdOf(id),
      ]);
      const { code, out } = await runs('show', runRef(id), '--store', store);
      expect([code, out.includes('long')]).toEqual([0, true]);
    },
    60_000,
  );
});

describeTemporal('a namespace without search attributes', () => {
  const namespace = `plain-${randomUUID()}`;
  const taskQueue = randomUUID();
  const host = new TemporalHost(tools, { namespace, taskQueue });
  const later = new TemporalHost(tools, { namespace, taskQueue, worker: false });
  beforeAll(async () => {
    await createNamespace(address, namespace);
    await host.open();
  }, 30_000);

  const listed = async (of: TemporalHost) =>
    (await of.store.list(ada)).map((run) => ('unreadable' in run ? '' : run.workflow_id)).sort();

  test('lists its runs, also after the attributes were registered', async () => {
    const { workflow_id: first } = await host.start(asking);
    await expect.poll(() => listed(host), { timeout: 10_000 }).toEqual([first]);
    await registerSearchAttributes(address, namespace);
    const { workflow_id: second } = await later.start(asking);
    await expect.poll(() => listed(later), { timeout: 10_000 }).toEqual([first, second].sort());
    expect(await later.store.list(bob)).toEqual([]);
  }, 60_000);
});
