import { failureCodeOf } from '../../../graph/failure-code.js';
import type { ErrorNode } from '../../../graph/model.js';
import { endWithError } from '../ending.js';
import type { NodeInstance } from '../instances.js';
import { readerOf, type Turn } from '../turn.js';

/** Ends the node's scope as failed, also when the message itself cannot be made. [E8] */
export function beginError(turn: Turn, node: NodeInstance, error: ErrorNode): void {
  const told = readerOf(turn, node).text(error.message, 'message');
  endWithError(turn, node, told.ok ? { code: failureCodeOf(error), message: told.value } : told.failure);
}
