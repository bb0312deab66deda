import { type Reference, references } from '../../../graph/expression/traversal.js';
import type { Node } from '../../../graph/kinds/node.js';
import { bodiesOf, expressionsOf } from '../../../graph/nodes.js';
import { routesOf } from '../../../plan/edges.js';

/** A reference to the result of another node of the same list, or of a node inside it. */
export interface DataEdge {
  /** The index of the node of the list that has the result, or contains the node that has. */
  readonly source: number;
  readonly reference: Reference;
  /** The node that reads: the one of the list, or one inside it. */
  readonly reader: Node;
}

/** How the nodes of one list depend on each other. Lists are indexes of nodes. */
export interface Dependencies {
  /** The nodes that a node names in `after`, and the nodes with a route to it. */
  readonly explicit: readonly (readonly number[])[];
  readonly data: readonly (readonly DataEdge[])[];
}

/** Finds the dependencies between the nodes of one list. */
export function dependenciesOf(nodes: readonly Node[]): Dependencies {
  const holders = new Map<string, number>();
  const hold = (node: Node, index: number): void => {
    if (!holders.has(node.id)) holders.set(node.id, index);
    for (const { scope } of bodiesOf(node)) for (const inner of scope.nodes) hold(inner, index);
  };
  for (const [index, node] of nodes.entries()) hold(node, index);
  const explicit = nodes.map(({ after }) => after.flatMap((id) => holders.get(id) ?? []));
  for (const [index, node] of nodes.entries()) {
    for (const { target } of routesOf(node)) {
      const to = holders.get(target);
      if (to !== undefined && to !== index) explicit[to]?.push(index);
    }
  }
  const data = nodes.map((node, index) => {
    const edges: DataEdge[] = [];
    const read = (reader: Node): void => {
      for (const expr of expressionsOf(reader)) {
        for (const reference of references(expr)) {
          const { root, path } = reference.ref;
          const isNamed = root === 'steps' || root === 'nodes';
          const source = isNamed ? holders.get(String(path[0])) : undefined;
          if (source !== undefined && source !== index) edges.push({ source, reference, reader });
        }
      }
      for (const { scope } of bodiesOf(reader)) scope.nodes.forEach(read);
    };
    read(node);
    return edges;
  });
  return { explicit, data };
}

/**
 * Puts nodes into an order in which each comes after what it depends on, and otherwise in the order of writing: a
 * graph's nodes name earlier ones only. The nodes of a cycle stay as they are, for the checker to report.
 */
export function inOrder(nodes: readonly Node[], { explicit, data }: Dependencies): readonly Node[] {
  const before = nodes.map((_, index) => {
    const sources = [...(explicit[index] ?? []), ...(data[index] ?? []).map(({ source }) => source)];
    return [...new Set(sources)].sort((a, b) => a - b);
  });
  if (before.every((sources, index) => (sources.at(-1) ?? -1) < index)) return nodes;
  const ordered: number[] = [];
  const visited = new Set<number>();
  for (const start of nodes.keys()) {
    const open = [{ index: start, next: 0 }];
    visited.has(start) ? open.pop() : visited.add(start);
    for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
      const source = before[top.index]?.[top.next];
      top.next += 1;
      if (source === undefined) {
        ordered.push(top.index);
        open.pop();
      } else if (!visited.has(source)) {
        visited.add(source);
        open.push({ index: source, next: 0 });
      }
    }
  }
  return ordered.flatMap((index) => nodes[index] ?? []);
}

/**
 * The data edges of nodes with explicit dependencies that these do not imply: plain references to values of nodes that
 * need not have run. A node without explicit dependencies waits for what it reads.
 */
export function implicitEdges({ explicit, data }: Dependencies): DataEdge[] {
  return data.flatMap((edges, index) => {
    const plain = edges.filter(({ reference: { ref, guarded } }) => !guarded && ref.root === 'steps');
    const direct = explicit[index] ?? [];
    if (direct.length === 0) return [];
    const indirect = plain.filter(({ source }) => !direct.includes(source));
    if (indirect.length === 0) return [];
    const ancestors = ancestorsOf(direct, { explicit, data });
    const implied = indirect.filter(({ source }) => !ancestors.has(source));
    return implied.filter(({ source }, at) => implied.findIndex((each) => each.source === source) === at);
  });
}

/** The nodes that others wait for, and these nodes themselves. */
function ancestorsOf(nodes: readonly number[], { explicit, data }: Dependencies): ReadonlySet<number> {
  const ancestors = new Set<number>();
  const open = [...nodes];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (ancestors.has(next)) continue;
    ancestors.add(next);
    open.push(...(explicit[next] ?? []), ...(data[next] ?? []).map(({ source }) => source));
  }
  return ancestors;
}
