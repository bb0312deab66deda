import type { MutableNode } from './mutable-plan.js';
import type { PlannedNode } from './plan.js';

/** Ids of the nodes no order of execution ever gets to, because they wait for each other: in order or in selection. */
export function stuckIn(nodes: readonly MutableNode[]): string[] {
  // Where everything waits for what is declared before it, nothing can wait for itself.
  if (nodes.every((planned) => isBehind(planned, planned.orders) && isBehind(planned, planned.routers)))
    return [];
  const left = new Map<PlannedNode, Set<PlannedNode>>(
    nodes.map((planned) => [planned, new Set([...planned.orders, ...planned.routers])]),
  );
  dropFree(left);
  return nodes.filter((planned) => left.has(planned)).map(({ node: { id } }) => id);
}

function isBehind({ index }: MutableNode, others: readonly MutableNode[]): boolean {
  return others.every((other) => other.index < index);
}

/**
 * Cycles that share no node, each in the order of waiting, beginning with the node that was declared first.
 *
 * @param waits what each node waits for, in declaration order.
 */
export function cyclesIn(waits: ReadonlyMap<PlannedNode, Iterable<PlannedNode>>): PlannedNode[][] {
  const left = new Map([...waits].map(([node, targets]) => [node, new Set(targets)]));
  const cycles: PlannedNode[][] = [];
  for (dropFree(left); left.size > 0; dropFree(left)) {
    const cycle = cycleIn(left);
    for (const node of cycle) left.delete(node);
    cycles.push(cycle);
  }
  return cycles.map((cycle) => {
    const first = Math.min(...cycle.map(({ ordinal }) => ordinal));
    const start = cycle.findIndex(({ ordinal }) => ordinal === first);
    return [...cycle.slice(start), ...cycle.slice(0, start)];
  });
}

/** Takes out every node that waits, directly or not, for none of those that are left. */
function dropFree(left: Map<PlannedNode, Set<PlannedNode>>): void {
  const waiting = new Map<PlannedNode, PlannedNode[]>();
  const free: PlannedNode[] = [];
  for (const [node, targets] of left) {
    for (const target of targets) {
      const users = waiting.get(target);
      if (!left.has(target)) targets.delete(target);
      else if (users === undefined) waiting.set(target, [node]);
      else users.push(node);
    }
    if (targets.size === 0) free.push(node);
  }
  for (let node = free.pop(); node !== undefined; node = free.pop()) {
    left.delete(node);
    for (const user of waiting.get(node) ?? []) {
      const targets = left.get(user);
      targets?.delete(node);
      if (targets?.size === 0) free.push(user);
    }
  }
}

/** Every node that is left waits for another one that is left, so that following them comes round. */
function cycleIn(left: ReadonlyMap<PlannedNode, ReadonlySet<PlannedNode>>): PlannedNode[] {
  const path: PlannedNode[] = [];
  const places = new Map<PlannedNode, number>();
  let [node] = left.keys();
  while (node !== undefined && !places.has(node)) {
    places.set(node, path.length);
    path.push(node);
    [node] = left.get(node) ?? [];
  }
  return path.slice(node === undefined ? 0 : places.get(node));
}
