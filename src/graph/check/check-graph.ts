import type { Diagnostic } from '../diagnostics/diagnostic.js';
import type { Graph } from '../model.js';
import { checkCalls } from './calls.js';
import type { CheckEnvironment } from './environment.js';
import { checkNames } from './names.js';
import { checkOrder } from './order.js';
import { checkOutputPaths } from './outputs.js';
import { subjectOf } from './places.js';
import { checkReferences } from './references.js';
import { checkResources } from './resources.js';

export type { CheckEnvironment, ToolSignature } from './environment.js';

/**
 * Finds every fault of a graph that can be known before it runs, whichever front end wrote it. Never throws for a
 * graph that `parseGraph` accepts. A step may name earlier steps only: the order of `nodes` is the order of writing.
 */
export function checkGraph(graph: Graph, environment: CheckEnvironment): Diagnostic[] {
  const subject = subjectOf(graph);
  return [
    ...checkNames(subject),
    ...checkReferences(subject),
    ...checkOrder(subject),
    ...checkCalls(subject, environment),
    ...checkResources(subject, environment),
    ...checkOutputPaths(subject, environment),
  ];
}
