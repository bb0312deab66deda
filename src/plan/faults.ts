import { kinds } from '../graph/kinds/kinds.js';
import type { Node } from '../graph/model.js';
import { type PlanFailure, planFailures } from './fault.js';
import type { Surroundings } from './mutable-plan.js';

/** What cannot be run about a single node. Left out in silence it would change the meaning of the run. */
export function faultOf(node: Node, { names }: Surroundings): PlanFailure | undefined {
  const { id, kind } = node;
  if (!kinds[kind].isSupported) return planFailures.unsupported(id, 'kind', kind);
  if (node.executor === 'client') return planFailures.unsupported(id, 'executor', node.executor);
  if (node.onError !== undefined && (kind === 'error' || kind === 'return'))
    return planFailures.onError(id, kind);
  if (kind === 'workflow' && !names.has(node.workflow))
    return planFailures.unknownWorkflow(id, node.workflow);
  if (kind !== 'parallel' && kind !== 'branch') return undefined;
  const arms = armIdsOf(node);
  const twice = arms.find((arm, index) => arms.indexOf(arm) !== index);
  return twice === undefined ? undefined : planFailures.duplicateArm(id, twice);
}

/** The names of a node's arms or branches. */
export function armIdsOf(node: Node): string[] {
  if (node.kind === 'parallel') return node.branches.map(({ id }) => id);
  if (node.kind !== 'branch') return [];
  return [...node.cases, ...(node.else === undefined ? [] : [node.else])].map(({ id }) => id);
}
