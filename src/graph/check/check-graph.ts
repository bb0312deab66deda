import type { Diagnostic } from '../diagnostics/diagnostic.js';
import type { Graph } from '../model.js';
import { checkCalls } from './calls.js';
import type { CheckEnvironment } from './environment.js';
import { checkNames } from './names.js';
import { checkOrder } from './order.js';
import { checkOutputPaths, namesOf } from './outputs.js';
import { subjectOf } from './places.js';
import { checkReach } from './reach.js';
import { checkReferences } from './references.js';
import { checkResources } from './resources.js';
import { checkRetries } from './retries.js';
import { checkUnused } from './unused.js';

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
 */
export function checkGraph(
  graph: Graph,
  environment: CheckEnvironment,
  { isWhole = true }: CheckOptions = {},
): Diagnostic[] {
  const subject = subjectOf(graph);
  const names = namesOf(subject, environment);
  const references = checkReferences(subject);
  return [
    ...checkNames(subject),
    ...references,
    ...checkOrder(subject),
    ...checkCalls(subject, environment, names),
    ...checkResources(subject, environment),
    ...checkOutputPaths(subject, names),
    ...checkRetries(subject, environment),
    ...checkReach(subject),
    // A name that means nothing may have been meant for what seems unused.
    ...(isWhole && references.length === 0 ? checkUnused(subject, environment) : []),
  ];
}
