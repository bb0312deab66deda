import type { Draft } from './draft.js';

/** Ids of the nodes no order of execution ever gets to, because they wait for each other: in order or in selection. */
export function stuckIn(nodes: readonly Draft[]): string[] {
  const waitsFor = new Map<Draft, number>();
  for (const draft of nodes) waitsFor.set(draft, new Set([...draft.orders, ...draft.routers]).size);
  const free = nodes.filter((draft) => waitsFor.get(draft) === 0);
  for (let draft = free.pop(); draft !== undefined; draft = free.pop()) {
    waitsFor.delete(draft);
    for (const behind of new Set([...draft.successors, ...draft.routes])) {
      const left = (waitsFor.get(behind) ?? 0) - 1;
      waitsFor.set(behind, left);
      if (left === 0) free.push(behind);
    }
  }
  return nodes.filter((draft) => waitsFor.has(draft)).map(({ node: { id } }) => id);
}
