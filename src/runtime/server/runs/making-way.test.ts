import { describe, expect, test } from 'vitest';
import { ask, body, parallel, wait } from '../../engine/constructs.fixture.js';
import { call, chain, done, graph, lit, step } from '../../engine/graph.fixture.js';
import { TURN_MS, Turns } from '../../hosts/in-process/turns.js';
import { codeOf, never, Store, settle } from './store.fixture.js';

const sure = graph(chain(ask('sure'), done('out', step('sure', 'confirmed'))));
const both = graph([parallel('both', { left: body([ask('left')]), right: body([ask('right', 'text')]) })]);

describe('where the limits of an owner are reached', () => {
  test('for a further run one makes way that nobody is bound to answer, the least recently attended first', async () => {
    const store = new Store({}, { maxOpenRuns: 3 });
    const start = (of = sure, givesWay = true) =>
      store.store.start({ owner: 'ada', graph: of, input: {}, givesWay }, store.attendant());
    await start(sure, false);
    store.clock.pass(1);
    await start(graph(chain(ask('one'), ask('two'))));
    store.clock.pass(1);
    await start();
    store.clock.pass(1);
    await store.submit('run-2', { result: true });
    expect((await start()).ok).toBe(true);
    expect(await store.get('run-3')).toMatchObject({
      status: 'cancelled',
      error: { code: 'E_CANCELLED', message: expect.stringContaining('made way') },
    });
    expect(await store.submit('run-3', { result: true })).toMatchObject({
      failure: { code: 'WORKFLOW_CANCELLED', message: expect.stringContaining('made way') },
    });
    expect((await store.start(sure)).status).toBe('waiting');
    expect((await store.get('run-1')).status).toBe('waiting');
    expect((await store.get('run-2')).status).toBe('cancelled');
  });

  test('none makes way that is at work, waits for a time or is attended', async () => {
    const store = new Store({ 'tool-a': never }, { maxOpenRuns: 3 });
    const start = (of: typeof sure) =>
      store.store.start({ owner: 'ada', graph: of, input: {}, givesWay: true }, store.attendant());
    void start(graph([call('a')]));
    await start(graph([wait('nap', { durationMs: lit(60_000) })]));
    await start(graph(chain(ask('sure'), wait('nap', { durationMs: lit(1_000) }), ask('again'))));
    void store.submit('run-3', { result: true });
    expect(codeOf(await start(sure))).toBe('RESOURCE_EXHAUSTED');
    store.clock.pass(1_000);
    await settle();
    expect((await start(sure)).ok).toBe(true);
  });

  test('one makes way at once, also where runs have been at work for long enough', async () => {
    const store = new Store({}, { maxOpenRuns: 2 });
    let now = 0;
    const turns = new Turns(() => now);
    Object.assign(store.clock, { turns });
    const start = () =>
      store.store.start({ owner: 'ada', graph: both, input: {}, givesWay: true }, store.attendant());
    await start();
    await start();
    expect(turns.isOver).toBe(false);
    now += TURN_MS;
    expect((await start()).ok).toBe(true);
    const runs = await store.store.list('ada');
    expect(runs.map(({ status }) => status)).toEqual(['waiting', 'waiting', 'cancelled']);
  });

  test('as many make way as it takes for open actions', async () => {
    const store = new Store({}, { maxPendingActions: 3 });
    const start = () =>
      store.store.start({ owner: 'ada', graph: both, input: {}, givesWay: true }, store.attendant());
    await start();
    await start();
    expect((await start()).ok).toBe(true);
    expect((await store.store.list('ada')).map(({ status }) => status)).toEqual([
      'waiting',
      'waiting',
      'cancelled',
    ]);
  });
});
