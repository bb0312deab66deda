import { defined } from '../graph/defined.js';
import { workOf } from '../graph/kinds/kinds.js';
import type { Node } from '../graph/kinds/node.js';
import { isFailFast } from '../graph/limits.js';
import type { Graph } from '../graph/model.js';
import { bodiesOf } from '../graph/nodes.js';
import { isPlainId } from './instances.js';
import {
  faultOf,
  type PlanFault,
  type PlannedCompensation,
  type PlannedNode,
  planFailures,
  rollsBack,
  type ScopePlan,
  type WorkflowPlan,
} from './plan.js';

/** The shared empty list: most lists of a plan are empty. */
export const NO_NODES: readonly never[] = [];

/** What the workflows of one plan share while they are compiled. */
export interface CompileContext {
  /** The faults so far; the first one counts. */
  readonly faults: PlanFault[];
  /** Names of the workflows that the graph includes. */
  readonly names: ReadonlySet<string>;
  /** Names of those that have a compensation. */
  readonly compensating: ReadonlySet<string>;
}

/** A planned node before its edges are complete. */
export interface MutableNode extends PlannedNode {
  readonly scope: MutableScope;
  readonly parts: MutableScope[];
  after: readonly MutableNode[];
  sources: readonly MutableNode[];
  orders: readonly MutableNode[];
  joins: readonly MutableNode[];
  needs: readonly MutableNode[];
  successors: readonly MutableNode[];
  selectors: readonly MutableNode[];
  needsSelection: boolean;
  routers: readonly MutableNode[];
  routes: readonly MutableNode[];
  slice: readonly MutableNode[];
  isReadyAtStart: boolean;
  hasSelection: boolean;
  compensations: readonly PlannedCompensation[];
  isRepeatable: boolean;
  mayStartOver: boolean;
  readsError: boolean;
  approvedBy: MutableNode | undefined;
  readonly rolledBackBy: readonly MutableNode[];
}

/** A scope before its nodes are complete. */
export interface MutableScope extends ScopePlan {
  readonly workflow: MutableWorkflow;
  readonly container?: MutableNode;
  readonly nodes: MutableNode[];
  readonly loops: readonly MutableNode[];
  /** The `parallel` nodes around it that roll back, the innermost first. */
  readonly rolledBackBy: readonly MutableNode[];
  isUndoable: boolean;
}

/** A workflow before its nodes are complete. */
export interface MutableWorkflow extends WorkflowPlan {
  root: MutableScope;
  readonly scopes: MutableScope[];
  readonly byId: Map<string, MutableNode>;
  readonly nodes: MutableNode[];
  readonly duplicates: Set<string>;
}

/** Plans the nodes of a workflow in their scopes, without edges, and collects the faults of single nodes. */
export function planNodes(graph: Graph, context: CompileContext): MutableWorkflow {
  const failFast = isFailFast(graph);
  const scopes: MutableScope[] = [];
  const nodes: MutableNode[] = [];
  const byId = new Map<string, MutableNode>();
  const duplicates = new Set<string>();
  const ownFields = new Set(
    (graph.state ?? []).flatMap(({ name, scope }) => (scope === 'workflow' ? [name] : [])),
  );
  const fixed = { graph, failFast, ownFields };
  const unrooted: Omit<MutableWorkflow, 'root'> = { ...fixed, scopes, byId, nodes, duplicates };
  const workflow = unrooted as MutableWorkflow;
  const value = defined({ value: graph.returns });
  const position = { depth: 0, loops: NO_NODES, rolledBackBy: NO_NODES, ...value };
  workflow.root = planScope(workflow, graph.nodes, position, context);
  return workflow;
}

function planScope(
  workflow: MutableWorkflow,
  nodes: readonly Node[],
  position: Omit<MutableScope, 'workflow' | 'nodes' | 'isUndoable'>,
  context: CompileContext,
): MutableScope {
  const scope: MutableScope = { workflow, ...position, nodes: [], isUndoable: false };
  workflow.scopes.push(scope);
  for (const [index, node] of nodes.entries()) {
    const planned = planNode(scope, node, index);
    checkNode(planned, context);
    addParts(planned, context);
    scope.isUndoable ||= isUndoable(planned, context);
  }
  return scope;
}

function planNode(scope: MutableScope, node: Node, index: number): MutableNode {
  const { workflow, container } = scope;
  // All properties from the start, so that all nodes have one hidden class: the engine reads them most.
  const planned: MutableNode = {
    node,
    ordinal: workflow.nodes.length,
    index,
    scope,
    parts: NO_NODES as unknown as MutableScope[],
    after: NO_NODES,
    sources: NO_NODES,
    orders: NO_NODES,
    joins: NO_NODES,
    needs: NO_NODES,
    successors: NO_NODES,
    selectors: NO_NODES,
    needsSelection: false,
    routers: NO_NODES,
    routes: NO_NODES,
    slice: NO_NODES,
    retry: retryOf(node, workflow.graph),
    timeoutMs: node.timeoutMs,
    takesSlot: workOf(node) !== 'none',
    isReadyAtStart: false,
    hasSelection: false,
    compensations: NO_NODES,
    isRepeatable: container !== undefined && (container.isRepeatable || isRepeated(container)),
    mayStartOver: false,
    readsError: false,
    approvedBy: undefined,
    rolledBackBy: scope.rolledBackBy,
  };
  scope.nodes.push(planned);
  workflow.nodes.push(planned);
  return planned;
}

/** Registers a node by its id; the first of two duplicates counts. */
function checkNode(planned: MutableNode, context: CompileContext): void {
  const { node, scope } = planned;
  const { faults } = context;
  const { byId, duplicates } = scope.workflow;
  const failure = faultOf(node, context.names);
  if (failure !== undefined) faults.push(scope.container === undefined ? { failure, node } : { failure });
  if (!isPlainId(node.id)) faults.push({ failure: planFailures.nodeId(node.id) });
  if (!byId.has(node.id)) {
    byId.set(node.id, planned);
    return;
  }
  duplicates.add(node.id);
  faults.push({ failure: planFailures.duplicateNode(node.id) });
}

function addParts(planned: MutableNode, context: CompileContext): void {
  const { node, scope } = planned;
  const bodies = bodiesOf(node);
  if (bodies.length === 0) return;
  const position = {
    depth: scope.depth + 1,
    container: planned,
    loops: node.kind === 'foreach' ? [...scope.loops, planned] : scope.loops,
    rolledBackBy: rollsBack(node) ? [planned, ...scope.rolledBackBy] : scope.rolledBackBy,
  };
  (planned as { parts: MutableScope[] }).parts = bodies.map(({ arm, scope: { nodes, value } }) => {
    const own = { ...defined({ arm, value }) };
    return planScope(scope.workflow, nodes, { ...position, ...own }, context);
  });
}

function isUndoable({ node, parts }: MutableNode, { compensating }: CompileContext): boolean {
  if (node.compensate !== undefined) return true;
  return (
    (node.kind === 'workflow' && compensating.has(node.workflow)) || parts.some((part) => part.isUndoable)
  );
}

/** Whether a node may be attempted more than once. */
export function isRepeated({ retry }: MutableNode): boolean {
  return retry !== undefined && retry.extra > 0;
}

/** The error strategy is the default of calls and reads alone; other nodes repeat only by their own retry. */
function retryOf(node: Node, { errorStrategy }: Graph) {
  if (node.retry !== undefined || workOf(node) !== 'call') return node.retry;
  return errorStrategy?.kind === 'retry' ? errorStrategy.retry : undefined;
}
