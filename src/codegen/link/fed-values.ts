import { type InputSchemas, schemaFed } from '../../check/schema-view.js';
import type { Node } from '../../graph/kinds/node.js';
import type { FedInput } from '../../graph/kinds/waits.js';
import { nodesOf, withBodies } from '../../graph/nodes.js';
import type { LinkedWorkflow } from '../declarations.js';

/**
 * Gives every value that a model supplies for an input the schema of that input. The schemas of tools are read while the
 * workflows are linked.
 */
export function withFedSchemas(
  workflows: readonly LinkedWorkflow[],
  tool: InputSchemas['tool'],
): readonly LinkedWorkflow[] {
  const byName = new Map(workflows.map(({ graph }) => [graph.name, graph]));
  const schemas = { tool, workflow: (name: string) => byName.get(name) };
  return workflows.map((workflow) => {
    const { graph } = workflow;
    const all = nodesOf(graph);
    if (!all.some((node) => feedsOf(node) !== undefined)) return workflow;
    const byId = new Map(all.map((node) => [node.id, node]));
    const fill = (node: Node): Node => {
      const inner = withBodies(node, (scope) => ({ ...scope, nodes: scope.nodes.map(fill) }));
      const feeds = feedsOf(inner);
      const target = feeds && byId.get(feeds.node);
      const expects = feeds && target && schemaFed(target, feeds.path, schemas);
      return expects === undefined ? inner : ({ ...inner, expects } as Node);
    };
    return { ...workflow, graph: { ...graph, nodes: graph.nodes.map(fill) } };
  });
}

function feedsOf(node: Node): FedInput | undefined {
  return node.kind === 'ask' ? node.feeds : undefined;
}
