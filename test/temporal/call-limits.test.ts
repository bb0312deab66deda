import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, expect, test } from 'vitest';
import { body, parallel } from '../../src/runtime/engine/constructs.fixture.js';
import { again, call, chain, done, graph, step } from '../../src/runtime/engine/graph.fixture.js';
import { ok } from '../../src/runtime/runs/store.fixture.js';
import { describeTemporal, TemporalHost } from './host.js';

describeTemporal('the limit of a call', () => {
  const aborted: number[] = [];
  const host = new TemporalHost(
    {
      'tool-slow': async () => ok(await delay(3_000, 'slow')),
      'tool-quick': () => ok('quick'),
      'tool-endless': (_input, { signal }) => {
        const begin = Date.now();
        return new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            aborted.push(Date.now() - begin);
            const failure = { code: 'E_CANCELLED', message: 'It was cancelled.' };
            resolve({ ok: false, attempted: true, failure });
          });
        });
      },
    },
    { worker: { maxConcurrentActivityTaskExecutions: 1 } },
  );
  beforeAll(() => host.store.open?.());

  test('does not count the time in which no worker takes it', async () => {
    const slow = call('slow', {}, { tool: 'tool-slow' });
    const quick = call('quick', {}, { tool: 'tool-quick', timeoutMs: 1_500 });
    const both = parallel('both', {
      first: body([slow], step('slow')),
      second: body([quick], step('quick')),
    });
    const { status, result } = await host.start(
      graph([both, done('out', step('both'), { after: ['both'] })]),
    );
    expect([status, result]).toEqual(['completed', { first: 'slow', second: 'quick' }]);
  }, 30_000);

  test('aborts a call that a worker works on', async () => {
    const endless = call('endless', {}, { tool: 'tool-endless', timeoutMs: 500, retry: again(1) });
    const { status, error } = await host.start(graph(chain(endless)));
    expect([status, error]).toMatchObject([
      'failed',
      { code: 'E_TIMEOUT', message: 'Timed out after 500 ms.' },
    ]);
    expect(aborted).toHaveLength(2);
    for (const ms of aborted) expect(ms).toBeGreaterThanOrEqual(499);
    for (const ms of aborted) expect(ms).toBeLessThan(5_000);
  }, 30_000);
});
