import type { JsonObject } from '../../../graph/json.js';
import { ownResources } from '../../../graph/nodes.js';
import { attemptDueAt, attemptFailed, hasTime, nextAttemptId, scheduleNextAttempt } from '../attempt.js';
import type { Failure, OwedCommand } from '../events.js';
import { ownReadId } from '../identity.js';
import type { NodeRecord } from '../records.js';
import { reportShown } from '../settle.js';
import type { Transition } from '../transition.js';

/** The read of one of a node's own resources. */
type OwnRead = Extract<OwedCommand, { kind: 'readResource' }>;

/**
 * Reads the next of a node's own resources. The node waits meanwhile, without a slot. Each is read once, whatever
 * becomes of the attempts after it. [N9]
 *
 * @returns false if the node may act: all were read.
 */
export function readsNext(transition: Transition, node: NodeRecord): boolean {
  const { shown } = node.details;
  const next = ownResources(node.planned.node)[shown];
  if (next === undefined) return false;
  if (!hasTime(transition, node)) return true;
  const { resource, uri } = next;
  transition.change(node).status = 'waiting';
  transition.issueCommand(node, {
    kind: 'readResource',
    id: ownReadId(nextAttemptId(transition, node), shown),
    node: node.key,
    resource,
    uri,
    dueAt: attemptDueAt(transition, node),
    isOwn: true,
  });
  return true;
}

/** Continues a node after one of its resources was read. */
export function ownResourceRead(
  transition: Transition,
  node: NodeRecord,
  read: OwnRead,
  value: JsonObject,
): true {
  transition.settleCommand(read.id);
  reportShown(transition, read, { ok: true, value });
  transition.change(node).set('shown', node.details.shown + 1);
  if (!readsNext(transition, node)) scheduleNextAttempt(transition, node);
  return true;
}

/** Fails the attempt that a read was for. Another attempt reads again. */
export function ownReadFailed(transition: Transition, node: NodeRecord, failure: Failure): void {
  const { outcomeUnknown: _unknown, ...known } = failure;
  transition.change(node).attempt += 1;
  attemptFailed(transition, node, { failure: known, attempted: false, isPermanent: false });
}
