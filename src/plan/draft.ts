import type { Graph } from '../graph/model.js';
import { bodiesOf, nodesOf } from '../graph/node-expressions.js';
import { type PlanFault, planFailures } from './fault.js';
import { isPlainId } from './node-key.js';
import type { PlannedCompensation, PlannedNode, RunnableNode, ScopePlan, WorkflowPlan } from './plan.js';

const NONE: readonly never[] = [];

/** What the workflows of one plan have in common while they are compiled. */
export interface Surroundings {
  /** Found so far; the first one counts. */
  readonly faults: PlanFault[];
  /** Names of the workflows that may be run. */
  readonly names: ReadonlySet<string>;
  /** Those of them in which something says how it is undone. */
  readonly undoing: ReadonlySet<string>;
}

/** A planned node whose edges are still being found. */
export interface Draft extends PlannedNode {
  readonly scope: DraftScope;
  readonly parts: readonly DraftScope[];
  orders: readonly Draft[];
  joins: readonly Draft[];
  needs: readonly Draft[];
  successors: readonly Draft[];
  needsSelection: boolean;
  routers: readonly Draft[];
  routes: readonly Draft[];
  slice: readonly Draft[];
  isDueAtOnce: boolean;
  hasSelection: boolean;
  compensations: readonly PlannedCompensation[];
  isRepeatable: boolean;
  mayStartOver: boolean;
  readonly rolledBackBy: readonly Draft[];
}

/** A scope whose nodes are still being found. */
export interface DraftScope extends ScopePlan {
  readonly workflow: DraftWorkflow;
  readonly container?: Draft;
  readonly nodes: Draft[];
  readonly loops: readonly Draft[];
  /** The `parallel` nodes around it that roll back, the innermost first. */
  readonly rolledBackBy: readonly Draft[];
}

/** A workflow whose nodes are still being found. */
export interface DraftWorkflow extends WorkflowPlan {
  readonly root: DraftScope;
  readonly byId: Map<string, Draft>;
  readonly nodes: Draft[];
}

/** All nodes of a workflow in their scopes, without edges. */
export function draftWorkflow(graph: Graph, surroundings: Surroundings): DraftWorkflow {
  const failFast = graph.errorStrategy?.kind !== 'collect' && (graph.failFast ?? true);
  const byId = new Map<string, Draft>();
  const nodes: Draft[] = [];
  const workflow = { graph, failFast, byId, nodes } as {
    -readonly [K in keyof DraftWorkflow]: DraftWorkflow[K];
  };
  workflow.root = draftScope(
    workflow,
    graph.nodes as readonly RunnableNode[],
    { loops: NONE, rolledBackBy: NONE },
    surroundings,
  );
  return workflow;
}

function draftScope(
  workflow: DraftWorkflow,
  nodes: readonly RunnableNode[],
  place: Pick<DraftScope, 'container' | 'arm' | 'value' | 'loops' | 'rolledBackBy'>,
  surroundings: Surroundings,
): DraftScope {
  const isUndoable = nodesOf({ nodes }).some(
    (node) =>
      node.compensate !== undefined || (node.kind === 'workflow' && surroundings.undoing.has(node.workflow)),
  );
  const scope: DraftScope = { workflow, ...place, nodes: [], isUndoable };
  for (const [index, node] of nodes.entries()) {
    if (workflow.byId.has(node.id))
      surroundings.faults.push({ failure: planFailures.duplicateNode(node.id) });
    if (!isPlainId(node.id)) surroundings.faults.push({ failure: planFailures.nodeId(node.id) });
    scope.nodes.push(draftNode(scope, node, index, surroundings));
  }
  return scope;
}

/** Nodes that lead to none and come from none share one list: most lists of a plan are empty. */
export function shareEmptyLists(nodes: readonly Draft[]): void {
  for (const draft of nodes) {
    draft.orders = orNone(draft.orders);
    draft.joins = sameOr(draft.joins, draft.orders);
    draft.needs = orNone(draft.needs);
    draft.successors = orNone(draft.successors);
    draft.routes = orNone(draft.routes);
  }
}

function orNone(list: readonly Draft[]): readonly Draft[] {
  return list.length === 0 ? NONE : list;
}

/** `known`, where it holds the same. */
function sameOr(list: readonly Draft[], known: readonly Draft[]): readonly Draft[] {
  return list.length === known.length && list.every((each, place) => each === known[place]) ? known : list;
}

function draftNode(scope: DraftScope, node: RunnableNode, index: number, surroundings: Surroundings): Draft {
  const parts: DraftScope[] = [];
  const retry = retryOf(node, scope.workflow.graph);
  // Written out, and with each property there from the start: the engine reads planned nodes more than all else.
  const draft: Draft = {
    node,
    ordinal: scope.workflow.nodes.length,
    index,
    scope,
    parts,
    orders: NONE,
    joins: NONE,
    needs: NONE,
    successors: NONE,
    needsSelection: false,
    routers: NONE,
    routes: NONE,
    slice: NONE,
    retry,
    timeoutMs: node.timeoutMs,
    takesPlace: takesPlace(node),
    isDueAtOnce: false,
    hasSelection: false,
    compensations: NONE,
    isRepeatable:
      scope.container !== undefined && (scope.container.isRepeatable || isRepeated(scope.container)),
    mayStartOver: false,
    rolledBackBy: scope.rolledBackBy,
  };
  scope.workflow.byId.set(node.id, draft);
  scope.workflow.nodes.push(draft);
  const loops = node.kind === 'foreach' ? [...scope.loops, draft] : scope.loops;
  const rollsBack = node.kind === 'parallel' && node.onPartialFailure === 'rollback';
  const rolledBackBy = rollsBack ? [draft, ...scope.rolledBackBy] : scope.rolledBackBy;
  for (const { arm, scope: body } of bodiesOf(node)) {
    const place = {
      container: draft,
      loops,
      rolledBackBy,
      ...(arm === undefined ? {} : { arm }),
      ...(body.value === undefined ? {} : { value: body.value }),
    };
    parts.push(draftScope(scope.workflow, body.nodes as readonly RunnableNode[], place, surroundings));
  }
  return draft;
}

function takesPlace(node: RunnableNode): boolean {
  if (node.kind === 'compute') return node.function !== undefined;
  return node.kind === 'call' || node.kind === 'resource';
}

/** Whether a node may be attempted more than once. */
export function isRepeated({ retry }: Draft): boolean {
  return retry !== undefined && retry.extra > 0;
}

/** The error strategy stands in for calls and reads alone: whatever else is repeated, somebody has asked for. */
function retryOf(node: RunnableNode, { errorStrategy }: Graph) {
  if (node.retry !== undefined || (node.kind !== 'call' && node.kind !== 'resource')) return node.retry;
  return errorStrategy?.kind === 'retry' ? errorStrategy.retry : undefined;
}
