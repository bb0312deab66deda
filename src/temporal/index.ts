import type { RunStoreSource } from '../runtime/runs/operate/run-stores.js';
import { resolveOptions, type TemporalOptions } from './options.js';
import { sourceOf } from './start-worker.js';

export { writeBundle } from './bundle.js';
export type { TemporalOptions, WorkerTuning } from './options.js';
export { type StartedWorker, startWorker } from './start-worker.js';

/**
 * Keeps the runs of a server on Temporal, for its option `store`.
 *
 * @param options or a name such as `temporal://localhost:7233/default?taskQueue=QUEUE`.
 * @throws StoreError for a name that is malformed.
 */
export function temporal(options: TemporalOptions | string = {}): RunStoreSource {
  return sourceOf(resolveOptions(options));
}
