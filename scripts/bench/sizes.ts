/** How much is measured. */
export interface Sizes {
  /** Goes of each contestant; the first third does not count. */
  readonly rounds: number;
  /** Roughly how many steps, items or nodes one go handles. */
  readonly work: number;
  /** Lengths of the linear workflows. */
  readonly steps: readonly number[];
  /** Items of the fan-out, and how many of them run at once. */
  readonly items: number;
  readonly concurrency: readonly number[];
  /** Nodes of the smaller and the larger graph. */
  readonly nodes: readonly [smaller: number, larger: number];
  /** The early and the late step of a run, counted from 1, and how many steps around each are measured. */
  readonly window: { readonly early: number; readonly late: number; readonly width: number };
  /** Bytes of state that should cost nothing. */
  readonly stateBytes: number;
  /** How many runs wait at once. */
  readonly waiting: number;
}

/** What `npm run bench` measures. */
export const FULL: Sizes = {
  rounds: 15,
  work: 10_000,
  steps: [10, 1_000, 5_000],
  items: 100,
  concurrency: [10, 100],
  nodes: [1_000, 10_000],
  window: { early: 10, late: 5_000, width: 10 },
  stateBytes: 1_000_000,
  waiting: 10_000,
};

/** Enough to see that everything is measured, and nothing more. */
export const TINY: Sizes = {
  rounds: 1,
  work: 20,
  steps: [2, 3],
  items: 4,
  concurrency: [2],
  nodes: [4, 8],
  window: { early: 3, late: 8, width: 2 },
  stateBytes: 1_000,
  waiting: 10,
};

/** How often a go repeats what handles `units` at once. */
export function timesFor({ work }: Sizes, units: number): number {
  return Math.max(1, Math.round(work / units));
}
