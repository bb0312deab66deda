import type { NodeInstance, ScopeInstance } from '../../../plan/instances.js';
import { type Ledger, type NodeRecord, recordsIn } from './ledger.js';
import type { StepMeta, StepStatus } from './messages.js';
import { isListed, isToldSkip, outlookOf } from './outlook.js';

/**
 * How each step stands, those of arms and branches behind the step they stand in. Of what stands in loops and other
 * workflows only failures are listed: their steps run as often as it takes.
 */
export function stepsMeta(ledger: Ledger, goesOn: boolean): StepMeta[] {
  const steps: StepMeta[] = [];
  const visit = (scope: ScopeInstance, standing: StepStatus | undefined): void => {
    const around = scope.container === undefined ? {} : { in: scope.key };
    for (const planned of scope.plan.nodes) {
      const node = ledger.instances.node(scope, planned);
      const record = ledger.record(node);
      const status = record === undefined ? (standing ?? 'pending') : statusOf(record, goesOn);
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
  if (status === 'skipped' && reason !== undefined && isToldSkip(node, reason)) return 'skipped';
  return outlookOf(record, goesOn).status;
}

/** The bodies of a branch or a `parallel`. */
function partsOf({ instances }: Ledger, node: NodeInstance): ScopeInstance[] {
  return node.planned.parts.map((_body, part) => instances.part(node, part));
}

/** How the steps of a body stand that has not begun. */
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
      const { status } = outlookOf(inside);
      return hasFailed(status) ? [{ name: inside.node.key, status, in: inside.node.scope.key }] : [];
    }),
  );
}

function itemsOf(record: NodeRecord | undefined): Pick<StepMeta, 'items'> {
  if (record?.count === undefined || record.node.planned.node.kind !== 'foreach') return {};
  return { items: record.count };
}
