import { references } from '../graph/expression/references.js';
import type { Expr } from '../graph/expression/tree.js';
import type { Json } from '../graph/json.js';
import type { Node } from '../graph/model.js';
import { compensationsOf, sideExpressions, valueExpressions } from '../graph/node-expressions.js';
import type { PlannedNode, ScopePlan, WorkflowPlan } from './plan.js';

/** Where something is read: by a node, or by the value of a scope when its nodes are done. */
export interface Reader {
  readonly scope: ScopePlan;
  readonly node?: PlannedNode;
}

/** What a reader can make of a node that it names. */
export type Visibility =
  /**
   * The node's value may be read. `source` is the node, or what it stands in, in the reader's own scope or one around
   * it; `user` is the reader there, or what it stands in, and missing for that scope's value.
   */
  | { readonly kind: 'visible'; readonly source: PlannedNode; readonly user: PlannedNode | undefined }
  /** It stands in a loop that the reader does not stand in: there is one of it for each item. */
  | {
      readonly kind: 'inLoop';
      readonly loop: PlannedNode;
      readonly source: PlannedNode;
      readonly user: PlannedNode | undefined;
    }
  /** It stands in another arm of the same node: it never runs, or at a time that is not known. */
  | { readonly kind: 'inOtherArm'; readonly of: PlannedNode; readonly arm: string };

/**
 * Finds out whether a reader may read a node. It sees its own scope and those around it, and the bodies of branches and
 * parallels there, but into no loop.
 */
export function visibilityOf(target: PlannedNode, reader: Reader): Visibility {
  let source = target;
  let user = reader.node;
  let { scope } = reader;
  let loop: PlannedNode | undefined;
  let arm = '';
  // The scope they share is the innermost one that both stand in.
  while (source.scope !== scope) {
    const outer = source.scope.depth > scope.depth ? source.scope.container : undefined;
    if (outer !== undefined) {
      if (outer.node.kind === 'foreach') loop ??= outer;
      arm = source.scope.arm ?? '';
      source = outer;
      continue;
    }
    const { container } = scope;
    if (container === undefined) throw new Error(`'${target.node.id}' is a node of another workflow`);
    user = container;
    scope = container.scope;
  }
  if (loop !== undefined) return { kind: 'inLoop', loop, source, user };
  if (user === source && source !== target) return { kind: 'inOtherArm', of: source, arm };
  return { kind: 'visible', source, user };
}

/** The node of this name as the nodes of a scope see it; none where it is in a loop that the scope is not in. */
export function visibleIn(scope: ScopePlan, id: string): PlannedNode | undefined {
  const target = scope.workflow.byId.get(id);
  const depth = target?.scope.loops.length ?? 0;
  return depth === 0 || scope.loops[depth - 1] === target?.scope.loops[depth - 1] ? target : undefined;
}

/** Whether a node is the loop that a name of an item or of its index belongs to, as far as no loop inside it is. */
export function bindsName(node: Node, root: 'item' | 'index', name: string): boolean {
  return node.kind === 'foreach' && (root === 'item' ? node.as : node.indexAs) === name;
}

/** A workflow within a run, and the node that runs it. */
interface NestedWorkflow {
  readonly plan: Pick<WorkflowPlan, 'graph'>;
  readonly node?: { readonly scope: { readonly workflow: NestedWorkflow } } | undefined;
}

/** What a field of the state reads as before it is written: as its workflow declares it, or the nearest one around. */
export function initialOf(workflow: NestedWorkflow, name: string): Json | undefined {
  for (
    let each: NestedWorkflow | undefined = workflow;
    each !== undefined;
    each = each.node?.scope.workflow
  ) {
    const field = each.plan.graph.state?.find((declared) => declared.name === name);
    if (field !== undefined) return field.initial;
  }
  return undefined;
}

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
