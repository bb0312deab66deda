import { isFailFast } from '../graph/defaults.js';
import { workOf } from '../graph/kinds/kinds.js';
import type { Graph } from '../graph/model.js';
import { bodiesOf } from '../graph/node-expressions.js';
import { faultOf, type PlanFault, planFailures } from './faults.js';
import { isPlainId } from './instances.js';
import {
  type PlannedCompensation,
  type PlannedNode,
  type RunnableNode,
  rollsBack,
  type ScopePlan,
  type WorkflowPlan,
} from './plan.js';

/** Nodes that lead to none and come from none share one list: most lists of a plan are empty. */
export const NONE: readonly never[] = [];

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
  readonly rolledBackBy: readonly MutableNode[];
}

/** A scope whose nodes are still being found. */
export interface MutableScope extends ScopePlan {
  readonly workflow: MutableWorkflow;
  readonly container?: MutableNode;
  readonly nodes: MutableNode[];
  readonly loops: readonly MutableNode[];
  /** The `parallel` nodes around it that roll back, the innermost first. */
  readonly rolledBackBy: readonly MutableNode[];
  isUndoable: boolean;
}

/** A workflow whose nodes are still being found. */
export interface MutableWorkflow extends WorkflowPlan {
  root: MutableScope;
  readonly scopes: MutableScope[];
  readonly byId: Map<string, MutableNode>;
  readonly nodes: MutableNode[];
  readonly duplicates: Set<string>;
}

/** All nodes of a workflow in their scopes, without edges. What is wrong with single nodes goes to the faults. */
export function planNodes(graph: Graph, surroundings: Surroundings): MutableWorkflow {
  const failFast = isFailFast(graph);
  const scopes: MutableScope[] = [];
  const nodes: MutableNode[] = [];
  const byId = new Map<string, MutableNode>();
  const duplicates = new Set<string>();
  const unrooted: Omit<MutableWorkflow, 'root'> = { graph, failFast, scopes, byId, nodes, duplicates };
  const workflow = unrooted as MutableWorkflow;
  const value = graph.returns === undefined ? {} : { value: graph.returns };
  const place = { depth: 0, loops: NONE, rolledBackBy: NONE, ...value };
  workflow.root = planScope(workflow, graph.nodes as readonly RunnableNode[], place, surroundings);
  return workflow;
}

function planScope(
  workflow: MutableWorkflow,
  nodes: readonly RunnableNode[],
  place: Omit<MutableScope, 'workflow' | 'nodes' | 'isUndoable'>,
  surroundings: Surroundings,
): MutableScope {
  const scope: MutableScope = { workflow, ...place, nodes: [], isUndoable: false };
  workflow.scopes.push(scope);
  for (const [index, node] of nodes.entries()) {
    const planned = planNode(scope, node, index);
    checkNode(planned, surroundings);
    addParts(planned, surroundings);
    scope.isUndoable ||= isUndoable(planned, surroundings);
  }
  return scope;
}

function planNode(scope: MutableScope, node: RunnableNode, index: number): MutableNode {
  const { workflow, container } = scope;
  // Written out, and with each property there from the start: the engine reads planned nodes more than all else.
  const planned: MutableNode = {
    node,
    ordinal: workflow.nodes.length,
    index,
    scope,
    parts: NONE as unknown as MutableScope[],
    after: NONE,
    sources: NONE,
    orders: NONE,
    joins: NONE,
    needs: NONE,
    successors: NONE,
    selectors: NONE,
    needsSelection: false,
    routers: NONE,
    routes: NONE,
    slice: NONE,
    retry: retryOf(node, workflow.graph),
    timeoutMs: node.timeoutMs,
    takesSlot: workOf(node) !== 'none',
    isReadyAtStart: false,
    hasSelection: false,
    compensations: NONE,
    isRepeatable: container !== undefined && (container.isRepeatable || isRepeated(container)),
    mayStartOver: false,
    rolledBackBy: scope.rolledBackBy,
  };
  scope.nodes.push(planned);
  workflow.nodes.push(planned);
  return planned;
}

/** Enters a node under its id; of two with one id the first counts. */
function checkNode(planned: MutableNode, surroundings: Surroundings): void {
  const { node, scope } = planned;
  const { faults } = surroundings;
  const { byId, duplicates } = scope.workflow;
  const failure = faultOf(node, surroundings.names);
  if (failure !== undefined) faults.push(scope.container === undefined ? { failure, node } : { failure });
  if (!isPlainId(node.id)) faults.push({ failure: planFailures.nodeId(node.id) });
  if (!byId.has(node.id)) {
    byId.set(node.id, planned);
    return;
  }
  duplicates.add(node.id);
  faults.push({ failure: planFailures.duplicateNode(node.id) });
}

function addParts(planned: MutableNode, surroundings: Surroundings): void {
  const { node, scope } = planned;
  const bodies = bodiesOf(node);
  if (bodies.length === 0) return;
  const place = {
    depth: scope.depth + 1,
    container: planned,
    loops: node.kind === 'foreach' ? [...scope.loops, planned] : scope.loops,
    rolledBackBy: rollsBack(node) ? [planned, ...scope.rolledBackBy] : scope.rolledBackBy,
  };
  (planned as { parts: MutableScope[] }).parts = bodies.map(({ arm, scope: { nodes, value } }) => {
    const own = { ...(arm === undefined ? {} : { arm }), ...(value === undefined ? {} : { value }) };
    return planScope(scope.workflow, nodes as readonly RunnableNode[], { ...place, ...own }, surroundings);
  });
}

function isUndoable({ node, parts }: MutableNode, { undoing }: Surroundings): boolean {
  if (node.compensate !== undefined) return true;
  return (node.kind === 'workflow' && undoing.has(node.workflow)) || parts.some((part) => part.isUndoable);
}

/** Whether a node may be attempted more than once. */
export function isRepeated({ retry }: MutableNode): boolean {
  return retry !== undefined && retry.extra > 0;
}

/** The error strategy stands in for calls and reads alone: everything else is repeated only where it says so. */
function retryOf(node: RunnableNode, { errorStrategy }: Graph) {
  if (node.retry !== undefined || workOf(node) !== 'call') return node.retry;
  return errorStrategy?.kind === 'retry' ? errorStrategy.retry : undefined;
}
