import type { Node } from '../../src/graph/kinds/node.js';
import type { Graph } from '../../src/graph/model.js';
import { parseNodeKey } from '../../src/plan/instances.js';
import { scopesIn, undoneBy, withInner } from '../oracle/walk.js';

/** The tools of a graph and its tasks, including those of compensations. */
export function toolsOf(graph: Graph): string[] {
  const nodes = [graph, ...(graph.tasks ?? [])].flatMap((each) => each.nodes.flatMap(withInner));
  return nodes.flatMap((node) => [
    ...(node.kind === 'call' ? [node.tool] : []),
    ...undoneBy(node).map(({ tool }) => tool),
  ]);
}

/** A node by its key. */
export interface Placed {
  readonly node: Node;
  /** The containers around it, the outermost first. */
  readonly around: readonly { readonly key: string; readonly node: Node }[];
  /** The nodes of its scope. */
  readonly beside: readonly Node[];
}

export function place(graph: Graph, key: string): Placed {
  const around: { readonly key: string; readonly node: Node }[] = [];
  const segments = parseNodeKey(key);
  let nodes = graph.nodes;
  let beside = nodes;
  let prefix = '';
  for (const [depth, { id, indices }] of segments.entries()) {
    let loops = 0;
    for (const step of pathTo(nodes, id)) {
      const suffix = indices.slice(0, loops).map((index) => `[${index}]`);
      around.push({ key: `${prefix}${step.node.id}${suffix.join('')}`, node: step.node });
      beside = step.beside;
      if (step.node.kind === 'foreach') loops += 1;
    }
    if (depth === segments.length - 1) break;
    const last = around.at(-1);
    const task = graph.tasks?.find(
      ({ name }) => last?.node.kind === 'workflow' && name === last.node.workflow,
    );
    if (task === undefined) throw new Error(`'${key}' is not a node`);
    nodes = task.nodes;
    prefix = `${last?.key}/`;
  }
  const { node } = around.pop() ?? {};
  if (node === undefined) throw new Error(`'${key}' is not a node`);
  return { node, around, beside };
}

/** The nodes around a node of these, the outermost first, and the node, each with those beside it. */
function pathTo(
  nodes: readonly Node[],
  id: string,
): { readonly node: Node; readonly beside: readonly Node[] }[] {
  for (const node of nodes) {
    if (node.id === id) return [{ node, beside: nodes }];
    const inner = scopesIn(node)
      .map((scope) => pathTo(scope.nodes, id))
      .find((path) => path.length > 0);
    if (inner !== undefined) return [{ node, beside: nodes }, ...inner];
  }
  return [];
}
