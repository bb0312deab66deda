import type { CompensationReport } from '../contract.js';
import { closeRollback } from '../effects.js';
import { fail, failForGood } from '../ending.js';
import { failures, reportAsJson } from '../failures.js';
import type { NodeInstance } from '../instances.js';
import { succeed } from '../settle.js';
import type { Turn } from '../turn.js';
import { beginCompensating } from '../undo.js';
import { isFinal, partialFailure } from './parallel.js';

/** Undoes earlier work in the written order. [E9] */
export function beginCompensate(turn: Turn, node: NodeInstance): void {
  const { nodes } = turn.recorder.tables;
  const row = nodes.need(node.key);
  nodes.put(node.key, { ...row, status: 'running', attempt: row.attempt + 1 });
  beginCompensating(turn, node, causeOf(turn, node)?.failure);
}

/**
 * All is undone that could be. One that was selected because of a failure passes that on; one that a branch chose has
 * done its work, unless that failed.
 */
export function compensated(
  turn: Turn,
  node: NodeInstance,
  report: CompensationReport,
  hasHalted: boolean,
): void {
  const { attempt: reached } = turn.recorder.tables.nodes.need(node.key);
  const cause = causeOf(turn, node, report);
  if (cause !== undefined) failForGood(turn, node, { ...cause, reached });
  else if (hasHalted) fail(turn, node, { failure: failures.compensation(report), reached, final: true });
  else succeed(turn, node, reportAsJson(report));
}

/** The failure that led here. */
function causeOf(turn: Turn, node: NodeInstance, report?: CompensationReport) {
  const { nodes } = turn.recorder.tables;
  const selection = nodes.need(node.key).selections?.[0];
  if (selection === undefined) return undefined;
  const by = turn.instances.find(selection.by);
  if (selection.why === 'rollback') {
    const isUnsafe = report !== undefined && closeRollback(turn, by);
    return { failure: partialFailure(turn, by, report), final: isUnsafe || isFinal(turn, by) };
  }
  const { failure, final = false } = nodes.need(selection.by);
  return selection.why === 'fallback' && failure !== undefined ? { failure, final } : undefined;
}
