import { beforeAll, expect, test } from 'vitest';
import { ask } from '../../src/runtime/engine/constructs.fixture.js';
import { call, chain, done, graph, input, step } from '../../src/runtime/engine/graph.fixture.js';
import { broken, codeOf, eve, ok } from '../../src/runtime/runs/store.fixture.js';
import { describeTemporal, TemporalHost } from './host.js';

describeTemporal('without a worker', () => {
  const host = new TemporalHost({}, { worker: false });

  test('a start is reported as not known to be taken', async () => {
    const start = host.start(graph(chain(call('a'))), {}, { answerMs: 0 });
    await expect(start).rejects.toThrow('Temporal gave no response');
  });
});

describeTemporal('a run on Temporal', () => {
  const keys: (string | undefined)[] = [];
  const host = new TemporalHost({
    'tool-a': ({ who = null }, { idempotencyKey }) => {
      keys.push(idempotencyKey);
      return ok({ who });
    },
    'tool-b': () => ok('b'),
    'tool-fails': () => broken('it is out of paper'),
  });
  beforeAll(() => host.store.open?.());

  test('of three steps is over in the response to its start', async () => {
    const steps = chain(call('a', { who: input('who') }), call('b'), done('out', step('a', 'who')));
    const envelope = await host.start(graph(steps), { who: 'é' });
    expect(envelope).toMatchObject({ status: 'completed', result: 'é' });
    expect(keys).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/)]);
    expect(await host.get(envelope.workflow_id)).toEqual(envelope);
  });

  test('that fails says why', async () => {
    const { status, error } = await host.start(graph(chain(call('a'), call('fails'))));
    expect([status, error?.code, error?.node]).toEqual(['failed', 'E_TOOL_ERROR', 'fails']);
  });

  test('waits for an answer, takes it once, and repeats the response', async () => {
    const open = await host.start(graph(chain(call('b'), ask('q'), done('out', step('q', 'confirmed')))));
    expect(open.status).toBe('waiting');
    const id = open.workflow_id;
    expect(await host.get(id)).toEqual(open);
    const action = open.action?.action_id ?? '';
    const misfit = await host.store.submit(eve, id, { actionId: action, result: true }, host.waiter());
    expect(codeOf(misfit)).toBe('WORKFLOW_NOT_FOUND');
    expect(await host.submit(id, true, action)).toMatchObject({ status: 'completed', result: true });
    expect(await host.submit(id, true, action)).toMatchObject({ status: 'completed', result: true });
  });

  test('is found by its owner alone', async () => {
    const { workflow_id } = await host.start(graph(chain(call('b'))));
    expect(codeOf(await host.store.get(eve, workflow_id))).toBe('WORKFLOW_NOT_FOUND');
    expect(codeOf(await host.store.get(eve, 'unknown'))).toBe('WORKFLOW_NOT_FOUND');
  });

  test('is undone when it is cancelled', async () => {
    const open = await host.start(graph(chain(call('b'), ask('q'))));
    const how = { reason: 'enough', compensate: true };
    await host.store.cancel({ kind: 'principal', subject: 'ada' }, open.workflow_id, how, host.waiter());
    const { status, error } = await host.get(open.workflow_id);
    expect([status, error?.message]).toEqual(['cancelled', expect.stringContaining('enough')]);
  });
});
