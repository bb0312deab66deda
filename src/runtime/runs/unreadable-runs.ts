import { thrownText } from '../tools/exceptions.js';
import { runRef } from '../tools/port.js';
import { UnreadableRunError } from './store/store-error.js';
import type { StoreParts } from './store-parts.js';

/** The runs that this version cannot read, or whose part of the store is damaged, by their ids. Each is logged once. */
export class UnreadableRuns {
  readonly #faults = new Map<string, UnreadableRunError>();
  readonly #host: Pick<StoreParts, 'log' | 'telemetry'>;

  constructor(host: Pick<StoreParts, 'log' | 'telemetry'>) {
    this.#host = host;
  }

  get(id: string): UnreadableRunError | undefined {
    return this.#faults.get(id);
  }

  /** Takes note of a run that could not be read, and returns its fault. */
  add(id: string, error: unknown): UnreadableRunError {
    const ref = runRef(id);
    const isDamaged = !(error instanceof Error && error.name === 'StateVersionError');
    const fault = new UnreadableRunError(ref, isDamaged, error);
    this.#faults.set(id, fault);
    this.#host.log(
      `Run ${ref} does not go on in this process, and stays in the store as it is: ${thrownText(error).replaceAll(id, ref)}`,
      { event: 'run.not_resumed', run: ref },
    );
    if (isDamaged) this.#host.telemetry?.storeFault('damaged');
    return fault;
  }
}
