import type { CheckEnvironment } from '../../check/environment.js';
import type { Compensation, Node, Scope } from '../../graph/kinds/node.js';
import type { Graph } from '../../graph/model.js';
import { compensationsOf, nodesOf, withBodies } from '../../graph/nodes.js';

type Tools = CheckEnvironment['tools'];

/**
 * A graph whose tools have their registered names, also where they are written as `server/tool` or `server.tool`. One
 * that is written with registered names comes back as it is.
 */
export function withRegisteredTools(graph: Graph, tools: Tools): Graph {
  if (nodesOf(graph).every((node) => hasRegisteredNames(node, tools))) return graph;
  return { ...graph, ...inScope(graph, tools) };
}

function hasRegisteredNames(node: Node, tools: Tools): boolean {
  if (node.kind === 'call' && !tools.has(node.tool)) return false;
  return compensationsOf(node).every(({ tool }) => tools.has(tool));
}

function inScope(scope: Scope, tools: Tools): Scope {
  const nodes = scope.nodes.map((node) => withBodies(withNames(node, tools), (body) => inScope(body, tools)));
  return { ...scope, nodes };
}

function withNames(node: Node, tools: Tools): Node {
  const named = <T extends { readonly tool: string }>(call: T): T => ({
    ...call,
    tool: registeredName(call.tool, tools),
  });
  const undone: { readonly compensate?: Compensation } =
    node.compensate === undefined ? {} : { compensate: named(node.compensate) };
  if (node.kind === 'call') return { ...named(node), ...undone };
  if (node.kind === 'compensate') return { ...node, steps: node.steps.map(named) };
  return { ...node, ...undone };
}

function registeredName(written: string, tools: Tools): string {
  if (tools.has(written)) return written;
  const [, server, tool] = /^([^/.]+)[/.](.+)$/.exec(written) ?? [];
  for (const [name, { upstream }] of tools)
    if (upstream !== undefined && upstream.server === server && upstream.tool === tool) return name;
  return written;
}
