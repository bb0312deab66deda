import { kinds } from '../../../graph/kinds/kinds.js';
import type { Node } from '../../../graph/model.js';
import type { NodeInstance } from '../../../plan/instances.js';
import type { Failure, SkipReason } from '../../engine/contract.js';
import type { NodeRecord } from './ledger.js';
import type { StepStatus } from './messages.js';

/** Failures of a call that never began for want of time: nothing has happened, so that it can be made as planned. */
export const NOT_BEGUN: ReadonlySet<string> = new Set(['E_DEADLINE', 'E_CANCELLED']);

/** How a step stands when its run has stopped. */
export interface Outlook {
  readonly status: StepStatus;
  readonly failure?: Failure;
  /** Meaningful for a failed step: 0 when nothing was called, so that nothing can have happened. */
  readonly attempts: number;
}

/** Whether a plan lists a node. */
export function isListed({ kind }: Pick<Node, 'kind'>): boolean {
  return kinds[kind].isStep;
}

/**
 * Whether a trace says that a step is skipped. A run that stops at a failure says by its hand-off what it left undone at
 * the top.
 */
export function isToldSkip({ scope }: NodeInstance, reason: SkipReason): boolean {
  const isAtTop = scope.container === undefined;
  return !isAtTop || reason !== 'upstream_failed' || !scope.workflow.plan.failFast;
}

/** How a step stands. @param goesOn the run is not over: what is under way is not lost. */
export function outlookOf(record: NodeRecord | undefined, goesOn = false): Outlook {
  const { status, failure, attempts = 0, issued, reason } = record ?? {};
  const fault = failure === undefined ? {} : { failure };
  switch (status) {
    case 'succeeded':
      return { status: 'completed', attempts };
    case 'failed':
    case 'handled':
      return { status, attempts, ...fault };
    case 'skipped':
      // What a failure kept from starting can still be done; what a condition left out was not wanted.
      return { status: reason === 'upstream_failed' ? 'pending' : 'skipped', attempts };
    case 'running':
    case 'waiting':
      if (goesOn) return { status, attempts };
      return issued === undefined
        ? { status: 'pending', attempts }
        : { status: 'failed', attempts: Math.max(1, attempts), ...fault };
    case 'cancelled':
      return attempts === 0 ? { status: 'pending', attempts } : { status: 'failed', attempts, ...fault };
    case 'pending':
    case 'ready':
    case undefined:
      return { status: 'pending', attempts };
    default:
      return status satisfies never;
  }
}
