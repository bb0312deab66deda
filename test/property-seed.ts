const { MODE: mode, STEPWRIGHT_SEED: replayed, STEPWRIGHT_SOAK_RUNS: soakRuns } = process.env;

/** A build tries the same cases as the last one, so that only a change can break it. */
const SEED_OF_BUILDS = 10;

/** True in `npm run test:soak`, which looks for new cases. */
export const isSoaking = mode === 'soak' || soakRuns !== undefined;

/** The seed of every property test that names none. A failure prints it: `STEPWRIGHT_SEED` repeats its cases. */
export const PROPERTY_SEED =
  replayed !== undefined ? Number(replayed) : isSoaking ? Date.now() % 2 ** 31 : SEED_OF_BUILDS;
