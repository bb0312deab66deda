import type { Draft } from './draft.js';
import { type PlanFault, planFailures } from './fault.js';

/**
 * A `goto` waits for everything from its target up to itself, and everything behind it that waits for one of those
 * waits for it as well: else it would have run on what is about to start over. [Q14]
 */
export function addJumps(draft: Draft, faults: PlanFault[]): void {
  const { node, scope, index } = draft;
  if (node.kind !== 'goto') return;
  const from = scope.nodes.findIndex(({ node: { id } }) => id === node.target);
  if (from < 0 || from >= index) {
    faults.push({ failure: planFailures.gotoTarget(node.id, node.target) });
    return;
  }
  const slice = scope.nodes.slice(from, index);
  draft.slice = slice;
  draft.orders = [...new Set([...draft.orders, ...slice])];
  const members = new Set(slice);
  for (const later of scope.nodes.slice(index + 1)) {
    const isRouted = later.routers.some((router) => members.has(router));
    // One that was not selected must not be given up before the last turn of the loop.
    if (isRouted) later.routers = [...new Set([...later.routers, draft])];
    if (isRouted || later.orders.some((before) => members.has(before))) {
      later.orders = [...new Set([...later.orders, draft])];
    }
  }
}
