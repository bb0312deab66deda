import type { Plan } from '../../plan/plan.js';
import type { RunState } from './contract.js';

/** Thrown when a host brings a state together with a graph it was not started on. */
export class GraphMismatchError extends Error {
  /** Hash of the graph the run was started on. */
  readonly expected: string;
  /** Hash of the graph that was brought. */
  readonly actual: string;

  constructor(run: string, expected: string, actual: string) {
    super(`run '${run}' was started on graph ${expected} and cannot go on with graph ${actual}`);
    this.name = 'GraphMismatchError';
    this.expected = expected;
    this.actual = actual;
  }
}

/** @throws GraphMismatchError for a plan of another graph than that of the run. */
export function checkPlan({ hash }: Plan, { run }: RunState): void {
  if (hash !== run.graphHash) throw new GraphMismatchError(run.id, run.graphHash, hash);
}
