import { hashGraph } from '../graph/canonical.js';
import type { Expr } from '../graph/expression/tree.js';
import type { Compensation, DelegateNode, Graph, Node, Retry, ShellNode } from '../graph/model.js';
import { nodesOf } from '../graph/node-expressions.js';
import { compileWorkflow } from './compile-workflow.js';
import type { DraftWorkflow } from './draft.js';
import type { PlanFault } from './fault.js';
import { addRepetitions } from './repetitions.js';

/** How many calls, reads and evaluations are in flight at once where the graph does not say. */
const DEFAULT_MAX_CONCURRENCY = 10;

/** The kinds of node this engine runs. */
export type RunnableNode = Exclude<Node, ShellNode | DelegateNode>;

/** A graph made ready to run: everything the engine looks up is one step away. */
export interface Plan {
  readonly graph: Graph;
  readonly hash: string;
  readonly main: WorkflowPlan;
  /** The workflows that `workflow` nodes run, by name. */
  readonly tasks: ReadonlyMap<string, WorkflowPlan>;
  readonly maxConcurrency: number;
  /** Why this engine cannot run the graph at all. */
  readonly fault?: PlanFault;
}

/** One workflow of a plan: a space of names of its own. */
export interface WorkflowPlan {
  readonly graph: Graph;
  readonly failFast: boolean;
  readonly root: ScopePlan;
  /** Every node, those of nested scopes included. */
  readonly byId: ReadonlyMap<string, PlannedNode>;
  /** The same by their ordinals. */
  readonly nodes: readonly PlannedNode[];
}

/** A list of nodes: the top of a workflow, or a body. */
export interface ScopePlan {
  readonly workflow: WorkflowPlan;
  /** The node whose body this is. None for the top of a workflow. */
  readonly container?: PlannedNode;
  /** The name of this body among those of its container. */
  readonly arm?: string;
  /** In declaration order. */
  readonly nodes: readonly PlannedNode[];
  readonly value?: Expr;
  /** The loops around it, the outermost first. */
  readonly loops: readonly PlannedNode[];
  /** Something in it, however deep, says how it is undone. */
  readonly isUndoable: boolean;
}

/** A call that undoes, and the steps without whose success it has nothing to undo. */
export interface PlannedCompensation {
  readonly compensation: Compensation;
  /** The nodes its input plainly refers to, each once; `undefined` for a name that it cannot see from there. */
  readonly refersTo: readonly (PlannedNode | undefined)[];
}

/** A node and its place in the order of the run. */
export interface PlannedNode {
  readonly node: RunnableNode;
  /** Place in its workflow, from 0: a container before its content, all else in declaration order. */
  readonly ordinal: number;
  /** Place in its scope in declaration order, from 0. */
  readonly index: number;
  readonly scope: ScopePlan;
  /** Its bodies: of the arms of a branch that have one, of a `parallel`, of a loop. */
  readonly parts: readonly ScopePlan[];
  /** The nodes of its scope that must settle before this one is considered. */
  readonly orders: readonly PlannedNode[];
  /** The nodes whose states the join looks at. */
  readonly joins: readonly PlannedNode[];
  /** Under the error strategy `collect`, the nodes without whose data this one is skipped, whatever the join says. */
  readonly needs: readonly PlannedNode[];
  /** The nodes that wait for this one, in declaration order. */
  readonly successors: readonly PlannedNode[];
  /** It runs only when one of its routers selects it. */
  readonly needsSelection: boolean;
  /** The nodes that may select it, and a `goto` that may make them decide anew. */
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
  readonly takesPlace: boolean;
  /** Whether it is looked at as soon as its scope begins: it waits for nothing, or nothing can select it. */
  readonly isDueAtOnce: boolean;
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

const plans = new WeakMap<Graph, Plan>();

/** The plan of a graph, made once per graph object. A graph must not change afterwards. */
export function planOf(graph: Graph): Plan {
  const known = plans.get(graph);
  if (known !== undefined) return known;
  const plan = compile(graph);
  plans.set(graph, plan);
  return plan;
}

function compile(graph: Graph): Plan {
  const faults: PlanFault[] = [];
  const undoing = workflowsThatUndo(graph.tasks ?? []);
  const tasks = new Map<string, DraftWorkflow>();
  const names = new Set(graph.tasks?.map(({ name }) => name));
  const surroundings = { faults, names, undoing };
  const main = compileWorkflow(graph, surroundings);
  for (const task of graph.tasks ?? []) tasks.set(task.name, compileWorkflow(task, surroundings));
  addRepetitions(main, tasks);
  const [fault] = faults;
  return {
    graph,
    hash: hashGraph(graph),
    main,
    tasks,
    maxConcurrency: Math.max(1, graph.maxConcurrency ?? DEFAULT_MAX_CONCURRENCY),
    ...(fault === undefined ? {} : { fault }),
  };
}

/** Names of the workflows in which something says how it is undone, or in one that they run. */
function workflowsThatUndo(graphs: readonly Graph[]): ReadonlySet<string> {
  const found = new Set<string>();
  const callers = new Map<string, string[]>();
  const open: string[] = [];
  for (const graph of graphs) {
    const nodes = nodesOf(graph);
    if (nodes.some(({ compensate }) => compensate !== undefined)) open.push(graph.name);
    for (const node of nodes) {
      if (node.kind !== 'workflow') continue;
      callers.set(node.workflow, [...(callers.get(node.workflow) ?? []), graph.name]);
    }
  }
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (found.has(name)) continue;
    found.add(name);
    open.push(...(callers.get(name) ?? []));
  }
  return found;
}
