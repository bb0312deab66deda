import { hashGraph } from '../graph/canonical.js';
import { defined } from '../graph/defined.js';
import { references } from '../graph/expression/traversal.js';
import { DEFAULT_MAX_CONCURRENCY } from '../graph/limits.js';
import type { Graph } from '../graph/model.js';
import { compensationsOf, nodesOf } from '../graph/nodes.js';
import {
  addApproval,
  addEdges,
  addJumps,
  addRoutes,
  deadlockedNodes,
  dropRollbackEdges,
  markRepeatable,
} from './edges.js';
import { visibleIn } from './instances.js';
import { type CompileContext, type MutableNode, type MutableWorkflow, NO_NODES, planNodes } from './nodes.js';
import {
  type Plan,
  type PlanFault,
  type PlannedCompensation,
  planFailures,
  type WorkflowPlan,
} from './plan.js';

/** The largest number of plans that are shared by hash. */
const MAX_SHARED = 1_000;

const byGraph = new WeakMap<Graph, Plan>();
const byHash = new Map<string, Plan>();

/**
 * The plan of a graph, made once per graph object. A graph must not change afterwards.
 *
 * @param hash the graph's hash, where it is known. Then all graphs of this hash share one plan from now on, whose
 *   `graph` is the first of them: they differ in their source locations at most. Pass it
 *   before a run of the graph begins.
 */
export function planOf(graph: Graph, hash?: string): Plan {
  const shared = hash === undefined ? undefined : byHash.get(hash);
  const plan = shared ?? byGraph.get(graph) ?? new CompiledPlan(graph, hash);
  byGraph.set(graph, plan);
  if (hash !== undefined) share(plan, hash);
  return plan;
}

/** Keeps a plan for equal graphs, and drops the least recently used one. */
function share(plan: Plan, hash: string): void {
  byHash.delete(hash);
  byHash.set(hash, plan);
  if (byHash.size <= MAX_SHARED) return;
  const [oldest] = byHash.keys();
  if (oldest !== undefined) byHash.delete(oldest);
}

class CompiledPlan implements Plan {
  readonly graph: Graph;
  readonly main: WorkflowPlan;
  readonly tasks: ReadonlyMap<string, WorkflowPlan>;
  readonly maxConcurrency: number;
  readonly fault?: PlanFault;
  #hash: string | undefined;

  constructor(graph: Graph, hash: string | undefined) {
    const { main, tasks, maxConcurrency, fault } = compilePlan(graph);
    this.graph = graph;
    this.main = main;
    this.tasks = tasks;
    this.maxConcurrency = maxConcurrency;
    if (fault !== undefined) this.fault = fault;
    this.#hash = hash;
  }

  get hash(): string {
    this.#hash ??= hashGraph(this.graph);
    return this.#hash;
  }
}

/** Resolves a graph and the workflows it includes. Never throws for a graph that `parseGraph` accepts. */
function compilePlan(graph: Graph): Omit<Plan, 'graph' | 'hash'> {
  const faults: PlanFault[] = [];
  const { tasks: included = [], maxConcurrency = DEFAULT_MAX_CONCURRENCY } = graph;
  const names = new Set(included.map(({ name }) => name));
  const context = { faults, names, compensating: compensatingWorkflows(included) };
  const main = compileWorkflow(graph, context);
  const tasks = new Map(included.map((task) => [task.name, compileWorkflow(task, context)]));
  markRepeatable(main, tasks);
  const [fault] = faults;
  return {
    main,
    tasks,
    maxConcurrency: Math.max(1, maxConcurrency),
    ...defined({ fault }),
  };
}

function compileWorkflow(graph: Graph, context: CompileContext): MutableWorkflow {
  const { faults } = context;
  const workflow = planNodes(graph, context);
  addEdges(workflow, faults);
  for (const { nodes } of workflow.scopes) {
    for (const planned of nodes) addRoutes(planned, faults);
    for (const planned of nodes) addApproval(planned, faults);
    for (const planned of nodes) if (planned.node.kind === 'goto') addJumps(planned, planned.node, faults);
    addReverseEdges(nodes);
    dropRollbackEdges(nodes);
    for (const planned of nodes) {
      planned.isReadyAtStart = planned.needsSelection
        ? planned.routers.length === 0
        : planned.orders.length === 0;
      planned.hasSelection = planned.needsSelection || planned.routes.length > 0;
      planned.compensations = plannedCompensations(planned);
    }
    const stuck = deadlockedNodes(nodes);
    if (stuck.length > 0) faults.push({ failure: planFailures.cycle(stuck) });
  }
  return workflow;
}

/** The compensations of a node, with the nodes that their inputs refer to without a guard. */
function plannedCompensations(planned: MutableNode): readonly PlannedCompensation[] {
  const { node, compensations } = planned;
  if (node.kind !== 'compensate' && node.compensate === undefined) return compensations;
  return compensationsOf(node).map((compensation) => {
    const plain = references(compensation.input).filter(
      ({ ref, guarded }) => ref.root === 'steps' && !guarded,
    );
    const ids = new Set(plain.map(({ ref }) => String(ref.path[0])));
    return { compensation, refersTo: [...ids].map((id) => visibleIn(planned.scope, id)) };
  });
}

/** Adds each edge to its other end as well, in declaration order. */
function addReverseEdges(nodes: readonly MutableNode[]): void {
  for (const planned of nodes) {
    for (const before of planned.orders) {
      if (before.successors === NO_NODES) before.successors = [planned];
      else (before.successors as MutableNode[]).push(planned);
    }
    for (const router of planned.routers) {
      if (router.routes === NO_NODES) router.routes = [planned];
      else (router.routes as MutableNode[]).push(planned);
    }
  }
}

/** Names of the workflows that have a compensation, or run a workflow that has one. */
function compensatingWorkflows(graphs: readonly Graph[]): ReadonlySet<string> {
  const compensating = new Set<string>();
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
    if (compensating.has(name)) continue;
    compensating.add(name);
    open.push(...(callers.get(name) ?? []));
  }
  return compensating;
}
