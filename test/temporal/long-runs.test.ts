import { beforeAll, expect, test } from 'vitest';
import { ask } from '../../src/runtime/engine/constructs.fixture.js';
import { call, chain, done, graph, step } from '../../src/runtime/engine/graph.fixture.js';
import { ok } from '../../src/runtime/runs/store.fixture.js';
import { describeTemporal, TemporalHost } from './host.js';

describeTemporal('a run that outgrows the history of a workflow', () => {
  const calls: string[] = [];
  const host = new TemporalHost(
    {
      'tool-count': (_input, { idempotencyKey = '' }) => {
        calls.push(idempotencyKey);
        return ok(calls.length);
      },
    },
    { maxEvents: 40 },
  );
  beforeAll(() => host.open());

  test('continues in another one, makes each call once, and takes answers as before', async () => {
    const count = (id: string) => call(id, {}, { tool: 'tool-count' });
    const counts = Array.from({ length: 30 }, (_, index) => count(`n${index}`));
    const steps = chain(ask('first'), ...counts, ask('last'), count('end'), done('out', step('end')));
    const open = await host.start(graph(steps));
    const id = open.workflow_id;
    const first = open.action?.action_id ?? '';
    await host.submit(id, true, first);
    await expect.poll(async () => (await host.get(id)).action?.step_id, { timeout: 20_000 }).toBe('last');
    const last = (await host.get(id)).action?.action_id ?? '';
    // The answer of an earlier workflow is known in this one.
    expect((await host.submit(id, true, first)).status).toBe('waiting');
    await host.submit(id, true, last);
    await expect.poll(async () => (await host.get(id)).status, { timeout: 20_000 }).toBe('completed');
    expect((await host.get(id)).result).toBe(31);
    expect(new Set(calls).size).toBe(31);
    expect(calls).toHaveLength(31);
  }, 60_000);
});
