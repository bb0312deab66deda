import type { Json } from '../../../graph/json.js';
import type { agentItemOf } from '../../engine/agent-items.js';
import type { Fact, Failure } from '../../engine/contract.js';
import { maskedFailure } from '../../secrets/mask.js';
import type { RunMask } from '../../secrets/run-mask.js';
import { openActions } from './open-actions.js';

/** A child of a run, as its agent sees it. */
interface ChildView extends NonNullable<ReturnType<typeof agentItemOf>> {
  readonly outcome?: Extract<Fact, { kind: 'partEnded' }>['outcome'];
}

interface RunView {
  readonly mask: RunMask;
  /** Missing when the run is over. */
  readonly view: Parameters<typeof openActions>[0] | undefined;
  /** Ms since the epoch. */
  readonly now: number;
}

/** A step as its agent gets it: an open action without the id of the run. */
type Step<A = ReturnType<typeof openActions>[number]> = A extends unknown ? Omit<A, 'workflow_id'> : never;

/** What the agent of a child does next. Plain JSON. */
type NextStep =
  | { readonly status: 'pending_step'; readonly step: Step }
  | { readonly status: 'waiting'; readonly retry_after_ms: number }
  | { readonly status: 'complete'; readonly final_result: Json }
  | { readonly status: 'error'; readonly error: Pick<Failure, 'code' | 'message'> };

/** An agent asks again after so many ms where it is not known when its next step is there. */
const RETRY_MS = 1_000;

/** The next step of a child: the same one until it is submitted. */
export function nextStepOf({ outcome, ...item }: ChildView, { mask, view, now }: RunView): NextStep {
  switch (outcome?.status) {
    case 'succeeded':
      return {
        status: 'complete',
        final_result: mask.outputOf(item.loop, outcome.value ?? null, [item.index]),
      };
    case 'failed': {
      const { code, message } = maskedFailure(outcome.failure, mask);
      return { status: 'error', error: { code, message } };
    }
    case 'cancelled':
      return { status: 'error', error: CANCELLED };
    default:
  }
  if (view === undefined) return { status: 'error', error: CANCELLED };
  const open = openActions(view, item);
  const action = open.find(({ type }) => type !== 'wait');
  if (action !== undefined) {
    const { workflow_id: _run, ...step } = action;
    return { status: 'pending_step', step: step as Step };
  }
  const times = open.flatMap(({ resume_at }) =>
    resume_at === undefined ? [] : [Date.parse(resume_at) - now],
  );
  return {
    status: 'waiting',
    retry_after_ms: times.length === 0 ? RETRY_MS : Math.max(0, Math.min(...times)),
  };
}

const CANCELLED = {
  code: 'WORKFLOW_CANCELLED',
  message: 'The task was cancelled: its workflow continues without it, or has ended. Stop working on it.',
} as const;
