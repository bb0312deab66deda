import { type Diagnostic, diagnostic } from '../graph/diagnostics/diagnostic.js';
import type { CallNode, Node } from '../graph/model.js';
import { nodesOf } from '../graph/node-expressions.js';
import { toolSafetyOf } from '../graph/tool-safety.js';
import type { WorkflowPlan } from '../plan/plan.js';
import type { CheckEnvironment } from './environment.js';
import { placeOfNode } from './places.js';
import { reachableFrom } from './workflows.js';

/**
 * SW4014: tools that are called again although that may repeat their effect. A container or a workflow that is tried
 * again repeats the calls in it.
 */
export function checkRetries({ graph, nodes }: WorkflowPlan, environment: CheckEnvironment): Diagnostic[] {
  const strategy = graph.errorStrategy?.kind === 'retry' ? graph.errorStrategy.retry : undefined;
  return nodes.flatMap(({ node }) => {
    // The strategy is for the steps that reach outside; a container has to say so itself.
    const retry = node.retry ?? (node.kind === 'call' ? strategy : undefined);
    if (retry === undefined || !(retry.extra > 0)) return [];
    const place = placeOfNode(node, graph);
    const tools = new Map(callsIn(node, environment).map((call) => [call.tool, call]));
    return [...tools.values()]
      .filter(({ tool }) => mayRepeatEffect(tool, environment))
      .map(({ tool, id }) =>
        diagnostic('SW4014', place, { step: node.id, tool, ...(id === node.id ? {} : { inside: id }) }),
      );
  });
}

/** The calls that an attempt of a node makes, those of workflows it runs included. */
function callsIn(node: Node, environment: CheckEnvironment): CallNode[] {
  const nodes = nodesOf({ nodes: [node] });
  const { graphs } = reachableFrom({ nodes }, environment);
  return [...nodes, ...graphs.flatMap(nodesOf)].filter((each) => each.kind === 'call');
}

function mayRepeatEffect(name: string, { tools }: CheckEnvironment): boolean {
  const tool = tools.get(name);
  // A tool that is not there is SW4001.
  return tool !== undefined && toolSafetyOf(tool) === 'none';
}
