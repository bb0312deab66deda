import fc from 'fast-check';
import { isNightly } from '../nightly.js';
import { isSoaking, PROPERTY_SEED } from '../property-seed.js';
import { type Case, caseOf } from './random-graph.js';

/** How many random graphs are tried: in every build, every night, and where `npm run test:soak` asks for more. */
const IN_EVERY_BUILD = 100;
const EVERY_NIGHT = 10_000;
const WHEN_SOAKING = 1_000_000;

const { STEPWRIGHT_SOAK_RUNS: soakRuns, STEPWRIGHT_PATH: path } = process.env;

export const RUNS =
  soakRuns !== undefined
    ? Number(soakRuns)
    : isSoaking
      ? WHEN_SOAKING
      : isNightly
        ? EVERY_NIGHT
        : IN_EVERY_BUILD;

/** In milliseconds, for so many graphs on a slow machine. */
export const timeoutFor = (runs: number): number => 120_000 + runs * 60;

const SEED_OF_SAMPLES = 4;

/** What a graph and its world are made from. */
export interface Tapes {
  readonly tape: readonly number[];
  readonly luck: readonly number[];
}

const numbers = (maxLength: number) =>
  fc.array(fc.noBias(fc.nat({ max: 9_999 })), { maxLength, size: 'max' });

const anyTapes: fc.Arbitrary<Tapes> = fc.record({ tape: numbers(260), luck: numbers(60) });

const caseOn = ({ tape, luck }: Tapes): Case => caseOf(tape, luck);

/** So many random cases, always the same ones. */
export function sample(count: number): Case[] {
  return samplesOf(caseOn, count);
}

/** The case of {@link sample} at an index, from 0. */
export function sampleAt(index: number): Case {
  const [tapes] = fc.sample(anyTapes, { numRuns: 1, seed: SEED_OF_SAMPLES, path: String(index) });
  if (tapes === undefined) throw new RangeError(`there is no graph ${index}`);
  return caseOn(tapes);
}

export function samplesOf<T>(make: (tapes: Tapes) => T, count: number): T[] {
  return fc.sample(anyTapes, { numRuns: count, seed: SEED_OF_SAMPLES }).map(make);
}

/** Tries a property on random graphs. */
export function hold(runs: number, property: (each: Case) => void): void {
  holdOn(caseOn, runs, property);
}

/** Tries a property. Where it fails it says how to try it again, and shows the simplest case that was found. */
export function holdOn<T>(make: (tapes: Tapes) => T, runs: number, property: (each: T) => void): void {
  const details = fc.check(
    fc.property(anyTapes, (tapes) => property(make(tapes))),
    {
      numRuns: path === undefined ? runs : 1,
      endOnFailure: true,
      seed: PROPERTY_SEED,
      ...(path === undefined ? {} : { path }),
    },
  );
  if (!details.failed || details.counterexample === null) return;
  const onTapes = (tapes: Tapes): void => property(make(tapes));
  const simplest = simplify(details.counterexample[0], onTapes);
  const replay = `STEPWRIGHT_SEED=${details.seed} STEPWRIGHT_PATH=${details.counterexamplePath}`;
  const shown = JSON.stringify(make(simplest));
  throw new Error(`graph ${details.numRuns} of ${runs}; again with ${replay}\n${shown}`, {
    cause: faultOf(simplest, onTapes),
  });
}

/** How often a failing case is made simpler at most. */
const MOST_TRIES = 1_500;

/** Leaves out and zeroes numbers as long as the property fails with them. */
function simplify(tapes: Tapes, property: (tapes: Tapes) => void): Tapes {
  let best = tapes;
  let tries = 0;
  const size = ({ tape, luck }: Tapes): number => JSON.stringify(caseOf(tape, luck)).length;
  const offer = (simpler: Tapes): boolean => {
    tries += 1;
    if (tries > MOST_TRIES || size(simpler) > size(best) || faultOf(simpler, property) === undefined)
      return false;
    best = simpler;
    return true;
  };
  for (const name of ['tape', 'luck'] as const) {
    for (let length = 64; length > 0; length = Math.floor(length / 2)) {
      for (let at = 0; at < best[name].length; ) {
        const list = [...best[name].slice(0, at), ...best[name].slice(at + length)];
        if (!offer({ ...best, [name]: list })) at += length;
      }
    }
    best[name].forEach((number, index) => {
      if (number !== 0) offer({ ...best, [name]: best[name].with(index, 0) });
    });
  }
  return best;
}

function faultOf(tapes: Tapes, property: (tapes: Tapes) => void): unknown {
  try {
    property(tapes);
    return undefined;
  } catch (fault) {
    return fault;
  }
}
