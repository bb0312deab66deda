import type { Expr } from '../../src/graph/expression/tree.js';
import type { Compensation, Graph, Node, Scope } from '../../src/graph/model.js';

/** The bodies of a node. */
export function scopesIn(node: Node): Scope[] {
  switch (node.kind) {
    case 'branch': {
      const arms = node.else === undefined ? node.cases : [...node.cases, node.else];
      return arms.flatMap((arm) => ('body' in arm ? [arm.body] : []));
    }
    case 'parallel':
      return node.branches.map(({ body }) => body);
    case 'foreach':
      return [node.body];
    default:
      return [];
  }
}

/** A node and all nodes inside it. */
export function withInner(node: Node): Node[] {
  return [node, ...scopesIn(node).flatMap(({ nodes }) => nodes.flatMap(withInner))];
}

const repeated = new WeakMap<Graph, ReadonlySet<Node>>();

/** The nodes that may run again in one run: a `goto` starts them over, or a container around them makes more attempts. */
export function repeatedIn(graph: Graph): ReadonlySet<Node> {
  const found = repeated.get(graph) ?? findRepeated(graph);
  repeated.set(graph, found);
  return found;
}

function findRepeated(graph: Graph): Set<Node> {
  const { tasks = [] } = graph;
  const tops = [graph, ...tasks].map(({ nodes }) => nodes);
  const all = tops.flatMap((nodes) => nodes.flatMap(withInner));
  const inner = (node: Node): Node[] => withInner(node).slice(1);
  const loops = [...tops, ...all.flatMap((node) => scopesIn(node).map(({ nodes }) => nodes))].flatMap(
    (nodes) =>
      nodes.flatMap((node, index) => {
        if (node.kind !== 'goto') return [];
        const first = nodes.findIndex(({ id }) => id === node.target);
        return nodes.slice(first, index + 1).flatMap(withInner);
      }),
  );
  const makesMore = (node: Node): boolean => (node.retry?.extra ?? 0) > 0;
  const found = new Set([...loops, ...all.filter(makesMore).flatMap(inner)]);
  for (let before = -1; before < found.size; ) {
    before = found.size;
    const run = all.flatMap((node) =>
      node.kind === 'workflow' && (found.has(node) || makesMore(node)) ? [node.workflow] : [],
    );
    for (const { name, nodes } of tasks)
      if (run.includes(name)) for (const node of nodes.flatMap(withInner)) found.add(node);
  }
  return found;
}

/** The expressions a node cannot act without. */
export function neededBy(node: Node): Expr[] {
  switch (node.kind) {
    case 'call':
    case 'workflow':
      return [node.input];
    case 'resource':
      return [node.uri];
    case 'compute':
    case 'return':
      return [node.value];
    case 'error':
      return [node.message];
    case 'foreach':
      return [node.items];
    case 'branch':
      return node.cases.map(({ when }) => when);
    case 'set':
      return node.updates.map(({ value }) => value);
    case 'ask':
      return given(node.message, node.options);
    case 'shell':
      return given(node.command, node.argv, node.env);
    case 'delegate':
      return [node.prompt];
    case 'wait':
      return given(node.durationMs, node.until);
    default:
      return [];
  }
}

/** The expressions of a node that only order: its condition, its guidance, its fallback value. */
export function orderedBy({ when, guidance, onError }: Node): Expr[] {
  return given(when, guidance, onError !== undefined && 'value' in onError ? onError.value : undefined);
}

/** How a node undoes: its own effect, or the steps of a `compensate` node. */
export function undoneBy(node: Node): readonly Compensation[] {
  if (node.kind === 'compensate') return node.steps;
  return node.compensate === undefined ? [] : [node.compensate];
}

function given(...expressions: readonly (Expr | undefined)[]): Expr[] {
  return expressions.filter((expr) => expr !== undefined);
}
