import type { DataConverter } from '@temporalio/common';
import type { NativeConnectionOptions, WorkerOptions } from '@temporalio/worker';

/** Where runs are kept and executed on Temporal. */
export interface TemporalOptions extends Pick<NativeConnectionOptions, 'tls' | 'apiKey' | 'metadata'> {
  /** The address of the frontend, `HOST:PORT`. Default: `localhost:7233`. */
  readonly address?: string;
  /** Default: `default`. */
  readonly namespace?: string;
  /** Where workers get their work. Default: `stepwright`. */
  readonly taskQueue?: string;
  /**
   * Whether this process executes runs too, and how; the options are those of `Worker.create` of `@temporalio/worker`.
   * Default: true. With `false` it starts, answers and shows runs, which workers of other processes execute.
   */
  readonly worker?: boolean | WorkerTuning;
  /**
   * A file that `writeBundle()` has written with the same version of the SDK: a worker starts without bundling the
   * interpreter, which takes seconds. Default: it is bundled when the first worker of the process starts.
   */
  readonly bundlePath?: string;
  /**
   * How many events the history of a workflow may have, about: then the run continues in another one of the same id.
   * Default: 10 000.
   */
  readonly maxEvents?: number;
  /** How payloads are converted and encrypted. Default: JSON, not encrypted. */
  readonly dataConverter?: DataConverter;
}

/** Options of a worker beside those that a store sets. */
export type WorkerTuning = Omit<
  WorkerOptions,
  | 'activities'
  | 'bundlerOptions'
  | 'connection'
  | 'dataConverter'
  | 'namespace'
  | 'taskQueue'
  | 'workflowBundle'
  | 'workflowsPath'
>;

/** Options with their defaults. */
export interface ResolvedOptions extends TemporalOptions {
  readonly address: string;
  readonly namespace: string;
  readonly taskQueue: string;
  readonly maxEvents: number;
}

export function resolveOptions(options: TemporalOptions): ResolvedOptions {
  return {
    ...{ address: 'localhost:7233', namespace: 'default', taskQueue: 'stepwright', maxEvents: 10_000 },
    ...options,
  };
}
