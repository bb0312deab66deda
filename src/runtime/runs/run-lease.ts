import { defined } from '../../graph/defined.js';
import type { Graph } from '../../graph/model.js';
import type { LiveRun } from './run/live-run.js';
import { isLocal, isSameHead, type LoadedRun, type RunHead, type RunJournal } from './store/journal.js';
import { isCancelledPlainly } from './store-parts.js';

interface LeasedRun {
  readonly id: string;
  /** Missing when it is over. */
  readonly live: LiveRun | undefined;
  readonly graph: Graph;
  /** Whether this process has all that the runs of a graph need. */
  isCapable(graph: Graph): boolean;
  /**
   * Shows the run as it was loaded, which continues here if this process holds it.
   * @param graph missing where it is the graph that the run has already.
   */
  adopt(loaded: LoadedRun, graph: Graph | undefined): void;
  /** It is shown as this process last knew it: no load is in flight. */
  onCurrent(): void;
}

/**
 * Keeps a run in step with the other processes of its journal. One process acts: it executes the run, and expects its
 * entries to be the next ones. The others follow, and show the run as it was last written.
 */
export class RunLease {
  readonly #run: LeasedRun;
  readonly #journal: RunJournal;
  #isActing: boolean;
  /** What is shown, where this process does not act. */
  #head: RunHead = { seq: 0, epoch: 0 };
  /** One change comes after the other. */
  #last: Promise<unknown> = Promise.resolve();
  #changes = 0;
  #waiting: (() => void)[] = [];
  #unfollow: (() => void) | undefined;

  /** @param loaded missing for a run that this process begins. */
  constructor(run: LeasedRun, journal: RunJournal, loaded: RunHead | undefined) {
    this.#run = run;
    this.#journal = journal;
    this.#isActing = loaded === undefined;
    if (loaded !== undefined) this.#head = headOf(loaded);
  }

  get isActing(): boolean {
    return this.#isActing;
  }

  /** Whether the run is shown as this process last knew it: no load is in flight. */
  get isCurrent(): boolean {
    return this.#changes === 0;
  }

  /** Calls back when it is current, which it is not now. */
  whenCurrent(look: () => void): void {
    this.#waiting.push(look);
  }

  /** Loads the run where another process has written to it. Resolves with whether the journal has it. */
  async refresh(): Promise<boolean> {
    return isLocal(this.#journal) || this.#change(() => this.#refresh());
  }

  /**
   * Resumes the run in this process. Resolves with whether it does: another one may hold the run, or this one lacks
   * what the run needs, and leaves it to others. Each process takes a run that is only to be cancelled.
   */
  act(): Promise<boolean> {
    return this.#change(async () => {
      if (this.#isActing) return true;
      const { leases } = this.#journal;
      const { id, graph } = this.#run;
      const takes = this.#run.isCapable(graph) || (await isCancelledPlainly(this.#journal, id));
      const claimed = takes ? await leases.claim(id) : undefined;
      if (claimed === undefined) {
        await this.#refresh();
        return false;
      }
      try {
        await this.#adopt(claimed);
      } catch (fault) {
        // Another version may read what this one cannot.
        this.#isActing = false;
        await leases.abandon(id);
        throw fault;
      }
      return this.#isActing;
    });
  }

  /** An item was sent to the run: this process takes it, unless another one holds the run. */
  async receiveItem(): Promise<void> {
    // A process that acts may have lost the run in the meantime.
    if (this.#isActing) await this.refresh();
    if (!this.#isActing) await this.act();
  }

  /** Another process has written to the run. Resolves when it is shown as it was written. */
  async lose(): Promise<void> {
    this.#isActing = false;
    await this.#change(() => this.#refresh(true));
  }

  /** Looks for what other processes write. @param isAwaited whether a request or an item waits for the run. */
  follow(isAwaited: boolean): void {
    const { live, id } = this.#run;
    if (this.#isActing || live === undefined || !isAwaited) {
      this.#unfollow?.();
      this.#unfollow = undefined;
    } else {
      // After a failure, the next change loads the run.
      this.#unfollow ??= this.#journal.leases.follow(
        id,
        this.#head,
        () => void this.refresh().catch(() => undefined),
      );
    }
  }

  async #refresh(isStale = false): Promise<boolean> {
    const { id } = this.#run;
    const head = await this.#journal.leases.head(id);
    if (head === undefined) return false;
    const isShown = (): boolean => {
      const { live } = this.#run;
      if (live === undefined) return true;
      return this.#isActing ? !live.isSafe || live.seq >= head.seq : !isStale && isSameHead(this.#head, head);
    };
    if (isShown()) return true;
    const loaded = await this.#journal.load(id);
    if (loaded === undefined) return false;
    if (!isShown()) await this.#adopt(loaded);
    return true;
  }

  async #adopt(current: LoadedRun): Promise<void> {
    const { graphHash } = current;
    let loaded = current;
    // An operator may have moved it to another graph.
    const isSame = graphHash === this.#run.live?.state.run.graphHash;
    const graph = isSame ? undefined : await this.#journal.graph(graphHash);
    if (loaded.holder === 'this' && graph !== undefined && !this.#run.isCapable(graph)) {
      await this.#journal.leases.abandon(this.#run.id);
      loaded = { ...loaded, holder: 'other' };
    }
    this.#isActing = loaded.holder === 'this';
    this.#head = headOf(loaded);
    this.#run.adopt(loaded, graph);
  }

  async #change<T>(work: () => Promise<T>): Promise<T> {
    this.#changes += 1;
    const before = this.#last;
    const change = before.then(work);
    this.#last = change.catch(() => undefined);
    try {
      return await change;
    } finally {
      this.#changes -= 1;
      if (this.isCurrent) this.#onCurrent();
    }
  }

  #onCurrent(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const look of waiting) look();
    this.#run.onCurrent();
  }
}

function headOf({ seq, epoch, holder }: RunHead): RunHead {
  return { seq, epoch, ...defined({ holder }) };
}
