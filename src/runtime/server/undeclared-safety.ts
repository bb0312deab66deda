import { ownProperty } from '../../graph/json.js';
import type { Graph } from '../../graph/model.js';
import { nodesOf } from '../../graph/nodes.js';
import type { Registry } from '../tools/registry.js';

/**
 * The tools that steps call and whose declarations do not say what another call does, by their names. A run in a file that
 * was interrupted in a call of one pauses.
 */
export function undeclaredTools({ tools }: Registry, graphs: Iterable<Graph>): readonly string[] {
  const called = new Set<string>();
  for (const graph of graphs) {
    for (const scope of [graph, ...(graph.tasks ?? [])]) {
      for (const node of nodesOf(scope)) if (node.kind === 'call') called.add(node.tool);
    }
  }
  return [...called].filter((name) => isUndeclared(tools, name)).sort();
}

function isUndeclared(tools: Registry['tools'], name: string): boolean {
  const entry = ownProperty(tools, name);
  if (entry === undefined || entry.retrySafety !== undefined) return false;
  const { readOnlyHint, idempotentHint } = entry.annotations ?? {};
  return readOnlyHint !== true && idempotentHint === undefined;
}
