import { type Diagnostic, diagnostic } from '../graph/diagnostics/diagnostic.js';
import type { Node } from '../graph/kinds/node.js';
import type { ForeachNode, Graph } from '../graph/model.js';
import { nodesOf } from '../graph/nodes.js';
import { locationOfNode, relatedLocation } from '../graph/source-location.js';
import type { WorkflowPlan } from '../plan/plan.js';
import { type CheckEnvironment, reachableFrom } from './environment.js';

/**
 * Reports what an agent that drives the items of a loop cannot do: SW4049 questions to a person, SW4050 work for other agents,
 * unless the workflow allows it.
 */
export function checkAgents({ graph, nodes }: WorkflowPlan, environment: CheckEnvironment): Diagnostic[] {
  return nodes.flatMap(({ node }) => {
    if (node.kind !== 'foreach' || node.agent === undefined) return [];
    const { agent } = node;
    return stepsOfItem(node, graph, environment).flatMap(({ step, of }) => {
      const code = faultOf(step, graph);
      if (code === undefined) return [];
      const params = { step: step.id, loop: node.id, agent };
      const location = locationOfNode(step, of) ?? locationOfNode(node, graph);
      const related = relatedLocation('the loop is here', node.source);
      return [
        diagnostic(code, location, of === graph ? params : { ...params, workflow: of.name }, { related }),
      ];
    });
  });
}

/** The steps of an item, those of the workflows that it runs included. */
function stepsOfItem(
  { body }: ForeachNode,
  graph: Graph,
  environment: CheckEnvironment,
): { readonly step: Node; readonly of: Graph }[] {
  const { graphs } = reachableFrom(body, environment);
  return [
    ...nodesOf(body).map((step) => ({ step, of: graph })),
    ...graphs.flatMap((of) => nodesOf(of).map((step) => ({ step, of }))),
  ];
}

function faultOf(step: Node, { allowNestedAgents }: Graph): 'SW4049' | 'SW4050' | undefined {
  if (step.kind === 'ask') return step.mode === 'model' ? undefined : 'SW4049';
  if (allowNestedAgents === true) return undefined;
  const isHandedOn =
    (step.kind === 'foreach' && step.agent !== undefined) ||
    (step.kind === 'delegate' && step.agent !== null);
  return isHandedOn ? 'SW4050' : undefined;
}
