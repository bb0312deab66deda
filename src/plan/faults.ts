import type { Graph, Node } from '../graph/model.js';
import { nodesOf } from '../graph/node-expressions.js';
import type { Surroundings } from './draft.js';
import { type PlanFailure, type PlanFault, planFailures } from './fault.js';

/** What this engine cannot run about single nodes. Left out in silence it would change the meaning of the run. */
export function* faultsOf(graph: Graph, surroundings: Surroundings): Generator<PlanFault> {
  const atTheTop = new Set(graph.nodes);
  for (const node of nodesOf(graph)) {
    const failure = faultOf(node, surroundings);
    if (failure !== undefined) yield atTheTop.has(node) ? { failure, node } : { failure };
  }
}

function faultOf(node: Node, { names }: Surroundings): PlanFailure | undefined {
  const { id, kind } = node;
  if (kind === 'shell' || kind === 'delegate') return planFailures.nodeKind(id, kind);
  if (node.executor === 'client') return planFailures.unsupported(`Node '${id}'`, 'executor: client');
  if (node.onError !== undefined && (kind === 'error' || kind === 'return'))
    return planFailures.onError(id, kind);
  if (kind === 'workflow' && !names.has(node.workflow))
    return planFailures.unknownWorkflow(id, node.workflow);
  const arms = armsOf(node);
  const twice = arms.find((arm, index) => arms.indexOf(arm) !== index);
  return twice === undefined ? undefined : planFailures.duplicateArm(id, twice);
}

function armsOf(node: Node): string[] {
  if (node.kind === 'parallel') return node.branches.map(({ id }) => id);
  if (node.kind !== 'branch') return [];
  return [...node.cases, ...(node.else === undefined ? [] : [node.else])].map(({ id }) => id);
}
