import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** One go of something that is measured: µs of CPU time for each unit of its work. */
export type Sample = () => number | Promise<number>;

/**
 * CPU time of the process in µs, all threads together. Unlike the time of day it hardly depends on what else the
 * machine does.
 */
export function cpuTime(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/**
 * A go that does all of its work at once.
 *
 * @param units how many steps, items or nodes one `run` is.
 * @param times how often a go repeats it, so that it takes long enough to be measured.
 */
export function timed(units: number, times: number, run: () => unknown): Sample {
  return async () => {
    const begin = cpuTime();
    for (let time = 0; time < times; time += 1) {
      const running = run();
      if (running instanceof Promise) await running;
    }
    return (cpuTime() - begin) / (units * times);
  };
}

/**
 * The median of each contestant. They take turns, so that whatever else happens meets all of them, and each begins
 * with a swept heap, so that none pays for another. The first third of the rounds warms up and does not count.
 */
export async function inTurns<Name extends string>(
  contestants: Readonly<Record<Name, Sample>>,
  rounds: number,
): Promise<Record<Name, number>> {
  const names = Object.keys(contestants) as Name[];
  const taken = new Map<Name, number[]>(names.map((name) => [name, []]));
  const warmUp = Math.floor(rounds / 3);
  for (let round = 0; round < rounds; round += 1) {
    for (const name of names) {
      sweep();
      const cost = await contestants[name]();
      if (round >= warmUp) taken.get(name)?.push(cost);
    }
  }
  return Object.fromEntries(names.map((name) => [name, median(taken.get(name) ?? [])])) as Record<
    Name,
    number
  >;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** Bytes on the heap that something still refers to. */
export function heapInUse(): number {
  sweep();
  return process.memoryUsage().heapUsed;
}

setFlagsFromString('--expose-gc');
const sweep = runInNewContext('gc') as () => void;
