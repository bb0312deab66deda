/** The sizes of all measurements. */
export interface Sizes {
  /** How long each contestant warms up, in ms of CPU time. */
  readonly warmUpMs: number;
  /** Samples of each contestant, of which the median counts. */
  readonly rounds: number;
  /** The least duration of a sample, in ms of CPU time. */
  readonly goMs: number;
  /** Lengths of the linear workflows, and the target of the ratio of a step of the engine to one of XState. */
  readonly steps: readonly [LineSize, ...LineSize[]];
  /** Items of the fan-outs, and how many of them run at once. */
  readonly items: readonly [LoopSize, ...LoopSize[]];
  /** How many waits are open, and the calls beside them. */
  readonly openWaits: { readonly count: number; readonly calls: number };
  /** How many runs are open in a file beside a start and an answer. */
  readonly openRuns: readonly number[];
  /** Steps of the shorter and the longer workflow that is built by a program. */
  readonly built: readonly [shorter: number, longer: number];
  /** Steps of the shorter and the longer prompt. */
  readonly prompt: readonly [shorter: number, longer: number];
  /** Nodes of the smaller and the larger graph. */
  readonly nodes: readonly [smaller: number, larger: number];
  /**
   * An early and a late step of a run, counted from 1, and how many steps from there are measured, in how many runs.
   */
  readonly window: {
    readonly early: number;
    readonly late: number;
    readonly width: number;
    readonly runs: number;
  };
  /** Bytes of state that should have no cost. */
  readonly stateBytes: number;
  /** How many runs wait at once. */
  readonly waiting: number;
  /** Items of the smaller and the larger loop over secrets. */
  readonly secrets: readonly [fewer: number, more: number];
  /** Runs in a file. */
  readonly durable: {
    /** Steps of a single run; as many events has the run that is resumed. */
    readonly steps: number;
    /** How many runs there are at once, and steps of each. */
    readonly together: { readonly runs: number; readonly steps: number };
    /** Items of a loop, and how many such loops run one after the other. */
    readonly items: { readonly count: number; readonly loops: number };
    /** Steps of a run beside other engines, which write more for each step of a longer run. */
    readonly peerSteps: number;
    /** Runs of the length that `window` has. */
    readonly longRuns: number;
  };
  /** Steps of runs on Temporal. */
  readonly temporal: { readonly line: number; readonly fan: number };
  /**
   * Nodes of the large spec file, how often a hostile text repeats, the files that are loaded at once, and those that a
   * server has when one of them changes.
   */
  readonly specs: {
    readonly nodes: number;
    readonly hostile: number;
    readonly files: number;
    readonly nodesOfEach: number;
    readonly served: number;
  };
  /** Tools of the server that starts, and of the one whose lists are measured. */
  readonly tools: readonly [started: number, listed: number];
  /** The projects that are compiled. */
  readonly compiled: readonly [CompiledSize, ...CompiledSize[]];
  /** The project that `stepwright dev` serves, how often a workflow is edited, and the pause before each edit. */
  readonly dev: {
    readonly workflows: number;
    readonly tools: number;
    readonly edits: number;
    readonly pauseMs: number;
  };
  /** Runs in the store of the studio, and samples of each page. */
  readonly studio: { readonly runs: number; readonly samples: number };
}

/** A project that is compiled. */
export interface CompiledSize {
  readonly workflows: number;
  readonly tools: number;
  /** Where the schemas of the tools come from. */
  readonly schemas: 'types' | 'zod';
  /** How often each process is started: they take seconds. */
  readonly rounds: number;
  /** How often a file is edited while one process watches; 0 where rebuilds are not measured. */
  readonly edits: number;
  /** The ratio of a cold run to tsc; all others, which may be missing, in µs of CPU time and in kB. */
  readonly targets: {
    readonly cold: number;
    readonly memoryKb?: number;
    readonly edited?: number;
    readonly unchanged?: number;
    readonly check?: number;
    readonly workflow?: number;
    readonly tool?: number;
  };
}

interface LineSize {
  readonly count: number;
  readonly atMost: number;
}

interface LoopSize {
  readonly count: number;
  readonly concurrency: number;
}

