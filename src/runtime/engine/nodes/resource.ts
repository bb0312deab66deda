import type { ResourceNode } from '../../../graph/model.js';
import { fail } from '../ending.js';
import type { NodeRecord } from '../records.js';
import { readerOf, type Transition } from '../transition.js';
import { hasTime, issue, limitOf, nextAttemptId } from './attempt.js';

/** Reads a resource from the node's evaluated URI. */
export function beginRead(transition: Transition, node: NodeRecord, model: ResourceNode): void {
  if (!hasTime(transition, node)) return;
  const id = nextAttemptId(transition, node);
  const uri = readerOf(transition, node).text(model.uri, 'URI');
  if (!uri.ok) {
    fail(transition, node, { failure: uri.failure, reached: node.attempt, final: true });
    return;
  }
  const read = { node: node.key, resource: model.resource, uri: uri.value };
  issue(transition, node, { kind: 'readResource', id, ...read, dueAt: limitOf(transition, node) });
  transition.report({ kind: 'resourceRequested', command: id, ...read });
}
