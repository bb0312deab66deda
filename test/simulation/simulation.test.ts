import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { isNightly, nightlyTest } from '../nightly.js';
import { BROKEN_STORES, HOST_BUGS } from './mutations.js';
import type { Mutation } from './process.js';
import { Simulation, STEPS, Violation } from './simulation.js';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const poll = (): void => void vi.advanceTimersByTime(20);

// `SEED=7` replays one, `SEED=7 STEPS=20` less of it; `SEEDS=5000` runs more of them, `FIRST_SEED=5001` later ones.
const { SEED, FIRST_SEED = '1', SEEDS = isNightly ? '30' : '10', STEPS: steps = String(STEPS) } = process.env;
const first = Number(SEED ?? FIRST_SEED);
const last = SEED === undefined ? first + Number(SEEDS) - 1 : first;

const simulate = (seed: number, length = Number(steps)): Promise<void> =>
  // A process that crashed does not stop its timers.
  new Simulation(seed, { poll, steps: length }).run().finally(() => vi.clearAllTimers());

/** The least number of steps after which a seed fails, with why. */
async function shrunk(seed: number): Promise<string> {
  for (let length = 1; length < Number(steps); length += 1) {
    try {
      await simulate(seed, length);
    } catch (fault) {
      return `SEED=${seed} STEPS=${length}: ${fault instanceof Error ? fault.message : String(fault)}`;
    }
  }
  return `SEED=${seed}`;
}

test(`nothing is lost or done twice, whatever happens: seeds ${first} to ${last}`, {
  timeout: 3_600_000,
}, async () => {
  for (let seed = first; seed <= last; seed += 1) {
    await simulate(seed).catch(async (cause: unknown) => {
      throw new Error(await shrunk(seed), { cause });
    });
  }
});

nightlyTest('a seed says all that happens', async () => {
  for (let seed = 1; seed <= 5; seed += 1) {
    const [one, other] = [new Simulation(seed, { poll }), new Simulation(seed, { poll })];
    await one.run();
    await other.run();
    expect(one.trace.length).toBeGreaterThan(0);
    expect(other.trace).toEqual(one.trace);
  }
});

/** So many seeds are tried until one finds a fault. */
const ENOUGH = 300;

/** The first seeds that notice a fault that few notice. The nightly run tries those before them, too. */
const RARE: Readonly<Record<string, number>> = {
  'a lost timer': 100,
  'a call is repeated that must not be': 41,
  'a process takes runs for which it has no tools': 29,
  'the inbox is not read': 14,
  'an item is not sent': 11,
  'the response is not found': 11,
};

/** What the first seed reports that notices. */
async function faultOf(mutation: Mutation, firstSeed: number): Promise<unknown> {
  for (let seed = firstSeed; seed <= ENOUGH; seed += 1) {
    try {
      await new Simulation(seed, { poll, mutation }).run();
    } catch (fault) {
      return fault;
    }
  }
  throw new Error(`the seeds to ${ENOUGH} have not noticed it`);
}

describe.each([
  ['a broken store', BROKEN_STORES],
  ['a fault of a host', HOST_BUGS],
])('%s is noticed', (_, mutations) => {
  test.each(Object.entries(mutations).filter((_, index) => isNightly || index % 3 === 0))(
    '%s',
    { timeout: 600_000 },
    async (name, mutation) => {
      expect(await faultOf(mutation, isNightly ? 1 : (RARE[name] ?? 1))).toBeInstanceOf(Violation);
    },
  );
});
