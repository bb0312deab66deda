import type { ReturnNode } from '../../../graph/model.js';
import { endWithReturn, failForGood } from '../ending.js';
import type { PlannedNode } from '../plan.js';
import type { Turn } from '../turn.js';

/** Ends the run with a value. */
export function beginReturn(turn: Turn, planned: PlannedNode, node: ReturnNode): void {
  const evaluated = turn.evaluation.value(node.value);
  if (evaluated.ok) endWithReturn(turn, planned, evaluated.value);
  else failForGood(turn, planned, evaluated.failure);
}
