import type { Import } from '../../test/structure/source-files.js';

/** Files or parts, each with what it imports and by how many imports. */
type Graph = ReadonlyMap<string, ReadonlyMap<string, number>>;

/** The longest path along imports, from the importing end. Imports have no cycles. */
export function longestChain(imports: readonly Import[]): string[] {
  const graph = graphOf(imports.map(({ from, to }) => [from, to]));
  const chains = new Map<string, string[]>();
  const chainFrom = (file: string): string[] => {
    const stored = chains.get(file);
    if (stored !== undefined) return stored;
    const chain = [file, ...longest([...(graph.get(file)?.keys() ?? [])].map(chainFrom))];
    chains.set(file, chain);
    return chain;
  };
  return longest([...graph.keys()].map(chainFrom));
}

function longest(chains: readonly string[][]): string[] {
  return chains.reduce((best, chain) => (chain.length > best.length ? chain : best), []);
}

/**
 * Imports that run up inside a folder. The parts of a folder are its files and its subfolders. They are laid in the
 * order in which the fewest imports lead from a lower part to a higher one: those are the imports that run up.
 */
export function importsUp(folder: string, imports: readonly Import[]): string[] {
  const inside = imports.filter(
    ({ from, to }) => from.startsWith(`${folder}/`) && to.startsWith(`${folder}/`),
  );
  const part = (file: string): string => {
    const [name, ...below] = file.slice(folder.length + 1).split('/');
    return `${folder}/${name}${below.length === 0 ? '' : '/'}`;
  };
  const graph = graphOf(inside.map(({ from, to }) => [part(from), part(to)]));
  const order = orderOf(partsInCircles(graph), graph);
  const place = new Map(order.map((name, index) => [name, index]));
  return inside
    .filter(({ from, to }) => {
      const lower = place.get(part(from));
      const higher = place.get(part(to));
      return lower !== undefined && higher !== undefined && higher < lower;
    })
    .map(({ from, to }) => `${from} imports ${to}`);
}

function graphOf(links: readonly (readonly [from: string, to: string])[]): Graph {
  const graph = new Map<string, Map<string, number>>();
  for (const [from, to] of links) {
    if (from === to) continue;
    const targets = graph.get(from) ?? new Map<string, number>();
    graph.set(from, targets.set(to, (targets.get(to) ?? 0) + 1));
  }
  return graph;
}

function partsInCircles(graph: Graph): string[] {
  return [...graph.keys()].filter((name) => reachable(name, graph).has(name)).sort();
}

function reachable(name: string, graph: Graph): Set<string> {
  const reached = new Set<string>();
  const queue = [name];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    for (const target of graph.get(next)?.keys() ?? []) {
      if (reached.has(target)) continue;
      reached.add(target);
      queue.push(target);
    }
  }
  return reached;
}

/** Parts from top to bottom: one at a time moves to where the fewest imports run up, until no move helps. */
function orderOf(parts: readonly string[], graph: Graph): string[] {
  const count = (from: string, to: string): number => graph.get(from)?.get(to) ?? 0;
  const cost = (order: readonly string[]): number =>
    order.reduce(
      (sum, lower, i) => sum + order.slice(0, i).reduce((n, higher) => n + count(lower, higher), 0),
      0,
    );
  let best = [...parts];
  for (let improved = true; improved; ) {
    improved = false;
    for (const name of parts) {
      const others = best.filter((other) => other !== name);
      for (let at = 0; at <= others.length; at++) {
        const order = [...others.slice(0, at), name, ...others.slice(at)];
        if (cost(order) >= cost(best)) continue;
        best = order;
        improved = true;
      }
    }
  }
  return best;
}
