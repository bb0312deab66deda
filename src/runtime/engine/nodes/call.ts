import type { CallNode } from '../../../graph/model.js';
import { callKeyText } from '../commands.js';
import { fail } from '../ending.js';
import { generationFor } from '../generation.js';
import type { NodeRecord } from '../records.js';
import { readerOf, type Transition } from '../transition.js';
import { hasTime, issue, limitOf, nextAttemptId } from './attempt.js';

/** Calls a tool with the node's evaluated input. Later attempts send the same. */
export function beginCall(transition: Transition, node: NodeRecord, { tool, input }: CallNode): void {
  const { attempt: reached, key: nodeKey } = node;
  const { input: sent } = node.details;
  if (!hasTime(transition, node)) return;
  const evaluated =
    sent === undefined
      ? readerOf(transition, node).object(input, 'input')
      : { ok: true as const, value: sent };
  if (!evaluated.ok) {
    fail(transition, node, { failure: evaluated.failure, reached, final: true });
    return;
  }
  const { value } = evaluated;
  const { state } = transition;
  const generation = generationFor(state, node, value);
  if (node.planned.retry !== undefined) node.set('input', value);
  const id = nextAttemptId(transition, node);
  const attempt = reached + 1;
  const key = callKeyText(state.run.id, nodeKey, generation);
  const dueAt = limitOf(transition, node);
  // Written out: this is the most frequent command there is.
  issue(transition, node, {
    kind: 'callTool',
    id,
    node: nodeKey,
    tool,
    input: value,
    attempt,
    generation,
    key,
    dueAt,
    seq: 0,
  });
  transition.report({ kind: 'callIssued', node: nodeKey, command: id, tool, input: value, attempt });
}
