import type { ResourceNode } from '../../../graph/model.js';
import { fail } from '../ending.js';
import type { NodeInstance } from '../instances.js';
import { readerOf, type Turn } from '../turn.js';
import { hasTime, issue, limitOf, nextAttempt } from './attempt.js';

/** Reads a resource from the node's evaluated URI. */
export function beginRead(turn: Turn, node: NodeInstance, model: ResourceNode): void {
  if (!hasTime(turn, node)) return;
  const attempt = nextAttempt(turn, node);
  const uri = readerOf(turn, node).text(model.uri, 'URI');
  if (!uri.ok) {
    fail(turn, node, { failure: uri.failure, reached: attempt.number - 1, final: true });
    return;
  }
  const read = { node: node.key, resource: model.resource, uri: uri.value };
  issue(turn, node, attempt, { kind: 'readResource', id: attempt.id, ...read, dueAt: limitOf(turn, node) });
  turn.recorder.report({ kind: 'resourceRequested', command: attempt.id, ...read });
}
