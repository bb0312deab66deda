import { references } from '../graph/expression/references.js';
import type { Node, ParallelNode } from '../graph/model.js';
import { compensationsOf } from '../graph/node-expressions.js';
import type { MutableNode } from './mutable-plan.js';
import type { PlannedCompensation } from './plan.js';
import { visibleIn } from './visibility.js';

/** The calls that undo for a node, with what their inputs plainly refer to. */
export function plannedCompensations(planned: MutableNode): readonly PlannedCompensation[] {
  const { node, compensations } = planned;
  if (node.kind !== 'compensate' && node.compensate === undefined) return compensations;
  return compensationsOf(node).map((compensation) => {
    const plain = references(compensation.input).filter(
      ({ ref, guarded }) => ref.root === 'steps' && !guarded,
    );
    const ids = new Set(plain.map(({ ref }) => String(ref.path[0])));
    return { compensation, refersTo: [...ids].map((id) => visibleIn(planned.scope, id)) };
  });
}

/** Whether a node undoes what its branches did when one of them fails. */
export function rollsBack(node: Node): node is ParallelNode {
  return node.kind === 'parallel' && node.onPartialFailure === 'rollback';
}
