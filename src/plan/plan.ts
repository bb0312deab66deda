import type { Expr } from '../graph/expression/tree.js';
import type { Compensation, Node, Retry } from '../graph/kinds/node.js';
import type { Graph, ParallelNode } from '../graph/model.js';
import type { RunTimeCode } from '../graph/run-time-codes.js';

/** A graph with its order, joins, routes and names resolved. */
export interface Plan {
  readonly graph: Graph;
  /** The identity of the graph, computed on first use. */
  readonly hash: string;
  readonly main: WorkflowPlan;
  /** The workflows that `workflow` nodes run, by name. */
  readonly tasks: ReadonlyMap<string, WorkflowPlan>;
  readonly maxConcurrency: number;
  /** Why the graph cannot run. The plan of such a graph is incomplete. */
  readonly fault?: PlanFault;
}

/** One workflow of a plan, with a namespace of its own. */
export interface WorkflowPlan {
  readonly graph: Graph;
  readonly failFast: boolean;
  readonly root: ScopePlan;
  /** Its scopes, an outer one before those in it. */
  readonly scopes: readonly ScopePlan[];
  /** Every node by id, those of nested scopes included; the first of duplicates. */
  readonly byId: ReadonlyMap<string, PlannedNode>;
  /** Every node by its ordinal. */
  readonly nodes: readonly PlannedNode[];
  /** The ids of more than one node, which are faults. */
  readonly duplicates: ReadonlySet<string>;
  /** Names of the fields of the state of which each execution has its own. */
  readonly ownFields: ReadonlySet<string>;
}

/** A list of nodes: the top of a workflow, or a body. */
export interface ScopePlan {
  readonly workflow: WorkflowPlan;
  /** The number of containers around it. */
  readonly depth: number;
  /** The node whose body this is. Missing at the top of a workflow. */
  readonly container?: PlannedNode;
  /** The name of this body in its container. Missing for the body of a loop. */
  readonly arm?: string;
  /** In declaration order. */
  readonly nodes: readonly PlannedNode[];
  /** The value of the scope; at the top of a workflow its result. */
  readonly value?: Expr;
  /** The loops around it, the outermost first. */
  readonly loops: readonly PlannedNode[];
  /** Whether a node in it, at any depth, has a compensation. */
  readonly isUndoable: boolean;
}

/** A compensation, and the nodes that must succeed before there is anything to undo. */
export interface PlannedCompensation {
  readonly compensation: Compensation;
  /** The nodes that its input refers to without a guard, each once; `undefined` for a name that is not visible. */
  readonly refersTo: readonly (PlannedNode | undefined)[];
}

/** A node and its edges. Lists of other nodes hold nodes of its own scope. */
export interface PlannedNode {
  readonly node: Node;
  /** Position in its workflow, from 0: a container before its content, otherwise in declaration order. */
  readonly ordinal: number;
  /** Position in its scope in declaration order, from 0. */
  readonly index: number;
  readonly scope: ScopePlan;
  /** Its bodies: of the arms of a branch that have one, of a `parallel`, of a loop. */
  readonly parts: readonly ScopePlan[];
  /** The nodes it names in `after`. */
  readonly after: readonly PlannedNode[];
  /** Its dependencies as written: `after`, and the earlier nodes that it or its content reads. */
  readonly sources: readonly PlannedNode[];
  /** The nodes that must settle before this one may start: its sources, and what jumps and routes add. */
  readonly orders: readonly PlannedNode[];
  /** The nodes whose states its join evaluates. */
  readonly joins: readonly PlannedNode[];
  /** Under the error strategy `collect`, the nodes whose missing values skip this one, regardless of the join. */
  readonly needs: readonly PlannedNode[];
  /** The nodes that wait for this one, in declaration order. */
  readonly successors: readonly PlannedNode[];
  /** The nodes with a route to this one: an arm's `goto`, a fallback, or a `compensateNode`. */
  readonly selectors: readonly PlannedNode[];
  /** Whether it runs only when one of its selectors selects it. */
  readonly needsSelection: boolean;
  /** If it needs selection: the nodes that may select it, and each `goto` that may make them decide again. */
  readonly routers: readonly PlannedNode[];
  /** The nodes that need selection and have this one among their routers. */
  readonly routes: readonly PlannedNode[];
  /** Of a `goto`: the nodes from its target up to itself. */
  readonly slice: readonly PlannedNode[];
  /** The retry of a failed attempt: its own, or that of the error strategy. */
  readonly retry: Retry | undefined;
  /** Its own timeout of one attempt. */
  readonly timeoutMs: number | undefined;
  /** Whether an attempt takes one of the `maxConcurrency` slots: a call, a read, or a function. */
  readonly takesSlot: boolean;
  /** Whether it is ready as soon as its scope begins: it has no dependency, or no node can select it. */
  readonly isReadyAtStart: boolean;
  /** Whether it needs selection or is among the routers of a node that does. */
  readonly hasSelection: boolean;
  /** Its compensations: that of its own side effect, or the steps of a `compensate` node. */
  readonly compensations: readonly PlannedCompensation[];
  /** Whether a container around it, or a `workflow` node that runs it, may be attempted more than once. */
  readonly isRepeatable: boolean;
  /** Whether a `goto` may restart it, a container around it, or a `workflow` node that runs it. */
  readonly mayStartOver: boolean;
  /** Whether an expression may read its failure: the engine then keeps the failure beside its replacement. */
  readonly readsError: boolean;
  /** Of a call: the question that has to approve its tool and input before it is made. */
  readonly approvedBy: PlannedNode | undefined;
  /** The `parallel` nodes around it in its workflow that roll back, the innermost first. */
  readonly rolledBackBy: readonly PlannedNode[];
}

