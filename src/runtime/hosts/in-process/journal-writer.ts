import type { Graph } from '../../../graph/model.js';
import type { RunState } from '../../engine/contract.js';
import {
  type HostRow,
  type Journal,
  JournalConflictError,
  type JournalEntry,
  JournalFailedError,
  type LoadedRun,
} from '../journal.js';
import { restored } from './machine.js';

/** So many writes of a run may fail one after the other before it is given up. */
export const MAX_FAILED_WRITES = 3;

/** The run as the journal has it after a write that failed. */
export interface Reloaded {
  /** The entry was written all the same. */
  readonly wasWritten: boolean;
  /** Missing for a run whose start was not written. */
  readonly state: RunState | undefined;
  readonly hostRows: readonly HostRow[];
}

/** Writes the entries of a run that this process holds. */
export class JournalWriter {
  readonly #journal: Journal;
  readonly #run: string;
  readonly #graph: Graph;
  readonly #epoch = 1;
  #seq = 0;
  #failures = 0;

  constructor(journal: Journal, run: string, graph: Graph) {
    this.#journal = journal;
    this.#run = run;
    this.#graph = graph;
  }

  /** Whether the run is in the journal. */
  get hasBegun(): boolean {
    return this.#seq > 0;
  }

  /**
   * Writes what comes next. Resolves with nothing when it is safe, and with the run as the journal has it where the write
   * failed.
   *
   * @throws JournalConflictError where another process has written to the run.
   * @throws JournalFailedError where the run cannot be read back, and after {@link MAX_FAILED_WRITES} failures.
   */
  async write(
    part: Pick<JournalEntry, 'events' | 'changes' | 'hostRows' | 'consumed'>,
  ): Promise<Reloaded | undefined> {
    const entry: JournalEntry = {
      run: this.#run,
      seq: this.#seq + 1,
      expectedSeq: this.#seq,
      epoch: this.#epoch,
      ...(this.#seq === 0 ? { graph: this.#graph } : {}),
      ...part,
    };
    try {
      await this.#journal.append(entry);
    } catch (fault) {
      // A refusal says for sure that nothing was written, and that this process does not hold the run.
      if (fault instanceof JournalConflictError) throw fault;
      return this.#reload(entry, fault);
    }
    this.#seq = entry.seq;
    this.#failures = 0;
    return undefined;
  }

  async #reload(entry: JournalEntry, fault: unknown): Promise<Reloaded> {
    this.#failures += 1;
    if (this.#failures >= MAX_FAILED_WRITES) {
      throw new JournalFailedError(`the journal failed ${MAX_FAILED_WRITES} times to write the run`, fault);
    }
    let loaded: LoadedRun | undefined;
    try {
      loaded = await this.#journal.load(this.#run);
    } catch (error) {
      throw new JournalFailedError('the journal failed to write the run, and then to read it', error);
    }
    const { seq = 0, epoch = this.#epoch, hostRows = [] } = loaded ?? {};
    const wasWritten = seq === entry.seq;
    if (epoch !== this.#epoch || !(wasWritten || seq === entry.expectedSeq)) {
      throw new JournalConflictError(entry, `the run has entry ${seq}, of epoch ${epoch}`);
    }
    this.#seq = seq;
    return { wasWritten, state: loaded && restored(loaded.rows), hostRows };
  }
}
