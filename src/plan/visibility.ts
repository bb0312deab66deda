import { references } from '../graph/expression/traversal.js';
import type { Expr } from '../graph/expression/tree.js';
import { compensationsOf, expressionsOf, sideExpressions, valueExpressions } from '../graph/nodes.js';
import { locationOfNode, type SourceLocation } from '../graph/source-location.js';
import type { PlannedNode, ScopePlan, WorkflowPlan } from './plan.js';

/** The reader of a value: a node, or the value of a scope when its nodes have settled. */
export interface Reader {
  readonly scope: ScopePlan;
  readonly node?: PlannedNode;
}

/** An expression of a workflow, with its reader and the location of what it is a part of. */
export interface Use {
  readonly expr: Expr;
  readonly reader: Reader;
  readonly source: SourceLocation | undefined;
}

/** The expressions of a workflow: those of its nodes, then the values of its scopes. */
export function usesIn({ graph, nodes, scopes }: WorkflowPlan): readonly Use[] {
  const ofNodes = nodes.flatMap((planned) => {
    const reader = { scope: planned.scope, node: planned };
    const source = locationOfNode(planned.node, graph);
    return expressionsOf(planned.node).map((expr): Use => ({ expr, reader, source }));
  });
  const ofScopes = scopes.flatMap((scope): Use | readonly Use[] =>
    scope.value === undefined ? [] : { expr: scope.value, reader: { scope }, source: locationOfScope(scope) },
  );
  return [...ofNodes, ...ofScopes];
}

/** The source location of the node with a scope as its body, or of the workflow. */
export function locationOfScope({ container, workflow: { graph } }: ScopePlan): SourceLocation | undefined {
  return container === undefined ? graph.source : locationOfNode(container.node, graph);
}

/** Whether a reader can read a node that it names, and if not, why. */
export type Visibility =
  /**
   * The node's value may be read. `source` is the node or its container in the innermost scope that both share; `user` is
   * the reader or its container there, and missing if that scope's value is the reader.
   */
  | { readonly kind: 'visible'; readonly source: PlannedNode; readonly user: PlannedNode | undefined }
  /** It is in a loop that the reader is not in: it has an instance for each item. */
  | {
      readonly kind: 'inLoop';
      readonly loop: PlannedNode;
      readonly source: PlannedNode;
      readonly user: PlannedNode | undefined;
    }
  /** It is in another arm of the same node: it never runs, or in no defined order. */
  | { readonly kind: 'inOtherArm'; readonly of: PlannedNode; readonly arm: string };

/**
 * Finds whether a reader may read a node. A reader sees its own scope, the scopes around it, and the bodies of branches and
 * parallels there, but not the bodies of loops.
 */
export function visibilityOf(target: PlannedNode, reader: Reader): Visibility {
  let source = target;
  let user = reader.node;
  let { scope } = reader;
  let loop: PlannedNode | undefined;
  let arm = '';
  // Ascends to the innermost scope that contains both.
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

/** The readers of a node's value. */
export interface Readers {
  /** The nodes that name it, in any scope, in declaration order. */
  readonly nodes: ReadonlySet<PlannedNode>;
  /** The nodes of its own scope that read it or contain a reader. */
  readonly users: ReadonlySet<PlannedNode>;
  /** Whether the value of a scope or the result of the workflow reads it. */
  readonly isHandedOut: boolean;
}

const NO_READERS: Readers = { nodes: new Set(), users: new Set(), isHandedOut: false };

const cache = new WeakMap<WorkflowPlan, ReadonlyMap<PlannedNode, Readers>>();

/** The readers of a node's value, computed for all nodes of its workflow on first use. */
export function readersOf(planned: PlannedNode): Readers {
  const { workflow } = planned.scope;
  const readers = cache.get(workflow) ?? findReaders(workflow);
  cache.set(workflow, readers);
  return readers.get(planned) ?? NO_READERS;
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
      const isNamed = ref.root === 'steps' || ref.root === 'nodes';
      const target = isNamed ? workflow.byId.get(String(ref.path[0])) : undefined;
      if (target === undefined) continue;
      const readers = byTarget.get(target) ?? { nodes: new Set(), users: new Set(), isHandedOut: false };
      byTarget.set(target, readers);
      if (reader.node === undefined) readers.isHandedOut = true;
      else readers.nodes.add(reader.node);
      const visibility = visibilityOf(target, reader);
      const user = visibility.kind === 'visible' ? visibility.user : undefined;
      if (user?.scope === target.scope && user !== target) readers.users.add(user);
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
