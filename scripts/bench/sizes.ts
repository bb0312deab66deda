/** How much is measured. */
export interface Sizes {
  /** How long each contestant warms up, in ms of CPU time. */
  readonly warmUpMs: number;
  /** Goes of each contestant, of which the median counts. */
  readonly rounds: number;
  /** How long a go takes at least, in ms of CPU time. */
  readonly goMs: number;
  /** Lengths of the linear workflows. */
  readonly steps: readonly number[];
  /** Items of the fan-out, and how many of them run at once. */
  readonly items: number;
  readonly concurrency: readonly number[];
  /** Nodes of the smaller and the larger graph. */
  readonly nodes: readonly [smaller: number, larger: number];
  /** An early and a late step of a run, counted from 1, and how many steps from there are measured, in how many runs. */
  readonly window: {
    readonly early: number;
    readonly late: number;
    readonly width: number;
    readonly runs: number;
  };
  /** Bytes of state that should cost nothing. */
  readonly stateBytes: number;
  /** How many runs wait at once. */
  readonly waiting: number;
  /** Items of the smaller and the larger loop over secrets. */
  readonly secrets: readonly [fewer: number, more: number];
}

/** What `npm run bench` measures. */
export const FULL: Sizes = {
  warmUpMs: 1_000,
  rounds: 11,
  goMs: 150,
  steps: [10, 1_000, 5_000],
  items: 100,
  concurrency: [10, 100],
  nodes: [1_000, 10_000],
  window: { early: 10, late: 5_000, width: 100, runs: 10 },
  stateBytes: 1_000_000,
  waiting: 10_000,
  secrets: [100, 800],
};

/** Enough to see that everything is measured, and nothing more. */
export const TINY: Sizes = {
  warmUpMs: 0,
  rounds: 1,
  goMs: 0,
  steps: [2, 3],
  items: 4,
  concurrency: [2, 3],
  nodes: [4, 8],
  window: { early: 2, late: 5, width: 2, runs: 1 },
  stateBytes: 1_000,
  waiting: 10,
  secrets: [2, 4],
};
