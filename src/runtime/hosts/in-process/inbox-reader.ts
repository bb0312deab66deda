import { type InboxItem, type Journal, JournalFailedError } from '../journal.js';

/** So many reads may fail one after the other before the run is given up. */
const MAX_FAILED_READS = 3;

/** Hands on what is sent to a run's inbox in its journal, each item once. */
export class InboxReader {
  readonly #journal: Journal;
  readonly #run: string;
  readonly #receive: (item: InboxItem) => void;
  readonly #onFault: (fault: unknown) => void;
  readonly #unwatch: () => void;
  /** Items that were handed on and are not consumed yet. */
  readonly #received = new Set<string>();
  #consumed = 0;
  #isReading = false;
  /** Something was sent while the inbox was read. */
  #isStale = false;
  #isStopped = false;

  constructor(
    journal: Journal,
    run: string,
    receive: (item: InboxItem) => void,
    onFault: (fault: unknown) => void,
  ) {
    this.#journal = journal;
    this.#run = run;
    this.#receive = receive;
    this.#onFault = onFault;
    this.#unwatch = journal.watch(run, () => void this.#read());
    void this.#read();
  }

  /** An item was consumed: its entry is safe. */
  forget(item: string): void {
    this.#received.delete(item);
    this.#consumed += 1;
  }

  stop(): void {
    this.#isStopped = true;
    this.#unwatch();
  }

  async #read(): Promise<void> {
    this.#isStale = true;
    if (this.#isReading) return;
    this.#isReading = true;
    for (let failures = 0; this.#isStale && !this.#isStopped; ) {
      this.#isStale = false;
      const consumed = this.#consumed;
      let items: readonly InboxItem[];
      try {
        items = await this.#journal.inbox(this.#run);
        failures = 0;
      } catch (fault) {
        failures += 1;
        this.#isStale = true;
        if (failures < MAX_FAILED_READS) continue;
        this.#onFault(new JournalFailedError('the journal failed to read what was sent to the run', fault));
        break;
      }
      // What was read may have been consumed since.
      if (consumed !== this.#consumed) this.#isStale = true;
      else this.#handOn(items);
    }
    this.#isReading = false;
  }

  #handOn(items: readonly InboxItem[]): void {
    for (const item of items) {
      if (this.#isStopped) return;
      if (this.#received.has(item.id)) continue;
      this.#received.add(item.id);
      this.#receive(item);
    }
  }
}
