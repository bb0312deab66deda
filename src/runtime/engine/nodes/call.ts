import type { JsonObject } from '../../../graph/json.js';
import type { CallNode } from '../../../graph/model.js';
import { callKeyText } from '../commands.js';
import { fail } from '../ending.js';
import { generationFor } from '../generation.js';
import type { NodeInstance } from '../instances.js';
import { readerOf, type Turn } from '../turn.js';
import { hasTime, issue, limitOf, nextAttempt } from './attempt.js';

/** Calls a tool with the node's evaluated input. Later attempts send the same. */
export function beginCall(turn: Turn, node: NodeInstance, { tool, input }: CallNode): void {
  const { nodes } = turn.recorder.tables;
  const { attempt: reached, input: sent } = nodes.need(node.key);
  if (!hasTime(turn, node)) return;
  const evaluated =
    sent === undefined ? readerOf(turn, node).object(input, 'input') : { ok: true as const, value: sent };
  if (!evaluated.ok) {
    fail(turn, node, { failure: evaluated.failure, reached, final: true });
    return;
  }
  const { value } = evaluated;
  const generation = generationFor(turn, node, value);
  if (sent === undefined && node.planned.retry !== undefined) keep(turn, node, value);
  const attempt = nextAttempt(turn, node);
  const { id, number } = attempt;
  const key = callKeyText(turn, node.key, generation);
  // Written out: this is the most frequent command there is.
  issue(turn, node, attempt, {
    kind: 'callTool',
    id,
    node: node.key,
    tool,
    input: value,
    attempt: number,
    generation,
    key,
    dueAt: limitOf(turn, node),
  });
  turn.recorder.report({
    kind: 'callIssued',
    node: node.key,
    command: id,
    tool,
    input: value,
    attempt: number,
  });
}

function keep({ recorder }: Turn, { key }: NodeInstance, input: JsonObject): void {
  recorder.tables.nodes.put(key, { ...recorder.tables.nodes.need(key), input });
}
