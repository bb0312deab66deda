import { references } from '../graph/expression/references.js';
import type { Expr } from '../graph/expression/tree.js';
import { compensationsOf, sideExpressions, valueExpressions } from '../graph/node-expressions.js';
import type { PlannedNode, WorkflowPlan } from './plan.js';
import { type Reader, visibilityOf } from './visibility.js';

/** Who reads the value of a node. */
export interface Readers {
  /** The nodes that name it, in declaration order, wherever they stand. */
  readonly nodes: ReadonlySet<PlannedNode>;
  /** Those of its own scope that read it, or in which something does. */
  readonly users: ReadonlySet<PlannedNode>;
  /** Whether what a scope hands out, or what the workflow returns, is made of it. */
  readonly isHandedOut: boolean;
}

const NO_READERS: Readers = { nodes: new Set(), users: new Set(), isHandedOut: false };

const known = new WeakMap<WorkflowPlan, ReadonlyMap<PlannedNode, Readers>>();

/** Who reads the value of a node. Found for all nodes of its workflow when it is first asked for. */
export function readersOf(planned: PlannedNode): Readers {
  const { workflow } = planned.scope;
  const found = known.get(workflow) ?? findReaders(workflow);
  known.set(workflow, found);
  return found.get(planned) ?? NO_READERS;
}

interface MutableReaders extends Readers {
  readonly nodes: Set<PlannedNode>;
  readonly users: Set<PlannedNode>;
  isHandedOut: boolean;
}

function findReaders(workflow: WorkflowPlan): ReadonlyMap<PlannedNode, Readers> {
  const byTarget = new Map<PlannedNode, MutableReaders>();
  const read = (expr: Expr, reader: Reader): void => {
    for (const { ref } of references(expr)) {
      const target = ref.root === 'steps' ? workflow.byId.get(String(ref.path[0])) : undefined;
      if (target === undefined) continue;
      const found = byTarget.get(target) ?? { nodes: new Set(), users: new Set(), isHandedOut: false };
      byTarget.set(target, found);
      if (reader.node === undefined) found.isHandedOut = true;
      else found.nodes.add(reader.node);
      const visibility = visibilityOf(target, reader);
      const user = visibility.kind === 'visible' ? visibility.user : undefined;
      if (user?.scope === target.scope && user !== target) found.users.add(user);
    }
  };
  for (const planned of workflow.nodes) {
    const { node, scope } = planned;
    const inputs = compensationsOf(node).map(({ input }) => input);
    for (const expr of [...valueExpressions(node), ...sideExpressions(node), ...inputs])
      read(expr, { scope, node: planned });
  }
  for (const scope of workflow.scopes) if (scope.value !== undefined) read(scope.value, { scope });
  return byTarget;
}
