import type { Expr } from '../graph/expression/tree.js';
import type { SupportedKind } from '../graph/kinds/kinds.js';
import type { Compensation, Graph, Node, ParallelNode, Retry } from '../graph/model.js';
import type { PlanFault } from './faults.js';

/** The kinds of node this engine runs. */
export type RunnableNode = Extract<Node, { kind: SupportedKind }>;

/** A graph resolved once: order, joins, routes and names are one step away. */
export interface Plan {
  readonly graph: Graph;
  /** Identity of the graph, worked out when it is first read. */
  readonly hash: string;
  readonly main: WorkflowPlan;
  /** The workflows that `workflow` nodes run, by name. */
  readonly tasks: ReadonlyMap<string, WorkflowPlan>;
  readonly maxConcurrency: number;
  /** Why the graph cannot be run at all. The plan of such a graph is resolved as far as it goes. */
  readonly fault?: PlanFault;
}

/** One workflow of a plan: a space of names of its own. */
export interface WorkflowPlan {
  readonly graph: Graph;
  readonly failFast: boolean;
  readonly root: ScopePlan;
  /** Its scopes, an outer one before those in it. */
  readonly scopes: readonly ScopePlan[];
  /** Every node, those of nested scopes included; of two with one id the first. */
  readonly byId: ReadonlyMap<string, PlannedNode>;
  /** Every node by its ordinal. */
  readonly nodes: readonly PlannedNode[];
  /** The ids that more than one node has, which is a fault. */
  readonly duplicates: ReadonlySet<string>;
}

/** A list of nodes: the top of a workflow, or a body. */
export interface ScopePlan {
  readonly workflow: WorkflowPlan;
  /** How many containers are around it. */
  readonly depth: number;
  /** The node whose body this is. None for the top of a workflow. */
  readonly container?: PlannedNode;
  /** The name of this body among those of its container. None for the body of a loop. */
  readonly arm?: string;
  /** In declaration order. */
  readonly nodes: readonly PlannedNode[];
  /** What it hands out: for the top of a workflow what that returns. */
  readonly value?: Expr;
  /** The loops around it, the outermost first. */
  readonly loops: readonly PlannedNode[];
  /** Whether something in it, however deep, says how it is undone. */
  readonly isUndoable: boolean;
}

/** A call that undoes, and the steps without whose success it has nothing to undo. */
export interface PlannedCompensation {
  readonly compensation: Compensation;
  /** The nodes its input plainly refers to, each once; `undefined` for a name that it cannot see from there. */
  readonly refersTo: readonly (PlannedNode | undefined)[];
}

/** A node and its place in the order of the run. Lists of other nodes hold nodes of its own scope. */
export interface PlannedNode {
  readonly node: RunnableNode;
  /** Place in its workflow, from 0: a container before its content, all else in declaration order. */
  readonly ordinal: number;
  /** Place in its scope in declaration order, from 0. */
  readonly index: number;
  readonly scope: ScopePlan;
  /** Its bodies: of the arms of a branch that have one, of a `parallel`, of a loop. */
  readonly parts: readonly ScopePlan[];
  /** The nodes it names in `after`. */
  readonly after: readonly PlannedNode[];
  /** What its text makes it wait for: `after`, and what it or anything inside it reads of what is declared before. */
  readonly sources: readonly PlannedNode[];
  /** The nodes that must settle before this one is considered: its sources, and what jumps and routes add. */
  readonly orders: readonly PlannedNode[];
  /** The nodes whose states the join looks at. */
  readonly joins: readonly PlannedNode[];
  /** Under the error strategy `collect`, the nodes without whose data this one is skipped, whatever the join says. */
  readonly needs: readonly PlannedNode[];
  /** The nodes that wait for this one, in declaration order. */
  readonly successors: readonly PlannedNode[];
  /** The nodes with a route to this one: an arm's `goto`, a fallback, or what a `parallel` rolls back by. */
  readonly selectors: readonly PlannedNode[];
  /** Whether it runs only when one of its selectors selects it. */
  readonly needsSelection: boolean;
  /** The nodes that may select it where it needs that, and a `goto` that may make them decide anew. */
  readonly routers: readonly PlannedNode[];
  /** The nodes that need selection and have this one among their routers. */
  readonly routes: readonly PlannedNode[];
  /** Of a `goto`: the nodes from its target up to itself. */
  readonly slice: readonly PlannedNode[];
  /** How often a failed attempt is repeated, where it is: its own retry, or that of the error strategy. */
  readonly retry: Retry | undefined;
  /** Its own limit for one attempt. */
  readonly timeoutMs: number | undefined;
  /** Whether an attempt takes one of the `maxConcurrency` slots: a call, a read, or a function. */
  readonly takesSlot: boolean;
  /** Whether it is looked at as soon as its scope begins: it waits for nothing, or nothing can select it. */
  readonly isReadyAtStart: boolean;
  /** Whether it needs selection or is among the routers of a node that does. */
  readonly hasSelection: boolean;
  /** The calls that undo: that of its own effect, or the steps of a `compensate` node. */
  readonly compensations: readonly PlannedCompensation[];
  /** Whether a container around it, a `workflow` node that leads to it included, may be attempted more than once. */
  readonly isRepeatable: boolean;
  /** Whether a `goto` may start over it, or a container around it, a `workflow` node that leads to it included. */
  readonly mayStartOver: boolean;
  /** The `parallel` nodes around it in its workflow that roll back, the innermost first. */
  readonly rolledBackBy: readonly PlannedNode[];
}

/** Whether a node undoes the effects of its branches when one of them fails. */
export function rollsBack(node: Node): node is ParallelNode {
  return node.kind === 'parallel' && node.onPartialFailure === 'rollback';
}
