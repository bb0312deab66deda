import { append } from '../graph/maps.js';

/** A directed edge between two items by their names. */
export interface Arc {
  readonly from: string;
  readonly to: string;
}

/** The strongly connected components with more than one member, each in the order of `names` (Tarjan, 1972). */
export function cyclesIn(names: readonly string[], arcs: readonly Arc[]): string[][] {
  const next = successorsOf(arcs);
  const state = new Map<string, { readonly index: number; low: number; isOpen: boolean }>();
  const open: string[] = [];
  const cycles: string[][] = [];
  const visit = (root: string): void => {
    const enter = (name: string) => {
      const entry = { index: state.size, low: state.size, isOpen: true };
      state.set(name, entry);
      open.push(name);
      return { name, entry, rest: [...(next.get(name) ?? [])] };
    };
    // A list of its own instead of recursion: a chain of tools may be long.
    const path = [enter(root)];
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const to = top.rest.shift();
      if (to !== undefined) {
        const status = state.get(to);
        if (status === undefined) path.push(enter(to));
        else if (status.isOpen) top.entry.low = Math.min(top.entry.low, status.index);
        continue;
      }
      path.pop();
      const above = path.at(-1);
      if (above !== undefined) above.entry.low = Math.min(above.entry.low, top.entry.low);
      if (top.entry.low !== top.entry.index) continue;
      const members = new Set(open.splice(open.indexOf(top.name)));
      for (const member of members) {
        const entry = state.get(member);
        if (entry !== undefined) entry.isOpen = false;
      }
      if (members.size > 1) cycles.push(names.filter((name) => members.has(name)));
    }
  };
  for (const name of names) if (!state.has(name)) visit(name);
  return cycles.sort(([a = ''], [b = '']) => names.indexOf(a) - names.indexOf(b));
}

/**
 * The names in an order in which each comes after those with an edge to it; `undefined` if there is none. Of several
 * names that could be next it is the first by `compare`.
 */
export function topologicalOrder(
  names: readonly string[],
  arcs: readonly Arc[],
  compare: (a: string, b: string) => number,
): string[] | undefined {
  const next = successorsOf(arcs);
  const open = new Map(names.map((name) => [name, 0]));
  for (const { to } of arcs) open.set(to, (open.get(to) ?? 0) + 1);
  const ready = names.filter((name) => open.get(name) === 0).sort(compare);
  const order: string[] = [];
  for (;;) {
    const name = ready.shift();
    if (name === undefined) break;
    order.push(name);
    for (const to of next.get(name) ?? []) {
      const remaining = (open.get(to) ?? 0) - 1;
      open.set(to, remaining);
      if (remaining > 0) continue;
      const place = ready.findIndex((other) => compare(to, other) < 0);
      ready.splice(place < 0 ? ready.length : place, 0, to);
    }
  }
  return order.length === names.length ? order : undefined;
}

/** All names with a path to one of `targets`, which belong to them. */
export function ancestorsOf(targets: Iterable<string>, arcs: readonly Arc[]): Set<string> {
  return descendantsOf(
    targets,
    arcs.map(({ from, to }) => ({ from: to, to: from })),
  );
}

/** All names with a path from one of `sources`, which belong to them. */
export function descendantsOf(sources: Iterable<string>, arcs: readonly Arc[]): Set<string> {
  const next = successorsOf(arcs);
  const reachable = new Set(sources);
  // Grows while it is read: a set visits what is added.
  for (const name of reachable) for (const to of next.get(name) ?? []) reachable.add(to);
  return reachable;
}

function successorsOf(arcs: readonly Arc[]): Map<string, string[]> {
  const next = groupBy(arcs, ({ from }) => from);
  return new Map([...next].map(([from, arcs]) => [from, arcs.map(({ to }) => to)]));
}

/** The items of each key, in their order. */
export function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) append(groups, keyOf(item), item);
  return groups;
}
