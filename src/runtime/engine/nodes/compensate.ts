import type { CompensationReport } from '../contract.js';
import { closeRollback } from '../effects.js';
import { fail, failForGood } from '../ending.js';
import { failures, reportAsJson } from '../failures.js';
import type { NodeRecord } from '../records.js';
import { succeed } from '../settle.js';
import type { Transition } from '../transition.js';
import { beginCompensating } from '../undo.js';
import { isFinal, partialFailure } from './parallel.js';

/** Undoes earlier work in the written order. [E9] */
export function beginCompensate(transition: Transition, node: NodeRecord): void {
  transition.change(node).status = 'running';
  node.attempt += 1;
  beginCompensating(transition, node, causeOf(transition, node)?.failure);
}

/**
 * All is undone that could be. One that was selected because of a failure passes that on; one that a branch chose has
 * done its work, unless that failed.
 */
export function compensated(
  transition: Transition,
  node: NodeRecord,
  report: CompensationReport,
  hasHalted: boolean,
): void {
  const { attempt: reached } = node;
  const cause = causeOf(transition, node, report);
  if (cause !== undefined) failForGood(transition, node, { ...cause, reached });
  else if (hasHalted)
    fail(transition, node, { failure: failures.compensation(report), reached, final: true });
  else succeed(transition, node, reportAsJson(report));
}

/** The failure that led here. */
function causeOf(transition: Transition, { details }: NodeRecord, report?: CompensationReport) {
  const [selection] = details.selections;
  if (selection === undefined) return undefined;
  const { by, why } = selection;
  if (why === 'rollback') {
    const isUnsafe = report !== undefined && closeRollback(transition, by);
    return { failure: partialFailure(by, report), final: isUnsafe || isFinal(by) };
  }
  const { failure, final } = by.details;
  return why === 'fallback' && failure !== undefined ? { failure, final } : undefined;
}
