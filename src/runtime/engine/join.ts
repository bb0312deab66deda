import type { JoinRule } from '../../graph/model.js';
import { unreachable } from '../../graph/unreachable.js';
import type { NodeStatus, SkipReason } from './contract.js';

/** What a node's dependencies mean for it: it runs, or it is skipped for a reason. */
export type JoinVerdict = { readonly run: true } | { readonly run: false; readonly reason: SkipReason };

/** How a dependency has ended. */
export interface Settlement {
  readonly status: NodeStatus;
  readonly reason?: SkipReason | undefined;
}

/** How the settled state of one dependency counts in a join. */
type Standing = 'succeeded' | 'failed' | 'skipped';

const RUN: JoinVerdict = { run: true };
const SKIP_FAILED: JoinVerdict = { run: false, reason: 'upstream_failed' };
const SKIP_SKIPPED: JoinVerdict = { run: false, reason: 'upstream_skipped' };

/** What has become of a node's dependencies, once every one of them has settled. */
export class Settlements {
  #succeeded = false;
  #failed = false;
  #skipped = false;

  /**
   * Takes note of a dependency. One that was skipped because of a failure further up counts as failed, so that a failure
   * reaches all who depend on it; a skip for any other reason, and a failure that was handled, count as skipped.
   */
  add(dependency: Settlement): void {
    const counted = standing(dependency);
    if (counted === 'succeeded') this.#succeeded = true;
    else if (counted === 'failed') this.#failed = true;
    else this.#skipped = true;
  }

  /** Decides by a join rule. Without dependencies every rule lets the node run. */
  verdict(rule: JoinRule): JoinVerdict {
    return join(rule, this.#succeeded, this.#failed, this.#skipped);
  }
}

function join(rule: JoinRule, succeeded: boolean, failed: boolean, skipped: boolean): JoinVerdict {
  if (!succeeded && !failed && !skipped) return RUN;
  switch (rule) {
    case 'all_success':
      if (failed) return SKIP_FAILED;
      return skipped ? SKIP_SKIPPED : RUN;
    case 'none_failed':
      return failed ? SKIP_FAILED : RUN;
    case 'none_failed_min_one_success':
      if (failed) return SKIP_FAILED;
      return succeeded ? RUN : SKIP_SKIPPED;
    case 'one_success':
      if (succeeded) return RUN;
      return failed ? SKIP_FAILED : SKIP_SKIPPED;
    case 'all_done':
      return RUN;
    default:
      return unreachable(rule);
  }
}

function standing(row: Settlement): Standing {
  switch (row.status) {
    case 'succeeded':
      return 'succeeded';
    case 'failed':
    case 'cancelled':
      return 'failed';
    case 'handled':
      return 'skipped';
    case 'skipped':
      return row.reason === 'upstream_failed' ? 'failed' : 'skipped';
    case 'pending':
    case 'ready':
    case 'running':
    case 'waiting':
      throw new Error(`join of a dependency that is still ${row.status}`);
    default:
      return unreachable(row.status);
  }
}
