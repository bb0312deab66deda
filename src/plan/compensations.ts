import { references } from '../graph/expression/references.js';
import { compensationsOf } from '../graph/node-expressions.js';
import type { MutableNode } from './mutable-plan.js';
import type { PlannedCompensation } from './plan.js';

/** The calls that undo for a node, with what their inputs plainly refer to. */
export function plannedCompensations(planned: MutableNode): readonly PlannedCompensation[] {
  const { node, compensations } = planned;
  if (node.kind !== 'compensate' && node.compensate === undefined) return compensations;
  return compensationsOf(node).map((compensation) => {
    const plain = references(compensation.input).filter(
      ({ ref, guarded }) => ref.root === 'steps' && !guarded,
    );
    const ids = new Set(plain.map(({ ref }) => String(ref.path[0])));
    return { compensation, refersTo: [...ids].map((id) => visible(planned, id)) };
  });
}

/** The node of this name, unless it stands in a loop that the reader does not stand in. */
function visible({ scope }: MutableNode, id: string): MutableNode | undefined {
  const target = scope.workflow.byId.get(id);
  const depth = target?.scope.loops.length ?? 0;
  return depth === 0 || scope.loops[depth - 1] === target?.scope.loops[depth - 1] ? target : undefined;
}
