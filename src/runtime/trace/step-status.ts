import { defined } from '../../graph/defined.js';
import { kinds } from '../../graph/kinds/kinds.js';
import type { Node } from '../../graph/kinds/node.js';
import type { NodeInstance, ScopeInstance } from '../../plan/instances.js';
import type { Failure } from '../engine/contract.js';
import type { SkipReason } from '../engine/events.js';
import { type Ledger, type NodeRecord, recordsIn } from './ledger.js';
import type { StepMeta, StepStatus } from './messages.js';

/** Failures of a call that never began for want of time: nothing has happened, so that it can be made as planned. */
export const NOT_BEGUN: ReadonlySet<string> = new Set(['E_DEADLINE', 'E_CANCELLED']);

/** The state of a step when its run has stopped. */
export interface StepState {
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
export function isSkipAnnounced({ scope }: NodeInstance, reason: SkipReason): boolean {
  const isAtTop = scope.container === undefined;
  return !isAtTop || reason !== 'upstream_failed' || !scope.workflow.plan.failFast;
}

/** The state of a step. @param goesOn the run is not over, so that calls in flight are not lost. */
export function stepStateOf(record: NodeRecord | undefined, goesOn = false): StepState {
  const { status, failure, attempts = 0, issued, reason } = record ?? {};
  const fault = defined({ failure });
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

/**
 * The status of each step; steps of arms and branches follow the step around them. Of steps in loops and other workflows
 * only those that failed are listed: they run any number of times.
 */
export function stepsMeta(ledger: Ledger, goesOn: boolean): StepMeta[] {
  const steps: StepMeta[] = [];
  const visit = (scope: ScopeInstance, inherited: StepStatus | undefined): void => {
    const around = scope.container === undefined ? {} : { in: scope.key };
    for (const planned of scope.plan.nodes) {
      const node = ledger.instances.node(scope, planned);
      const record = ledger.record(node);
      const status = record === undefined ? (inherited ?? 'pending') : statusOf(record, goesOn);
      if (isListed(planned.node) || hasFailed(status)) {
        steps.push({ name: node.key, status, ...around, ...itemsOf(record) });
      }
      if (planned.node.kind === 'foreach' || planned.node.kind === 'workflow')
        steps.push(...failedInside(record));
      else
        for (const part of partsOf(ledger, node))
          visit(part, ledger.part(part) ? undefined : notBegun(status, record));
    }
  };
  visit(ledger.instances.root, undefined);
  return steps;
}

/** What the trace calls skipped is skipped, also where a failure was the reason. */
function statusOf(record: NodeRecord, goesOn: boolean): StepStatus {
  const { node, status, reason } = record;
  if (status === 'skipped' && reason !== undefined && isSkipAnnounced(node, reason)) return 'skipped';
  return stepStateOf(record, goesOn).status;
}

/** The bodies of a branch or a `parallel`. */
function partsOf({ instances }: Ledger, node: NodeInstance): ScopeInstance[] {
  return node.planned.parts.map((_body, part) => instances.part(node, part));
}

/** The status of the steps of a body that has not begun. */
function notBegun(status: StepStatus, record: NodeRecord | undefined): StepStatus {
  const isDecided = record?.taken !== undefined;
  return isDecided || status === 'completed' || status === 'skipped' || status === 'handled'
    ? 'skipped'
    : 'pending';
}

/** Whether it failed, also where another step took over. */
function hasFailed(status: StepStatus): boolean {
  return status === 'failed' || status === 'handled';
}

function failedInside(record: NodeRecord | undefined): StepMeta[] {
  if (record === undefined || record.status === 'succeeded' || record.status === 'handled') return [];
  return [...record.parts.values()].flatMap((part) =>
    [...recordsIn(part)].flatMap((inside) => {
      const { status } = stepStateOf(inside);
      return hasFailed(status) ? [{ name: inside.node.key, status, in: inside.node.scope.key }] : [];
    }),
  );
}

function itemsOf(record: NodeRecord | undefined): Pick<StepMeta, 'items'> {
  if (record?.count === undefined || record.node.planned.node.kind !== 'foreach') return {};
  return { items: record.count };
}
