import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Sizes } from './sizes.js';

/** One sample of a measurement: CPU time in µs for each unit of work. */
export type Sample = () => number | Promise<number>;

/**
 * CPU time of the process in µs, of all threads. Unlike wall-clock time it does not include other processes.
 */
export function cpuTime(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/**
 * Makes a sample that repeats a piece of work until it has taken long enough to be measured.
 *
 * @param units how many steps, items or nodes `run` handles.
 * @param goMs the least duration of a sample, in ms of CPU time.
 * @param meter reads the CPU time in µs. Default: that of this process.
 */
export function timed(
  units: number,
  goMs: number,
  run: () => unknown,
  meter: () => number | Promise<number> = cpuTime,
): Sample {
  return async () => {
    const begin = await meter();
    let done = 0;
    for (let times = 1; ; times *= 2) {
      for (let time = 0; time < times; time += 1) {
        const running = run();
        if (running instanceof Promise) await running;
      }
      done += times;
      const spent = (await meter()) - begin;
      if (spent >= goMs * 1_000) return spent / (units * done);
    }
  };
}

/**
 * Returns the median cost of each contestant. They take turns, so that disturbances affect all of them. Samples before
 * they are warm do not count.
 *
 * The garbage is not collected in between: that would drop optimized code together with the last object it was made
 * for, so that every sample would begin cold.
 */
export async function inTurns<Name extends string>(
  contestants: Readonly<Record<Name, Sample>>,
  { rounds, warmUpMs }: Pick<Sizes, 'rounds' | 'warmUpMs'>,
): Promise<Record<Name, number>> {
  const names = Object.keys(contestants) as Name[];
  const warm = cpuTime() + warmUpMs * 1_000 * names.length;
  while (cpuTime() < warm) for (const name of names) await contestants[name]();
  const costs = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>;
  for (let round = 0; round < rounds; round += 1) {
    for (const name of names) costs[name].push(await contestants[name]());
  }
  return Object.fromEntries(names.map((name) => [name, median(costs[name])])) as Record<Name, number>;
}

/** @returns NaN for an empty list. */
function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  const upper = sorted[sorted.length >> 1] ?? Number.NaN;
  const lower = sorted[(sorted.length - 1) >> 1] ?? Number.NaN;
  return (lower + upper) / 2;
}

/** Bytes of reachable objects on the heap. */
export function heapInUse(): number {
  sweep();
  return process.memoryUsage().heapUsed;
}

/**
 * Moves reachable objects out of the young generation of the heap, so that a sample does not include the collection of
 * earlier objects. Optimized code is kept.
 */
export function promote(): void {
  // An object moves when it survives for the second time.
  for (let time = 0; time < 2; time += 1) sweep({ type: 'minor' });
}

// Set here and not on the command line, so that tests can measure too.
setFlagsFromString('--expose-gc');
const sweep = runInNewContext('gc') as (options?: { readonly type: 'minor' }) => void;
