import type { Node } from '../../graph/kinds/node.js';
import type { ResourceRef } from '../../graph/model.js';
import type { NodeCore, StepNode } from './nodes.js';

/**
 * Gives the resources of a step to its node that calls, reads or asks first: a model that supplies an input of a call
 * has them before it is asked. Reads that were moved out of an expression are not the step's own.
 *
 * @returns undefined where the step has no such node.
 */
export function withResources(
  nodes: readonly StepNode[],
  resources: readonly ResourceRef[],
): readonly StepNode[] | undefined {
  return inFirst(nodes, ({ core, hoisted, ...rest }) => {
    if (hoisted && core.kind !== 'ask') return undefined;
    const changed = inCore(core, resources);
    return changed && { ...rest, core: changed, ...(hoisted ? { hoisted } : {}) };
  });
}

/** Whether a step with this node may have resources. */
export function takesResources(core: NodeCore): boolean {
  return inCore(core, []) !== undefined;
}

/** A node of its own, or the one body of steps that are tried or only grouped. */
function inCore<C extends NodeCore | Node>(core: C, resources: readonly ResourceRef[]): C | undefined {
  switch (core.kind) {
    case 'call':
    case 'resource':
    case 'ask':
      return { ...core, resources };
    case 'branch': {
      const [only, ...others] = core.cases;
      if (only === undefined || !('body' in only) || others.length > 0 || core.else !== undefined)
        return undefined;
      const nodes = inFirst(only.body.nodes, (node) => inCore(node, resources));
      return nodes && { ...core, cases: [{ ...only, body: { ...only.body, nodes } }] };
    }
    default:
      return undefined;
  }
}

/** Replaces the first item that can be replaced. */
function inFirst<T>(items: readonly T[], replaced: (item: T) => T | undefined): readonly T[] | undefined {
  for (const [index, item] of items.entries()) {
    const other = replaced(item);
    if (other !== undefined) return items.with(index, other);
  }
  return undefined;
}
