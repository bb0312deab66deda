import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Sizes } from './sizes.js';

/** One go of something that is measured: µs of CPU time for each unit of its work. */
export type Sample = () => number | Promise<number>;

/**
 * CPU time of the process in µs, all threads together. Unlike the time of day it does not count what else the machine
 * does meanwhile.
 */
export function cpuTime(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/**
 * A go that repeats one piece of work until it has taken long enough to be measured.
 *
 * @param units how many steps, items or nodes `run` handles.
 * @param goMs how long a go takes at least, in ms of CPU time.
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
 * The median cost of each contestant. They take turns, so that whatever else happens meets all of them. What goes on
 * until they are warm does not count.
 *
 * The heap is not swept in between: that would drop optimized code together with the last object it was made for, and
 * every go would begin cold.
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

/** @returns NaN of no values. */
function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  const upper = sorted[sorted.length >> 1] ?? Number.NaN;
  const lower = sorted[(sorted.length - 1) >> 1] ?? Number.NaN;
  return (lower + upper) / 2;
}

/** Bytes on the heap that something still refers to. */
export function heapInUse(): number {
  sweep();
  return process.memoryUsage().heapUsed;
}

/**
 * Moves what is still referred to out of the young part of the heap, so that a go does not pay for what was made before
 * it. Optimized code stays.
 */
export function promote(): void {
  // An object moves the second time it survives.
  for (let time = 0; time < 2; time += 1) sweep({ type: 'minor' });
}

// Without a flag on the command line, so that a test measures as well.
setFlagsFromString('--expose-gc');
const sweep = runInNewContext('gc') as (options?: { readonly type: 'minor' }) => void;
