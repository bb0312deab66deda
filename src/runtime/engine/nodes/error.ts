import { failureCodeOf } from '../../../graph/failure-code.js';
import type { ErrorNode } from '../../../graph/model.js';
import { endWithError } from '../ending.js';
import type { NodeRecord } from '../records.js';
import { readerOf, type Transition } from '../transition.js';

/** Ends the node's scope as failed, also when the message itself cannot be made. [E8] */
export function beginError(transition: Transition, node: NodeRecord, error: ErrorNode): void {
  const told = readerOf(transition, node).text(error.message, 'message');
  endWithError(
    transition,
    node,
    told.ok ? { code: failureCodeOf(error), message: told.value } : told.failure,
  );
}
