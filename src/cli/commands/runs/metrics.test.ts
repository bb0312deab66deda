import { expect, test } from 'vitest';
import { ask, wait } from '../../../runtime/engine/constructs.fixture.js';
import { call, chain, done, graph, lit } from '../../../runtime/engine/graph.fixture.js';
import { never } from '../../../runtime/runs/store.fixture.js';
import { runs, ServedStore } from './store.fixture.js';

const store = new ServedStore();

const metrics = (...args: readonly string[]) => runs('metrics', ...args, '--store', `sqlite:${store.path}`);

test('metrics show what waits, what is late and which servers have runs', async () => {
  await store.start(graph(chain(call('a'), done('out', lit(1)))));
  await store.start(graph(chain(ask('sure'), done('out', lit(1)))));
  const later = graph(chain(wait('nap', { durationMs: lit(5_000) }), done('out', lit(1))));
  store.tools['tool-slow'] = never;
  for (const lasting of [later, graph([call('slow')])]) store.start(lasting).catch(() => undefined);
  await expect.poll(async () => JSON.parse((await metrics('--json')).out).open).toBe(3);

  const { out } = await metrics('--json');
  const shown = JSON.parse(out);
  expect(shown).toMatchObject({
    ...{ open: 3, waiting: 2, paused: 0, finished: 1, inbox: 0, overdue: 1 },
    next_due_at: new Date(store.clock.now() + 5_000).toISOString(),
    servers: [{ runs: 1, lease_ms: 10_000 }],
  });
  expect(shown.bytes).toBeGreaterThan(10_000);
  expect((await metrics()).out).toContain('runs: 3 open (2 waiting, 0 paused), 1 finished\n');
});

test('metrics of an empty store are zero, and a file that is none is refused', async () => {
  await store.start(graph(chain(call('a'), done('out', lit(1)))));
  await store.close();
  expect(JSON.parse((await metrics('--json')).out)).toMatchObject({ open: 0, finished: 1, servers: [] });
  expect((await runs('metrics', '--store', `sqlite:${store.file('none.db')}`)).code).toBe(2);
});
