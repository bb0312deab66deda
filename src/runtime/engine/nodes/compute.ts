import type { ComputeNode } from '../../../graph/model.js';
import { fail } from '../ending.js';
import type { NodeInstance } from '../instances.js';
import { succeed } from '../settle.js';
import { readerOf, type Turn } from '../turn.js';
import { hasTime, issue, limitOf, nextAttempt } from './attempt.js';

/** Computes the node's value here, or has the function it names do so with the arguments its value lists. */
export function beginCompute(turn: Turn, node: NodeInstance, model: ComputeNode): void {
  if (model.function === undefined) {
    const evaluated = readerOf(turn, node).value(model.value);
    if (evaluated.ok) succeed(turn, node, evaluated.value);
    else fail(turn, node, { failure: evaluated.failure, reached: 0, final: true });
    return;
  }
  if (!hasTime(turn, node)) return;
  const attempt = nextAttempt(turn, node);
  const args = readerOf(turn, node).list(model.value, 'arguments of the function');
  if (!args.ok) {
    fail(turn, node, { failure: args.failure, reached: attempt.number - 1, final: true });
    return;
  }
  const { name, hash } = model.function;
  issue(turn, node, attempt, {
    kind: 'evaluate',
    id: attempt.id,
    node: node.key,
    function: { name, hash },
    args: args.value,
    dueAt: limitOf(turn, node),
  });
}
