import type { ResourceNode } from '../../../graph/model.js';
import { fail } from '../ending.js';
import type { PlannedNode } from '../plan.js';
import type { Turn } from '../turn.js';
import { issue, nextAttempt } from './attempt.js';

/** Reads a resource from the node's evaluated URI. */
export function beginRead(turn: Turn, planned: PlannedNode, node: ResourceNode): void {
  const attempt = nextAttempt(turn, planned);
  if (attempt === undefined) return;
  const uri = turn.evaluation.text(node.uri, 'URI');
  if (!uri.ok) {
    fail(turn, planned, uri.failure, attempt.number - 1);
    return;
  }
  const read = { node: node.id, resource: node.resource, uri: uri.value };
  issue(turn, planned, attempt, { kind: 'readResource', id: attempt.call, ...read });
  turn.recorder.report({ kind: 'resourceRequested', command: attempt.call, ...read });
}
