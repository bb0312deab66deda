import { topOf } from './ending.js';
import type { NodeInstance, ScopeInstance } from './instances.js';
import type { Turn } from './turn.js';

/** Deletes every row of a scope that is over, and of those inside it. The value it gave its container stays. */
export function wipeScope(turn: Turn, scope: ScopeInstance): void {
  const { nodes, outputs, scopes } = turn.recorder.tables;
  const top = topOf(turn, scope).key;
  // A value that was returned from here is wanted until the whole workflow is over.
  const returned = scopes.get(top)?.endedBy;
  for (const planned of scope.plan.nodes) {
    const node = turn.instances.node(scope, planned);
    nodes.delete(node.key);
    if (node.key !== returned) outputs.delete(node.key);
    wipeParts(turn, node);
  }
  if (scope.key === top && returned !== undefined) outputs.delete(returned);
  scopes.delete(scope.key);
}

/** Forgets the failed items of a loop that starts over, and of those inside. */
export function forgetFailedItems(turn: Turn, { key }: NodeInstance): void {
  const { failedItems } = turn.recorder.tables;
  for (const [row, { step }] of Object.entries(turn.recorder.state.failedItems)) {
    let each: NodeInstance | undefined = turn.instances.find(step);
    while (each !== undefined && each.key !== key) each = each.scope.container;
    if (each !== undefined) failedItems.delete(row);
  }
}

/** Deletes the rows of everything inside a container, and those it keeps account in. */
export function wipeParts(turn: Turn, node: NodeInstance): void {
  const { containers, scopes, outputs, items, inputs } = turn.recorder.tables;
  const container = containers.get(node.key);
  if (container === undefined) return;
  for (let part = container.first; part < container.next; part += 1) {
    const scope = turn.instances.part(node, part);
    if (scopes.get(scope.key) !== undefined) wipeScope(turn, scope);
    outputs.delete(scope.key);
  }
  containers.delete(node.key);
  items.delete(node.key);
  inputs.delete(node.key);
}
