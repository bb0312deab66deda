import type { RunStoreSource } from '../runtime/runs/run-stores.js';
import { resolveOptions, type TemporalOptions } from './options.js';
import { TemporalRunStore } from './temporal-run-store.js';

export { writeBundle } from './bundle.js';
export type { TemporalOptions, WorkerTuning } from './options.js';
export { MissingSdkError } from './sdk.js';
export { type StartedWorker, startWorker } from './start-worker.js';

/** Keeps the runs of a server on Temporal, for its option `store`. */
export function temporal(options: TemporalOptions = {}): RunStoreSource {
  const resolved = resolveOptions(options);
  return { open: (store) => new TemporalRunStore(resolved, store) };
}
