import type { Graph } from '../../../graph/model.js';
import { planOf } from '../../../plan/compile.js';
import type { RunState } from '../../engine/contract.js';
import { restore } from '../../engine/snapshot.js';
import {
  type HostRow,
  isLocal,
  JournalConflictError,
  type JournalEntry,
  JournalFailedError,
  type LoadedRun,
  type RunJournal,
} from '../store/journal.js';

/** So many writes of a run may fail one after the other before it is abandoned. */
export const MAX_FAILED_WRITES = 3;

type EntryPart = Pick<JournalEntry, 'events' | 'changes' | 'hostRows' | 'consumed' | 'releases'>;

/** The run as the journal has it after a write that failed. */
export interface Reloaded {
  /** Whether the journal has the entry all the same. */
  readonly hasEntry: boolean;
  /** Missing for a run whose start was not written. */
  readonly state: RunState | undefined;
  readonly hostRows: readonly HostRow[];
}

/** Writes the entries of a run that this process holds, one after the other. */
export class JournalWriter {
  readonly journal: RunJournal;
  readonly #run: string;
  readonly #graph: Graph;
  /** Of the next entry. */
  #epoch: number;
  /** Whether this process holds the run. */
  #isHolder: boolean;
  #seq: number;
  #failures = 0;

  /** @param last the run as it was last written; entry 0 for none. */
  constructor(journal: RunJournal, graph: Graph, last: Pick<LoadedRun, 'run' | 'seq' | 'epoch' | 'holder'>) {
    this.journal = journal;
    this.#run = last.run;
    this.#graph = graph;
    this.#seq = last.seq;
    this.#isHolder = last.holder === 'this';
    this.#epoch = this.#isHolder ? last.epoch : last.epoch + 1;
  }

  /** The number of the last entry. */
  get seq(): number {
    return this.#seq;
  }

  /** Lets other processes take the run, which only waits. The next entry claims it again. */
  release(): void {
    if (!this.#isHolder || isLocal(this.journal)) return;
    // Where that fails, the run stays with this process.
    this.journal.leases.release(this.#run, this.#epoch).catch(() => undefined);
    this.#onReleased();
  }

  #onReleased(): void {
    this.#isHolder = false;
    this.#epoch += 1;
  }

  /** An entry claims the run, unless it releases it. */
  #hold({ releases }: JournalEntry): void {
    this.#isHolder = true;
    if (releases === true) this.#onReleased();
  }

  /**
   * Writes the next entry. Returns nothing where it is safe at once; else resolves when it is, or with the run as it was
   * read back after a failure.
   *
   * @throws JournalConflictError where another process has written to the run.
   * @throws JournalFailedError where the run cannot be read back, and after {@link MAX_FAILED_WRITES} failures.
   */
  write(part: EntryPart): Promise<Reloaded | undefined> | undefined {
    const entry: JournalEntry = {
      run: this.#run,
      seq: this.#seq + 1,
      expectedSeq: this.#seq,
      epoch: this.#epoch,
      ...(this.#seq === 0 ? { graph: this.#graph } : {}),
      ...part,
    };
    const append = this.journal.append(entry);
    if (append === undefined) return this.#onSuccess(entry);
    return append.then(
      () => this.#onSuccess(entry),
      (fault) => {
        // The entry was certainly not written, and this process does not hold the run.
        if (fault instanceof JournalConflictError) throw fault;
        return this.#reload(entry, fault);
      },
    );
  }

  #onSuccess(entry: JournalEntry): undefined {
    this.#seq = entry.seq;
    this.#failures = 0;
    this.#hold(entry);
  }

  async #reload(entry: JournalEntry, fault: unknown): Promise<Reloaded> {
    this.#failures += 1;
    if (this.#failures >= MAX_FAILED_WRITES) {
      throw new JournalFailedError(`the journal failed ${MAX_FAILED_WRITES} times to write the run`, fault);
    }
    let loaded: LoadedRun | undefined;
    try {
      loaded = await this.journal.load(this.#run);
    } catch (error) {
      throw new JournalFailedError('the journal failed to write the run, and then to read it', error);
    }
    const { seq = 0, epoch = this.#epoch, hostRows = [] } = loaded ?? {};
    const hasEntry = seq === entry.seq;
    if (epoch > this.#epoch || !(hasEntry || seq === entry.expectedSeq)) {
      throw new JournalConflictError(entry, `the run has entry ${seq}, of epoch ${epoch}`);
    }
    if (hasEntry) this.#hold(entry);
    this.#seq = seq;
    return { hasEntry, state: loaded && restore(planOf(this.#graph), loaded.rows), hostRows };
  }
}
