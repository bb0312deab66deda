import { type Diagnostic, diagnostic } from '../graph/diagnostics/diagnostic.js';
import type { Graph } from '../graph/model.js';
import { planOf } from '../plan/compile.js';
import type { WorkflowPlan } from '../plan/plan.js';
import { checkAgents } from './agents.js';
import { checkCalls, checkResources } from './calls.js';
import { checkBranches, checkConstructs, checkDepth, checkRetryRanges, checkState } from './constructs.js';
import { checkCycles, checkNesting, checkReachability, checkRoutes } from './control-flow.js';
import { type CheckEnvironment, type ValueFault, withTasks } from './environment.js';
import { checkNames, checkReferences, checkUnused } from './names.js';
import { checkOutputPaths } from './output-paths.js';
import { checkSecrets } from './secrets.js';
import { checkSettledNodes } from './settled-nodes.js';
import { checkNeverUndone, checkRetries, checkRollbacks } from './side-effects.js';
import { checkSkipped } from './skipped-steps.js';
import { namesOf } from './values.js';

export type { CheckEnvironment, ToolSignature } from './environment.js';

export interface CheckOptions {
  /**
   * False if faulty parts of the workflow were omitted. Then nothing is reported as unused, since they may use it.
   * Default true.
   */
  readonly isWhole?: boolean;
  /** Compares constants with the whole schema of their place. Default: their types and listed values are compared. */
  readonly valueFault?: ValueFault;
}

/**
 * Finds every fault of a graph that can be known before it runs. Never throws for a graph that `parseGraph` accepts. A
 * step may name earlier steps only: the order of `nodes` is the order of writing. The workflows among its tasks are checked
 * as well, each on its own, except for itself and for registered workflows, which are checked at registration.
 */
export function checkGraph(
  graph: Graph,
  registered: CheckEnvironment,
  { isWhole = true, valueFault = () => undefined }: CheckOptions = {},
): Diagnostic[] {
  const { main, tasks } = planOf(graph);
  const environment = withTasks(registered, graph);
  const own = [...tasks.values()].filter(({ graph: { name } }) => isOwnTask(name, graph, registered));
  return [main, ...own].flatMap((plan) =>
    checkWorkflow(plan, environment, { isWhole: isWhole || plan !== main, valueFault }),
  );
}

function isOwnTask(task: string, { name }: Graph, { workflows }: CheckEnvironment): boolean {
  return task !== name && !workflows?.has(task);
}

function checkWorkflow(
  plan: WorkflowPlan,
  environment: CheckEnvironment,
  { isWhole, valueFault }: Required<CheckOptions>,
): Diagnostic[] {
  const namesIn = namesOf(plan, environment);
  const references = checkReferences(plan);
  const cycles = checkCycles(plan);
  return [
    ...checkNames(plan),
    ...checkDepth(plan),
    ...references,
    ...checkRoutes(plan),
    ...cycles,
    ...checkCalls(plan, environment, namesIn, valueFault),
    ...checkResources(plan, environment),
    ...checkState(plan, namesIn, valueFault),
    ...checkConstructs(plan, namesIn),
    ...checkSecrets(plan, environment),
    ...checkRollbacks(plan, environment),
    ...checkNeverUndone(plan),
    ...checkTasks(plan),
    ...checkAgents(plan, environment),
    ...checkNesting(plan, environment),
    ...checkOutputPaths(plan, namesIn),
    ...checkSettledNodes(plan),
    ...checkRetryRanges(plan),
    ...checkRetries(plan, environment),
    ...checkBranches(plan, namesIn),
    ...checkReachability(plan, cycles.length > 0),
    ...checkSkipped(plan, environment),
    // An unknown name may be a misspelt reference to what seems unused.
    ...(isWhole && references.length === 0 ? checkUnused(plan, environment) : []),
  ];
}

/** Reports SW4051: what is said of tasks in a workflow that clients do not start, or not by a tool. */
function checkTasks({ graph }: WorkflowPlan): Diagnostic[] {
  const { name, expose, task, taskSupport = 'forbidden' } = graph;
  if (expose === undefined || expose.includes('tool')) return [];
  const isTask = task === true && !expose.includes('prompt');
  if (!isTask && taskSupport === 'forbidden') return [];
  return [diagnostic('SW4051', graph.source, { workflow: name, lacks: isTask ? 'start' : 'tool' })];
}
