import type { CallNode } from '../../../graph/model.js';
import { idempotencyKey } from '../commands.js';
import { fail } from '../ending.js';
import type { PlannedNode } from '../plan.js';
import type { Turn } from '../turn.js';
import { issue, nextAttempt } from './attempt.js';

/** Calls a tool with the node's evaluated input. */
export function beginCall(turn: Turn, planned: PlannedNode, node: CallNode): void {
  const attempt = nextAttempt(turn, planned);
  if (attempt === undefined) return;
  const input = turn.evaluation.object(node.input, 'input');
  if (!input.ok) {
    fail(turn, planned, input.failure, attempt.number - 1);
    return;
  }
  const { id, tool } = node;
  const call = { node: id, tool, input: input.value, attempt: attempt.number };
  const key = idempotencyKey(turn.recorder.run.id, id);
  issue(turn, planned, attempt, { kind: 'callTool', id: attempt.call, ...call, idempotencyKey: key });
  turn.recorder.report({ kind: 'callIssued', command: attempt.call, ...call });
}
