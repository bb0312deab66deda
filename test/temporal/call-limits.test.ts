import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, expect, inject, test } from 'vitest';
import { runs as operate } from '../../src/cli/commands/runs/store.fixture.js';
import { body, parallel } from '../../src/runtime/engine/constructs.fixture.js';
import { again, call, chain, done, graph, step } from '../../src/runtime/engine/graph.fixture.js';
import type { RunStoreOptions } from '../../src/runtime/runs/journal-run-store.js';
import { ok, type Tool } from '../../src/runtime/runs/store.fixture.js';
import { runRef } from '../../src/runtime/tools/port.js';
import { nightlyTest } from '../nightly.js';
import { describeNightly, describeTemporal, TemporalHost } from './host.js';

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
  beforeAll(() => host.open());

  nightlyTest(
    'does not count the time in which no worker takes it',
    async () => {
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
    },
    30_000,
  );

  test('aborts a call that a worker works on', async () => {
    const endless = call('endless', {}, { tool: 'tool-endless', timeoutMs: 500, retry: again(1) });
    const begin = Date.now();
    const { status, error } = await host.start(graph(chain(endless)));
    // The limit of each attempt begins a moment before its tool does.
    expect(Date.now() - begin).toBeGreaterThanOrEqual(2 * 499);
    expect([status, error]).toMatchObject([
      'failed',
      { code: 'E_TIMEOUT', message: 'Timed out after 500 ms.' },
    ]);
    expect(aborted).toHaveLength(2);
    for (const ms of aborted) expect(ms).toBeLessThan(5_000);
  }, 30_000);
});

describeNightly('a worker that is stopped while it makes calls', () => {
  const keys: Record<string, (string | undefined)[]> = { keyed: [], plain: [], stubborn: [] };
  const hosts = (taskQueue: string, shutdownGraceTime?: number) => {
    const late: Tool = async (_input, { signal }) => {
      await delay(shutdownGraceTime === undefined ? 2_000 : 20_000, undefined, { signal });
      return ok('late');
    };
    let isFirst = true;
    const counted =
      (name: string, first: Tool): Tool =>
      (input, context) => {
        keys[name]?.push(context.idempotencyKey);
        return isFirst ? first(input, context) : ok('again');
      };
    const tools = {
      'tool-keyed': counted('keyed', late),
      'tool-plain': counted('plain', late),
      // It ignores the signal.
      'tool-stubborn': counted('stubborn', async () => ok(await delay(20_000, 'stubborn', { ref: false }))),
    };
    const run: Partial<RunStoreOptions> = {
      toolSafety: (tool) => (tool === 'tool-plain' ? 'none' : 'key'),
      limits: { leaseMs: 1_000 },
      resultFailure: (_, value) =>
        typeof value === 'string' ? undefined : { code: 'E_OUTPUT_SCHEMA', message: 'it returns a text' },
    };
    const worker = shutdownGraceTime === undefined ? {} : { worker: { shutdownGraceTime } };
    const first = new TemporalHost(tools, { ...worker, taskQueue, run });
    const second = new TemporalHost(tools, { taskQueue, run });
    const replace = async () => {
      await first.store.close?.();
      isFirst = false;
      await second.open();
    };
    return { first, second, replace };
  };
  const all = ['keyed', 'plain', 'stubborn'];
  const calls = (name: string) =>
    graph(chain(call(name, {}, { tool: `tool-${name}` }), done('out', step(name))));

  test('returns what they do within its grace', async () => {
    const { first, second, replace } = hosts('stopped-in-grace');
    await first.open();
    const runs = await Promise.all(
      ['keyed', 'plain'].map((name) => first.start(calls(name), {}, { answerMs: 500 })),
    );
    await replace();
    for (const { workflow_id: id } of runs)
      await expect.poll(() => second.get(id)).toMatchObject({ status: 'completed', result: 'late' });
    expect([keys.keyed?.length, keys.plain?.length]).toEqual([1, 1]);
  }, 60_000);

  test('loses those that are longer: they are made again with their keys, or their runs pause', async () => {
    for (const name of all) keys[name] = [];
    const { first, second, replace } = hosts('stopped-after-grace', 100);
    await first.open();
    const runs = await Promise.all(all.map((name) => first.start(calls(name), {}, { answerMs: 500 })));
    await replace();
    const shown = (name: string) => () => second.get(runs[all.indexOf(name)]?.workflow_id ?? '');
    for (const name of ['keyed', 'stubborn'])
      await expect.poll(shown(name)).toMatchObject({ status: 'completed', result: 'again' });
    await expect.poll(shown('plain')).toMatchObject({ paused_steps: [{ step_id: 'plain' }] });
    const paused = runRef(runs[all.indexOf('plain')]?.workflow_id ?? '');
    const at = `temporal://${inject('temporalAddress')}/default?taskQueue=${second.taskQueue}`;
    const happened = (value: string) => operate('answer', paused, 'happened', value, '--store', at);
    expect(await happened('7')).toMatchObject({
      code: 1,
      err: expect.stringContaining('it returns a text'),
    });
    expect(await happened('"by hand"')).toMatchObject({ code: 0 });
    await expect.poll(shown('plain')).toMatchObject({ status: 'completed', result: 'by hand' });
    expect(keys.plain).toHaveLength(1);
    for (const name of ['keyed', 'stubborn']) {
      expect(keys[name]).toHaveLength(2);
      expect(new Set(keys[name]).size).toBe(1);
    }
  }, 60_000);
});
