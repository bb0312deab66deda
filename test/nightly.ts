import { describe, test } from 'vitest';

/** True in `npm run test:nightly`, which runs every case. `npm test` runs one of each kind that takes long. */
export const isNightly = process.env.MODE === 'nightly';

/** All cases in the nightly run, otherwise the first ones. */
export function smoke<T>(cases: readonly T[], count = 1): readonly T[] {
  return isNightly ? cases : cases.slice(0, count);
}

/** Declares nothing. */
const nothing: unknown = Object.assign(() => {}, { each: () => () => {} });

/** A test of the nightly run only. */
export const nightlyTest = isNightly ? test : (nothing as typeof test);

/** Tests of the nightly run only. */
export const nightlyDescribe = isNightly ? describe : (nothing as typeof describe);