/** Whether a node undoes the effects of its branches when one of them fails. */
export function rollsBack(node: Node): node is ParallelNode {
  return node.kind === 'parallel' && node.onPartialFailure === 'rollback';
}

/** Why a graph cannot run. `code` is stable, for programs; `message` is one sentence, for people. */
interface PlanFailure {
  readonly code: RunTimeCode;
  readonly message: string;
}

/** A fault of the graph as a whole, found before anything runs. */
export interface PlanFault {
  readonly failure: PlanFailure;
  /** The node at fault, if it is at the top of the graph. */
  readonly node?: Node;
}

const graphFault = (message: string): PlanFailure => ({ code: 'E_GRAPH', message });

export const planFailures = {
  /** A node needs a feature that this version lacks; without it the graph would mean something else. */
  unsupported: (node: string, executor: string): PlanFailure => ({
    code: 'E_UNSUPPORTED',
    message: `Node '${node}' has the executor '${executor}', which this version cannot run.`,
  }),
  /** Only the server undoes what it did. */
  clientCompensation: (node: string): PlanFailure => ({
    code: 'E_UNSUPPORTED',
    message: `Node '${node}' is work of the client, which has no \`compensate\`: undo it in a step of its own.`,
  }),
  /** A node has `onError` although its failure cannot be handled. */
  onError: (node: string, kind: string): PlanFailure => ({
    code: 'E_ON_ERROR_TYPE',
    message: `Node '${node}' is of kind '${kind}', whose failure has no fallback: it is how the workflow ends.`,
  }),
  nodeId: (node: string) =>
    graphFault(`'${node}' is not a valid node id: it is empty or has one of / [ ] # @ : in it.`),
  duplicateArm: (node: string, arm: string) => graphFault(`Node '${node}' has two arms named '${arm}'.`),
  route: (node: string, target: string) =>
    graphFault(`Node '${node}' leads to '${target}', which is not another node of its scope.`),
  noCompensateNode: (node: string, target: string) =>
    graphFault(`Node '${node}' is undone by '${target}', which is not a compensate node.`),
  gotoTarget: (node: string, target: string) =>
    graphFault(`Node '${node}' goes back to '${target}', which its scope does not declare before it.`),
  /** A question approves another thing than a call of its scope, or one that another question approves. */
  approval: (node: string, target: string) =>
    graphFault(
      `Node '${node}' approves '${target}', which has to be a call of its scope that no other question approves.`,
    ),
  unknownWorkflow: (node: string, workflow: string) =>
    graphFault(`Node '${node}' runs workflow '${workflow}', which the graph does not include.`),
  duplicateNode: (node: string) => graphFault(`The graph has two nodes named '${node}'.`),
  unknownNode: (node: string, target: string) =>
    graphFault(`Node '${node}' waits for '${target}', which the graph does not have.`),
  cycle: (nodes: readonly string[]) => graphFault(`These nodes wait for each other: ${nodes.join(', ')}.`),
} as const;

/**
 * Why a single node cannot run. To skip such a node silently would change the meaning of the run.
 *
 * @param workflows names of the workflows that the graph includes.
 */
export function faultOf(node: Node, workflows: ReadonlySet<string>): PlanFailure | undefined {
  const { id, kind } = node;
  if (node.executor === 'client') {
    if (kind !== 'call' && kind !== 'shell' && kind !== 'delegate')
      return planFailures.unsupported(id, node.executor);
    if (node.compensate !== undefined) return planFailures.clientCompensation(id);
  }
  if (node.onError !== undefined && (kind === 'error' || kind === 'return'))
    return planFailures.onError(id, kind);
  if (kind === 'workflow' && !workflows.has(node.workflow))
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
