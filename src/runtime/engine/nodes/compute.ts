import type { ComputeNode } from '../../../graph/model.js';
import { fail } from '../ending.js';
import type { PlannedNode } from '../plan.js';
import { succeed } from '../settle.js';
import type { Turn } from '../turn.js';
import { issue, nextAttempt } from './attempt.js';

/** Computes the node's value here, or has the function it names do so with the arguments its value lists. */
export function beginCompute(turn: Turn, planned: PlannedNode, node: ComputeNode): void {
  if (node.function === undefined) {
    const evaluated = turn.evaluation.value(node.value);
    if (evaluated.ok) succeed(turn, planned, evaluated.value);
    else fail(turn, planned, evaluated.failure, 0);
    return;
  }
  const attempt = nextAttempt(turn, planned);
  if (attempt === undefined) return;
  const args = turn.evaluation.list(node.value, 'arguments of the function');
  if (!args.ok) {
    fail(turn, planned, args.failure, 0);
    return;
  }
  const { name, hash } = node.function;
  issue(turn, planned, attempt, {
    kind: 'evaluate',
    id: attempt.call,
    node: node.id,
    function: { name, hash },
    args: args.value,
  });
}
