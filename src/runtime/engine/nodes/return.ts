import type { ReturnNode } from '../../../graph/model.js';
import { endWithReturn, failForGood } from '../ending.js';
import type { NodeInstance } from '../instances.js';
import { readerOf, type Turn } from '../turn.js';

/** Ends the node's workflow with a value. */
export function beginReturn(turn: Turn, node: NodeInstance, { value }: ReturnNode): void {
  const evaluated = readerOf(turn, node).value(value);
  if (evaluated.ok) endWithReturn(turn, node, evaluated.value);
  else failForGood(turn, node, { failure: evaluated.failure, reached: 0, final: true });
}
