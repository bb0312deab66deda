import type { GotoNode } from '../graph/model.js';
import { type PlanFault, planFailures } from './fault.js';
import type { MutableNode } from './mutable-plan.js';

/**
 * A `goto` waits for everything from its target up to itself, and everything behind it that waits for one of those
 * waits for it as well: else it would have run on what is about to start over. [Q14]
 */
export function addJumps(planned: MutableNode, { id, target }: GotoNode, faults: PlanFault[]): void {
  const { scope, index } = planned;
  const from = scope.workflow.byId.get(target);
  if (from === undefined || from.scope !== scope || from.index >= index) {
    faults.push({ failure: planFailures.gotoTarget(id, target) });
    return;
  }
  const slice = scope.nodes.slice(from.index, index);
  planned.slice = slice;
  planned.orders = [...new Set([...planned.orders, ...slice])];
  const members = new Set(slice);
  for (const later of scope.nodes.slice(index + 1)) {
    const isRouted = later.routers.some((router) => members.has(router));
    // One that was not selected must not be given up before the last turn of the loop.
    if (isRouted) later.routers = [...new Set([...later.routers, planned])];
    if (isRouted || later.orders.some((before) => members.has(before))) {
      later.orders = [...new Set([...later.orders, planned])];
    }
  }
}
