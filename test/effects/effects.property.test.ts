import { describe, expect, test } from 'vitest';
import { nightlyDescribe, nightlyTest } from '../nightly.js';
import { ENGINE, type Engine } from '../oracle/drive.js';
import { holdOn, RUNS, samplesOf, timeoutFor } from '../oracle/runs.js';
import { faultsIn } from './claims.js';
import { play } from './host.js';
import { forgetsUnnamed, jumpForgets, keepsGeneration } from './mutations.js';
import { trialOf } from './trial.js';

/** Each of the defects is found among so many runs. */
const MOST_RUNS = 10_000;

describe('what a run says it did', () => {
  test(`is what is there, in ${RUNS} runs with cancellations, crashes and retries`, {
    timeout: timeoutFor(RUNS),
  }, () => {
    holdOn(trialOf, RUNS, (trial) => {
      const outcome = play(ENGINE, trial);
      const faults = [...faultsIn(outcome), ...outcome.keyFaults];
      if (faults.length > 0) throw new Error(faults.join('\n'));
    });
  });
});

const MUTATIONS: readonly (readonly [string, () => Engine])[] = [
  ['does not name what a roll-back cannot undo', forgetsUnnamed],
  ['repeats the key of a call whose effect was undone', () => keepsGeneration('undone')],
  ['repeats the key of a call whose effect may have been undone', () => keepsGeneration('unknown')],
  ['forgets in a jump how to undo what starts over', jumpForgets],
];

nightlyDescribe('an engine would be caught that', () => {
  test.each(MUTATIONS)('%s', { timeout: timeoutFor(MOST_RUNS) }, (_name, engineOf) => {
    expect(samplesOf(trialOf, MOST_RUNS).some((trial) => isCaught(engineOf(), trial))).toBe(true);
  });
});

nightlyTest(
  'a host would be caught that takes the failure of a call for sure that it makes again',
  {
    timeout: timeoutFor(MOST_RUNS),
  },
  () => {
    const trials = samplesOf(trialOf, MOST_RUNS).filter(({ crashes }) => crashes);
    expect(trials.some((trial) => isCaught(ENGINE, { ...trial, trustsFailures: true }))).toBe(true);
  },
);

function isCaught(engine: Engine, trial: ReturnType<typeof trialOf>): boolean {
  try {
    return faultsIn(play(engine, trial)).length > 0;
  } catch {
    // The behaviour of the engine after an outside change of its state proves nothing.
    return false;
  }
}
