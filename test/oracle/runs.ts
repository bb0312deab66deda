import fc from 'fast-check';

/** How many random graphs are tried: in every build, and where `npm run test:soak` asks for more. */
const IN_EVERY_BUILD = 10_000;
const WHEN_SOAKING = 1_000_000;

const asked = process.env.STEPWRIGHT_SOAK_RUNS;

/** Whether there is all the time in the world. */
export const isSoaking = process.env.MODE === 'soak' || asked !== undefined;

export const RUNS = asked !== undefined ? Number(asked) : isSoaking ? WHEN_SOAKING : IN_EVERY_BUILD;

const seed = process.env.STEPWRIGHT_SEED;
const path = process.env.STEPWRIGHT_PATH;

/** Every build tries other graphs, unless a seed is given. */
export const PARAMETERS: fc.Parameters<unknown> = {
  ...(seed === undefined ? {} : { seed: Number(seed) }),
  ...(path === undefined ? {} : { path }),
  endOnFailure: path !== undefined,
};

/** Tries a property on random values, and says how to try it again on those that it fails on. */
export function hold<T>(arbitrary: fc.Arbitrary<T>, runs: number, property: (value: T) => void): void {
  const details = fc.check(fc.property(arbitrary, property), {
    ...PARAMETERS,
    numRuns: runs,
  } as fc.Parameters<[T]>);
  if (!details.failed) return;
  const again = `STEPWRIGHT_SEED=${details.seed} STEPWRIGHT_PATH=${details.counterexamplePath} npx vitest run test/oracle`;
  throw new Error(
    `found after ${details.numRuns} graphs; to see it again: ${again}\n` +
      `${JSON.stringify(details.counterexample)}\n${String(details.errorInstance)}`,
    { cause: details.errorInstance },
  );
}
