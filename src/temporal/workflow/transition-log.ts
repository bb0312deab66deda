import { proxyLocalActivities } from '@temporalio/workflow';
import type { Event } from '../../runtime/engine/contract.js';
import type { MadeTransition } from '../../runtime/runs/store/journal.js';
import { type Activities, digestOf, type LoggedTransition } from '../protocol.js';

/** So many transitions are recorded at once. */
const BATCH = 100;

const { recordFacts } = proxyLocalActivities<Pick<Activities, 'recordFacts'>>({
  startToCloseTimeout: '1 minute',
});

/**
 * The transitions of a run in one workflow. Digests of their facts are recorded in its history. A replay computes them again,
 * and compares them: an engine that comes to other facts must not continue the run.
 */
export class TransitionLog {
  readonly #transitions: LoggedTransition[] = [];
  #recorded = 0;
  #pending = 0;
  #fault: Error | undefined;

  get transitions(): readonly LoggedTransition[] {
    return this.#transitions;
  }

  /** Whether no digest is on its way to the history. */
  get isIdle(): boolean {
    return this.#pending === 0;
  }

  /** How a replay differs from what was executed. Undefined as long as it does not. */
  get fault(): Error | undefined {
    return this.#fault;
  }

  add({ facts, ...transition }: MadeTransition): void {
    this.#transitions.push({ ...transition, digest: digestOf(facts) });
    if (this.#transitions.length - this.#recorded >= BATCH) void this.#record();
  }

  async #record(): Promise<void> {
    const first = this.#recorded;
    this.#recorded = this.#transitions.length;
    const digests = this.#transitions.slice(first).map(({ digest }) => digest);
    this.#pending += 1;
    const recorded = await recordFacts(digests);
    this.#pending -= 1;
    const index = digests.findIndex((digest, at) => digest !== recorded[at]);
    if (index >= 0) this.#fault ??= new ReplayError(first + index, this.#transitions[first + index]?.events);
  }
}

/** Fails the workflow task, and not the run. */
class ReplayError extends Error {
  override readonly name = 'ReplayError';

  constructor(index: number, events: readonly Event[] = []) {
    const [event] = events;
    const which =
      event === undefined ? '' : ` ('${event.kind}'${'command' in event ? ` of '${event.command}'` : ''})`;
    super(
      `The interpreter comes to other facts than the one that executed the run, first at transition ${index + 1} of this workflow${which}. Run a worker with the version of stepwright that executed it.`,
    );
  }
}
