import { describe, expect, test } from 'vitest';
import type { NewRun, RunStore, Waiter } from './run-store.js';
import { RunStoreOnDemand } from './run-store-on-demand.js';

const LOCAL = { kind: 'local' } as const;
const FAILED = { ok: false, failure: { code: 'E_FAIL', message: 'no' } } as const;

/** A store that records what is asked of it, and is loaded when the test says so. */
function setUp(hasRuns = false) {
  const asked: string[] = [];
  const note = (what: string) => async (): Promise<void> => void asked.push(what);
  const store = {
    start: async ({ input }: NewRun) => {
      asked.push(`start ${String(input.name)}`);
      return FAILED;
    },
    list: async () => {
      asked.push('list');
      return [];
    },
    endAll: (reason: string) => asked.push(`end: ${reason}`),
    atRest: note('at rest'),
    open: note('open'),
    resumeAll: note('resume'),
    close: note('close'),
  } as unknown as RunStore;
  let letLoad = (): void => {};
  let fail = (_: Error): void => {};
  const loading = new Promise<RunStore>((resolve, reject) => {
    letLoad = () => resolve(store);
    fail = reject;
  });
  let loads = 0;
  const load = () => {
    loads += 1;
    return loading;
  };
  const onDemand = new RunStoreOnDemand(load, hasRuns);
  const start = (name: string) =>
    onDemand.start({ owner: LOCAL, input: { name } } as unknown as NewRun, {} as Waiter);
  return { onDemand, start, asked, letLoad, fail, loads: () => loads };
}

describe('a run store on demand', () => {
  test('is not loaded by a server that starts, drains and stops without a run', async () => {
    const { onDemand, loads } = setUp();
    await onDemand.open();
    await onDemand.resumeAll();
    await onDemand.atRest();
    expect(onDemand.endAll('stopped')).toBe(0);
    await onDemand.close();
    expect(loads()).toBe(0);
  });

  test('is loaded at the start where it may have runs of earlier processes', async () => {
    const { onDemand, asked, letLoad, loads } = setUp(true);
    letLoad();
    await onDemand.open();
    await onDemand.resumeAll();
    expect(asked).toEqual(['open', 'resume']);
    expect(loads()).toBe(1);
  });

  test('is loaded once, and takes the calls in their order', async () => {
    const { onDemand, start, asked, letLoad, loads } = setUp();
    const calls = [start('first'), onDemand.list(LOCAL), start('second')];
    letLoad();
    expect(await Promise.all(calls)).toEqual([FAILED, [], FAILED]);
    await start('third');
    expect(asked).toEqual(['start first', 'list', 'start second', 'start third']);
    expect(loads()).toBe(1);
  });

  test('ends the runs that wait for it, and no later ones', async () => {
    const { onDemand, start, asked, letLoad } = setUp();
    const early = start('early');
    expect(onDemand.endAll('stopped')).toBe(0);
    const late = start('late');
    letLoad();
    await Promise.all([early, late]);
    expect(asked).toEqual(['start early', 'end: stopped', 'start late']);
  });

  test('is at rest when the runs are that wait for it', async () => {
    const { onDemand, start, asked, letLoad } = setUp();
    const begun = start('first');
    const atRest = onDemand.atRest();
    letLoad();
    await Promise.all([begun, atRest]);
    await onDemand.close();
    expect(asked).toEqual(['start first', 'at rest', 'close']);
  });

  test('reports to every call why it could not be loaded', async () => {
    const { onDemand, start, fail } = setUp();
    const begun = start('first');
    onDemand.endAll('stopped');
    const other = start('second');
    fail(new Error('no such file'));
    await expect(begun).rejects.toThrow('no such file');
    await expect(other).rejects.toThrow('no such file');
  });
});
