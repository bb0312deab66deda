import { Client, Connection } from '@temporalio/client';
import { beforeAll, expect, inject, test } from 'vitest';
import { ask } from '../../src/runtime/engine/constructs.fixture.js';
import { call, chain, graph } from '../../src/runtime/engine/graph.fixture.js';
import { workflowIdOf } from '../../src/temporal/protocol.js';
import { describeTemporal, TemporalHost } from './host.js';

describeTemporal('without a worker', () => {
  const host = new TemporalHost({}, { worker: false });

  test('a start is reported as not known to be taken', async () => {
    const start = host.start(graph(chain(call('a'))), {}, { answerMs: 0 });
    await expect(start).rejects.toThrow('Temporal gave no response');
  });
});

describeTemporal('in the web page of Temporal', () => {
  const host = new TemporalHost();
  beforeAll(() => host.store.open?.());

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
