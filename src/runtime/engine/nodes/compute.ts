import type { ComputeNode } from '../../../graph/model.js';
import { fail } from '../ending.js';
import type { NodeRecord } from '../records.js';
import { succeed } from '../settle.js';
import { readerOf, type Transition } from '../transition.js';
import { hasTime, issue, limitOf, nextAttemptId } from './attempt.js';

/** Computes the node's value here, or has the function it names do so with the arguments its value lists. */
export function beginCompute(transition: Transition, node: NodeRecord, model: ComputeNode): void {
  if (model.function === undefined) {
    const evaluated = readerOf(transition, node).value(model.value);
    if (evaluated.ok) succeed(transition, node, evaluated.value);
    else fail(transition, node, { failure: evaluated.failure, reached: 0, final: true });
    return;
  }
  if (!hasTime(transition, node)) return;
  const args = readerOf(transition, node).list(model.value, 'arguments of the function');
  if (!args.ok) {
    fail(transition, node, { failure: args.failure, reached: node.attempt, final: true });
    return;
  }
  const { name, hash } = model.function;
  issue(transition, node, {
    kind: 'evaluate',
    id: nextAttemptId(transition, node),
    node: node.key,
    function: { name, hash },
    args: args.value,
    dueAt: limitOf(transition, node),
  });
}
