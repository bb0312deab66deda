import type { ReturnNode } from '../../../graph/model.js';
import { endWithReturn, failForGood } from '../ending.js';
import type { NodeRecord } from '../records.js';
import { readerOf, type Transition } from '../transition.js';

/** Ends the node's workflow with a value. */
export function beginReturn(transition: Transition, node: NodeRecord, { value }: ReturnNode): void {
  const evaluated = readerOf(transition, node).value(value);
  if (evaluated.ok) endWithReturn(transition, node, evaluated.value);
  else failForGood(transition, node, { failure: evaluated.failure, reached: 0, final: true });
}
