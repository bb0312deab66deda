import type { ErrorNode } from '../../../graph/model.js';
import { endWithError } from '../ending.js';
import type { PlannedNode } from '../plan.js';
import type { Turn } from '../turn.js';

/** Ends the run as failed, also when the message itself cannot be made. */
export function beginError(turn: Turn, planned: PlannedNode, node: ErrorNode): void {
  const message = turn.evaluation.text(node.message, 'message');
  endWithError(turn, planned, message.ok ? { code: node.id, message: message.value } : message.failure);
}
