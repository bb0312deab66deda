import { references } from '../../graph/expression/traversal.js';
import type { Node } from '../../graph/kinds/node.js';
import { expressionsOf, withBodies } from '../../graph/nodes.js';

/** Gives each node the state fields that its own expressions read; those of nodes in its bodies are theirs. */
export function withReads(nodes: readonly Node[]): readonly Node[] {
  return nodes.map((node): Node => {
    const refs = expressionsOf(node).flatMap((expr) => references(expr));
    const fields = refs.flatMap(({ ref }) => (ref.root === 'state' ? String(ref.path[0]) : []));
    const inner = withBodies(node, (scope) => ({ ...scope, nodes: withReads(scope.nodes) }));
    return { ...inner, reads: [...new Set(fields)].sort() };
  });
}
