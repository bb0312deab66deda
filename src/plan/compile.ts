import { DEFAULT_MAX_CONCURRENCY } from '../graph/defaults.js';
import type { Graph } from '../graph/model.js';
import { nodesOf } from '../graph/node-expressions.js';
import { plannedCompensations } from './compensations.js';
import { stuckIn } from './cycles.js';
import { addEdges } from './edges.js';
import { type PlanFault, planFailures } from './fault.js';
import { addJumps } from './jumps.js';
import {
  type MutableNode,
  type MutableWorkflow,
  NONE,
  planNodes,
  type Surroundings,
} from './mutable-plan.js';
import type { Plan } from './plan.js';
import { addRepetitions } from './repetitions.js';
import { addRoutes, freeRollbacks } from './routes.js';

/** Resolves a graph and the workflows it brings along. Never throws for a graph that `parseGraph` accepts. */
export function compilePlan(graph: Graph): Omit<Plan, 'graph' | 'hash'> {
  const faults: PlanFault[] = [];
  const { tasks: brought = [], maxConcurrency = DEFAULT_MAX_CONCURRENCY } = graph;
  const names = new Set(brought.map(({ name }) => name));
  const surroundings = { faults, names, undoing: workflowsThatUndo(brought) };
  const main = compileWorkflow(graph, surroundings);
  const tasks = new Map(brought.map((task) => [task.name, compileWorkflow(task, surroundings)]));
  addRepetitions(main, tasks);
  const [fault] = faults;
  return {
    main,
    tasks,
    maxConcurrency: Math.max(1, maxConcurrency),
    ...(fault === undefined ? {} : { fault }),
  };
}

function compileWorkflow(graph: Graph, surroundings: Surroundings): MutableWorkflow {
  const { faults } = surroundings;
  const workflow = planNodes(graph, surroundings);
  addEdges(workflow, faults);
  for (const { nodes } of workflow.scopes) {
    for (const planned of nodes) addRoutes(planned, faults);
    for (const planned of nodes) if (planned.node.kind === 'goto') addJumps(planned, planned.node, faults);
    turnRound(nodes);
    freeRollbacks(nodes);
    for (const planned of nodes) {
      planned.isReadyAtStart = planned.needsSelection
        ? planned.routers.length === 0
        : planned.orders.length === 0;
      planned.hasSelection = planned.needsSelection || planned.routes.length > 0;
      planned.compensations = plannedCompensations(planned);
    }
    const stuck = stuckIn(nodes);
    if (stuck.length > 0) faults.push({ failure: planFailures.cycle(stuck) });
  }
  return workflow;
}

/** Every edge is known from one end; now from the other one as well, in declaration order. */
function turnRound(nodes: readonly MutableNode[]): void {
  for (const planned of nodes) {
    for (const before of planned.orders) {
      if (before.successors === NONE) before.successors = [planned];
      else (before.successors as MutableNode[]).push(planned);
    }
    for (const router of planned.routers) {
      if (router.routes === NONE) router.routes = [planned];
      else (router.routes as MutableNode[]).push(planned);
    }
  }
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
