import type { ErrorNode } from '../../../graph/model.js';
import { endWithError } from '../ending.js';
import type { NodeInstance } from '../instances.js';
import { readerOf, type Turn } from '../turn.js';

/** Ends the node's scope as failed, also when the message itself cannot be made. [E8] */
export function beginError(turn: Turn, node: NodeInstance, { id, message }: ErrorNode): void {
  const told = readerOf(turn, node).text(message, 'message');
  endWithError(turn, node, told.ok ? { code: id, message: told.value } : told.failure);
}
