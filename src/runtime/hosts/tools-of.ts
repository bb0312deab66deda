import type { Graph } from '../../graph/model.js';
import { nodesOf } from '../../graph/node-expressions.js';
import type { ToolSafety } from '../../graph/tool-safety.js';

/** How the tools that a graph calls may be repeated, as its start takes them: those that are `none` are left out. */
export function toolsOf(graph: Graph, safetyOf: (tool: string) => ToolSafety): Record<string, ToolSafety> {
  const tools: Record<string, ToolSafety> = {};
  for (const { nodes } of [graph, ...(graph.tasks ?? [])]) {
    for (const node of nodesOf({ nodes })) {
      if (node.kind !== 'call' || Object.hasOwn(tools, node.tool)) continue;
      const safety = safetyOf(node.tool);
      if (safety !== 'none') tools[node.tool] = safety;
    }
  }
  return tools;
}
