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