/** What `npm run bench` measures. */
export const FULL: Sizes = {
  warmUpMs: 1_000,
  rounds: 11,
  goMs: 150,
  steps: [
    { count: 10, atMost: 0.1 },
    { count: 1_000, atMost: 0.15 },
    { count: 10_000, atMost: 0.15 },
  ],
  items: [
    { count: 100, concurrency: 10 },
    { count: 100, concurrency: 100 },
    { count: 10_000, concurrency: 10 },
  ],
  openWaits: { count: 16_000, calls: 5_000 },
  openRuns: [10_000, 100_000],
  built: [10, 3_000],
  prompt: [3, 30],
  nodes: [1_000, 10_000],
  window: { early: 50, late: 50_000, width: 1_000, runs: 1 },
  stateBytes: 1_000_000,
  waiting: 10_000,
  secrets: [100, 800],
  durable: {
    steps: 1_000,
    together: { runs: 50, steps: 100 },
    items: { count: 100, loops: 20 },
    peerSteps: 50,
    longRuns: 3,
  },
  temporal: { line: 50, fan: 100 },
  specs: { nodes: 1_000, hostile: 10_000, files: 100, nodesOfEach: 6, served: 500 },
  tools: [20, 100],
  compiled: [
    {
      ...{ workflows: 100, tools: 50, schemas: 'types', rounds: 5, edits: 40 },
      targets: {
        ...{ cold: 0.67, edited: 800_000, unchanged: 200_000, check: 250_000 },
        ...{ workflow: 60_000, tool: 150_000 },
      },
    },
    { ...{ workflows: 100, tools: 50, schemas: 'zod', rounds: 3, edits: 0 }, targets: { cold: 0.33 } },
    {
      ...{ workflows: 1_000, tools: 100, schemas: 'types', rounds: 3, edits: 20 },
      targets: {
        ...{ cold: 0.67, memoryKb: 400_000, unchanged: 450_000 },
        ...{ workflow: 150_000, tool: 400_000 },
      },
    },
    { ...{ workflows: 3_000, tools: 100, schemas: 'types', rounds: 1, edits: 5 }, targets: { cold: 0.67 } },
  ],
  dev: { workflows: 100, tools: 50, edits: 30, pauseMs: 3_000 },
  studio: { runs: 1_000, samples: 21 },
};

/** The same with fewer and shorter samples of warm code, for quick checks and not for published figures. */
export const QUICK: Sizes = {
  ...{ ...FULL, rounds: 3, goMs: 50, studio: { runs: 1_000, samples: 7 } },
  compiled: [{ ...FULL.compiled[0], rounds: 3 }],
};

/** The least sizes, to test that everything is measured. */
export const TINY: Sizes = {
  warmUpMs: 0,
  rounds: 1,
  goMs: 0,
  steps: [
    { count: 2, atMost: 0.1 },
    { count: 3, atMost: 0.1 },
  ],
  items: [
    { count: 4, concurrency: 2 },
    { count: 5, concurrency: 3 },
  ],
  openWaits: { count: 3, calls: 4 },
  openRuns: [5],
  built: [2, 3],
  prompt: [2, 3],
  nodes: [4, 8],
  window: { early: 2, late: 5, width: 2, runs: 1 },
  stateBytes: 1_000,
  waiting: 10,
  secrets: [2, 4],
  durable: {
    steps: 3,
    together: { runs: 2, steps: 2 },
    items: { count: 4, loops: 2 },
    peerSteps: 3,
    longRuns: 1,
  },
  temporal: { line: 3, fan: 4 },
  specs: { nodes: 3, hostile: 100, files: 2, nodesOfEach: 2, served: 3 },
  tools: [2, 3],
  compiled: [
    { ...{ workflows: 2, tools: 2, schemas: 'types', rounds: 1, edits: 2 }, targets: { cold: 1 } },
    { ...{ workflows: 2, tools: 2, schemas: 'zod', rounds: 1, edits: 0 }, targets: { cold: 1 } },
  ],
  dev: { workflows: 2, tools: 2, edits: 1, pauseMs: 0 },
  studio: { runs: 2, samples: 1 },
};
