import type { Plan } from '../../plan/plan.js';
import type { RunState } from './contract.js';

/** Counts releases of the engine that could give other commands for the same events. */
export const ENGINE_VERSION = 1;

/** Counts forms of the state. An engine reads its own and the previous one. */
export const STATE_VERSION = 1;

/** Thrown for a state that this engine cannot read, before anything is read into it. */
export class StateVersionError extends Error {
  /** The version of the state. */
  readonly actual: unknown;

  constructor(run: string, actual: unknown) {
    super(
      `The state of run '${run}' has version ${JSON.stringify(actual)}, and this engine reads version ${STATE_VERSION}: ` +
        'run it with the version of stepwright that wrote it, or a later one.',
    );
    this.name = 'StateVersionError';
    this.actual = actual;
  }
}

/** @throws StateVersionError for a state of another version. */
export function checkVersion({ run }: RunState): void {
  if (run.stateVersion !== STATE_VERSION) throw new StateVersionError(run.id, run.stateVersion);
}

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
