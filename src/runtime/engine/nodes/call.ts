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
  const call = { node: node.key, tool, input: evaluated.value, attempt: attempt.number };
  const key = idempotencyKey(turn, node);
  issue(turn, node, attempt, { kind: 'callTool', id: attempt.id, ...call, idempotencyKey: key });
  turn.recorder.report({ kind: 'callIssued', command: attempt.id, ...call });
}
