import type { CallNode } from '../../../graph/model.js';
import { idempotencyKey } from '../commands.js';
import { fail } from '../ending.js';
import type { NodeInstance } from '../instances.js';
import { readerOf, type Turn } from '../turn.js';
import { issue, nextAttempt } from './attempt.js';

/** Calls a tool with the node's evaluated input. */
export function beginCall(turn: Turn, node: NodeInstance, { tool, input }: CallNode): void {
  const attempt = nextAttempt(turn, node);
  if (attempt === undefined) return;
  const evaluated = readerOf(turn, node).object(input, 'input');
  if (!evaluated.ok) {
    fail(turn, node, { failure: evaluated.failure, reached: attempt.number - 1, final: true });
    return;
  }
  const { id, number } = attempt;
  const { value } = evaluated;
  issue(turn, node, attempt, {
    kind: 'callTool',
    id,
    node: node.key,
    tool,
    input: value,
    attempt: number,
    idempotencyKey: idempotencyKey(turn, node),
  });
  turn.recorder.report({
    kind: 'callIssued',
    command: id,
    node: node.key,
    tool,
    input: value,
    attempt: number,
  });
}
