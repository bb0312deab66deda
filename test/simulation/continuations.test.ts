import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { isNightly } from '../nightly.js';
import { ContinuationRace, type RaceOptions } from './continuations.js';
import { BROKEN_STORES, HOST_BUGS } from './mutations.js';
import { Violation } from './simulation.js';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const poll = (): void => void vi.advanceTimersByTime(20);

// `RACE_SEED=7` replays one, `RACES=5000` runs more of them. Those of a file take most of the time.
const { RACE_SEED, RACES = isNightly ? '2000' : undefined } = process.env;
const first = Number(RACE_SEED ?? 1);
const lastOf = (count: number): number => (RACE_SEED === undefined ? Number(RACES ?? count) : first);

/** @returns what clients were answered, and how the task ended. */
async function race(seed: number, options: Omit<RaceOptions, 'poll'>): Promise<readonly string[]> {
  const each = new ContinuationRace(seed, { ...options, poll });
  // A process that crashed does not stop its timers.
  await each.run().finally(() => vi.clearAllTimers());
  return each.outcomes;
}

describe.each([
  ['memory', isNightly ? 60 : 20, ['recorded', 'extra', 'notUsed', 'completed', 'cancelled']],
  ['sqlite', 25, ['recorded', 'extra', 'notUsed', 'unknown', 'completed', 'cancelled']],
] as const)('two clients that continue a task on %s', (store, count, expected) => {
  const last = lastOf(count);

  test(`record each step once, and lose none: seeds ${first} to ${last}`, {
    timeout: 3_600_000,
  }, async () => {
    const outcomes = new Set<string>();
    for (let seed = first; seed <= last; seed += 1) {
      const ofSeed = await race(seed, { store }).catch((cause: unknown) => {
        const message = cause instanceof Error ? cause.message : String(cause);
        throw new Error(`RACE_SEED=${seed}: ${message}`, { cause });
      });
      for (const outcome of ofSeed) outcomes.add(outcome);
    }
    if (first < last) expect([...outcomes].sort()).toEqual([...expected].sort());
  });
});

/** So many seeds are tried until one finds a fault. */
const ENOUGH = 30;

describe('the oracle notices', () => {
  test.each([
    ['an effect before the commit', BROKEN_STORES],
    ['an item that is not consumed', BROKEN_STORES],
    ['a row is not written', HOST_BUGS],
    ['an event is written twice', HOST_BUGS],
  ])('%s', async (name, mutations) => {
    const mutation = mutations[name];
    if (mutation === undefined) throw new Error(`there is no mutation '${name}'`);
    const noticed = async (): Promise<void> => {
      for (let seed = 1; seed <= ENOUGH; seed += 1) await race(seed, { store: 'sqlite', mutation });
    };
    await expect(noticed()).rejects.toThrow(Violation);
  });
});
