import type { Owner } from '../../decorators/context.js';
import type { Graph } from '../../graph/model.js';
import type { Failure } from '../engine/contract.js';
import type { RunLimits } from './run-store.js';
import type { StoreParts } from './stored-run.js';

/** What a run store is made of. */
export interface RunStoreOptions extends Omit<StoreParts, 'idle' | 'onEnd'> {
  /** Makes the id of a run, which must be unique and impossible to guess. */
  readonly newRunId: () => string;
  readonly limits?: Partial<RunLimits>;
  /** Why a run may not start for an owner. Default: every run may. */
  readonly refusal?: (graph: Graph, owner: Owner) => Failure | undefined;
}
