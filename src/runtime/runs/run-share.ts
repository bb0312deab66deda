import { defined } from '../../graph/defined.js';
import type { JsonObject } from '../../graph/json.js';
import type { Graph } from '../../graph/model.js';
import type { LiveRun } from './run/live-run.js';
import type { CancelOptions, LostRun } from './run/run-host.js';
import { isLocal, isSameHead, type LoadedRun, type RunHead, type RunJournal } from './store/journal.js';

/** A run of this process, as what keeps it in step with other processes sees it. */
export interface SharedRun {
  readonly id: string;
  /** Missing when it is over. */
  readonly live: LiveRun | undefined;
  /** Whether a request waits for it, or something that was sent to it. */
  readonly isAwaited: boolean;
  /** The hash of the graph that it goes on with. */
  readonly graphHash: string;
  /**
   * Shows the run as the journal has it, and goes on with it where this process holds it.
   * @param graph the one that it goes on with from now on, where that is another one.
   */
  adopt(loaded: LoadedRun, graph?: Graph): void;
  /** What was sent to it may have its response. */
  settle(): void;
  cancelHere(reason: string, how: CancelOptions): void;
  /** What fails is tried again when the run is looked after next. */
  logFault(fault: unknown): void;
}

/** Does something to a run in this process, or else where another one holds it. */
export function actOn(
  run: SharedRun,
  share: RunShare,
  work: (live: LiveRun) => void,
  elsewhere: () => void,
): void {
  const act = (): void => {
    if (run.live !== undefined) work(run.live);
  };
  if (share.isActing) act();
  else
    share.act().then(
      (isActing) => (isActing ? act() : elsewhere()),
      (fault) => run.logFault(fault),
    );
}

/**
 * Keeps a run in step with the other processes of its journal. One process acts: it goes on with the run, and expects its
 * entries to be the next ones. The others follow, and show the run as it was last written.
 */
export class RunShare {
  readonly #run: SharedRun;
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
  constructor(run: SharedRun, journal: RunJournal, loaded: RunHead | undefined) {
    this.#run = run;
    this.#journal = journal;
    this.#isActing = loaded === undefined;
    if (loaded !== undefined) this.#head = headOf(loaded);
  }

  get isActing(): boolean {
    return this.#isActing;
  }

  /** Whether the run is shown as this process last knew it: nothing is being loaded. */
  get isCurrent(): boolean {
    return this.#changes === 0;
  }

  whenCurrent(look: () => void): void {
    if (this.isCurrent) look();
    else this.#waiting.push(look);
  }

  /** Loads the run where another process has written to it. Resolves with whether the journal has it. */
  async refresh(): Promise<boolean> {
    return isLocal(this.#journal) || this.#change(() => this.#refresh());
  }

  /** Goes on with the run in this process. Resolves with whether it does: another one may hold the run. */
  act(): Promise<boolean> {
    return this.#change(async () => {
      if (this.#isActing) return true;
      const claimed = await this.#journal.leases.claim(this.#run.id);
      if (claimed === undefined) await this.#refresh();
      else await this.#adopt(claimed);
      return claimed !== undefined;
    });
  }

  /** Something was sent to the run: this process takes it, unless another one holds the run. */
  sent(): void {
    this.#takeSent().catch((fault) => this.#run.logFault(fault));
  }

  /** A process that acts may have lost the run in the meantime. */
  async #takeSent(): Promise<void> {
    if (this.#isActing) await this.refresh();
    if (!this.#isActing) await this.act();
  }

  /** Another process has written to the run. What was not taken in is taken in here or there. */
  lose(left: LostRun): void {
    this.#isActing = false;
    this.#takeAgain(left).catch((fault) => this.#run.logFault(fault));
  }

  async #takeAgain({ deliveries, cancellations }: LostRun): Promise<void> {
    await this.#change(() => this.#refresh(true));
    if (deliveries.length + cancellations.length === 0 && !this.#run.isAwaited) return;
    const isActing = await this.act();
    // Items of the inbox are read from there again.
    for (const delivery of deliveries.filter(({ item }) => item === undefined)) {
      if (isActing && this.#run.live !== undefined) this.#run.live.deliver(delivery);
      else delivery.failed(undefined);
    }
    for (const { reason, compensate, code, by } of cancellations) {
      this.#run.cancelHere(reason, {
        ...defined({ compensate, code }),
        ...(by === undefined ? {} : { by: by as JsonObject }),
      });
    }
  }

  /** Looks for what other processes write as long as somebody waits for it. */
  follow(): void {
    const { live, isAwaited, id } = this.#run;
    if (this.#isActing || live === undefined || !isAwaited) {
      this.#unfollow?.();
      this.#unfollow = undefined;
    } else {
      // Where that fails, the next change tells.
      this.#unfollow ??= this.#journal.leases.follow(
        id,
        this.#head,
        () => void this.refresh().catch(() => undefined),
      );
    }
  }

  async #refresh(isLost = false): Promise<boolean> {
    const { id } = this.#run;
    const head = await this.#journal.leases.head(id);
    if (head === undefined) return false;
    const isKnown = (): boolean => {
      const { live } = this.#run;
      if (live === undefined) return true;
      return this.#isActing ? !live.isSafe || live.seq >= head.seq : !isLost && isSameHead(this.#head, head);
    };
    if (isKnown()) return true;
    const loaded = await this.#journal.load(id);
    if (loaded === undefined) return false;
    if (!isKnown()) await this.#adopt(loaded);
    return true;
  }

  async #adopt(loaded: LoadedRun): Promise<void> {
    const { graphHash } = loaded;
    // An operator may have moved it to another graph.
    const graph = graphHash === this.#run.graphHash ? undefined : await this.#journal.graph(graphHash);
    this.#isActing = loaded.holder === 'this';
    this.#head = headOf(loaded);
    this.#run.adopt(loaded, graph);
  }

  async #change<T>(work: () => Promise<T>): Promise<T> {
    this.#changes += 1;
    const before = this.#last;
    const done = before.then(work);
    this.#last = done.catch(() => undefined);
    try {
      return await done;
    } finally {
      this.#changes -= 1;
      if (this.isCurrent) this.#tell();
    }
  }

  #tell(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const look of waiting) look();
    this.follow();
    this.#run.settle();
  }
}

function headOf({ seq, epoch, holder }: RunHead): RunHead {
  return { seq, epoch, ...defined({ holder }) };
}
