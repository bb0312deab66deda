import type { Plan } from '../../plan/plan.js';

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

/** @throws StateVersionError for a run whose state is of another version. */
export function checkVersion(run: string, { stateVersion }: { readonly stateVersion: unknown }): void {
  if (stateVersion !== STATE_VERSION) throw new StateVersionError(run, stateVersion);
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

/** @throws GraphMismatchError where a run was started on another graph than that of the plan. */
export function checkGraph(run: string, graphHash: string, { hash }: Plan): void {
  if (hash !== graphHash) throw new GraphMismatchError(run, graphHash, hash);
}
