import type { Diagnostic } from '../graph/diagnostics/diagnostic.js';
import type { Graph } from '../graph/model.js';
import { checkBranches } from './branches.js';
import { checkCalls } from './calls.js';
import { checkConstructs } from './constructs.js';
import { checkDepth } from './depth.js';
import { type CheckEnvironment, withTasks } from './environment.js';
import { checkNames } from './names.js';
import { checkOrder } from './order.js';
import { checkOutputPaths } from './outputs.js';
import { checkRanges } from './ranges.js';
import { checkReach } from './reach.js';
import { checkReferences } from './references.js';
import { checkResources } from './resources.js';
import { checkRetries } from './retries.js';
import { checkRoutes, routersIn } from './routes.js';
import { checkSkipped } from './skipped.js';
import { checkState } from './state.js';
import { subjectOf } from './subject.js';
import { checkUnused } from './unused.js';
import { namesOf } from './values.js';
import { waitsIn } from './waits.js';
import { checkNesting } from './workflows.js';

export type { CheckEnvironment, ToolSignature } from './environment.js';

export interface CheckOptions {
  /**
   * False where parts of the workflow were left out since they were at fault themselves: then nothing is said of what
   * only they may use. Default true.
   */
  readonly isWhole?: boolean;
}

/**
 * Finds every fault of a graph that can be known before it runs, whichever front end wrote it. Never throws for a
 * graph that `parseGraph` accepts. A step may name earlier steps only: the order of `nodes` is the order of writing.
 * The workflows among its tasks are checked as well, each on its own, but for itself and for those that are registered:
 * whoever registers a workflow checks it.
 */
export function checkGraph(
  graph: Graph,
  registered: CheckEnvironment,
  { isWhole = true }: CheckOptions = {},
): Diagnostic[] {
  const environment = withTasks(registered, graph);
  const subject = subjectOf(graph);
  const waitsOf = waitsIn(subject);
  const routersOf = routersIn(subject);
  const namesIn = namesOf(subject, environment);
  const references = checkReferences(subject, routersOf);
  const cycles = checkOrder(subject, waitsOf, routersOf);
  return [
    ...checkNames(subject),
    ...checkDepth(subject),
    ...references,
    ...checkRoutes(subject, routersOf),
    ...cycles,
    ...checkCalls(subject, environment, namesIn),
    ...checkResources(subject, environment),
    ...checkState(subject, namesIn),
    ...checkConstructs(subject, environment, namesIn),
    ...checkNesting(subject, environment),
    ...checkOutputPaths(subject, namesIn),
    ...checkRanges(subject),
    ...checkRetries(subject, environment),
    ...checkBranches(subject, namesIn),
    ...checkReach(subject, waitsOf, routersOf, cycles.length > 0),
    ...checkSkipped(subject, environment, waitsOf, routersOf),
    // A name that means nothing may have been meant for what seems unused.
    ...(isWhole && references.length === 0 ? checkUnused(subject, environment) : []),
    ...ownTasks(graph, registered).flatMap((task) => checkGraph(task, environment)),
  ];
}

function ownTasks({ name, tasks = [] }: Graph, { workflows }: CheckEnvironment): readonly Graph[] {
  return tasks.filter((task) => task.name !== name && !workflows?.has(task.name));
}
