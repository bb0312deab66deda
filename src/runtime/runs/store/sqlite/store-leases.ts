import { randomUUID } from 'node:crypto';
import type { Capability } from '../../../tools/capabilities.js';
import { isOver, isSameHead, type Leases, type LoadedRun, type OpenRun, type RunHead } from '../journal.js';
import type { Head } from '../reader.js';
import { keyColumn, keyIn, RunSums } from './encode-entry.js';
import type { SqliteJournalOptions } from './store-file.js';
import type { StoreTables } from './store-tables.js';

/** How long a process may show no sign of life before others take its runs over, in ms, unless given. */
const LEASE_MS = 10_000;

/** A process shows so many times in a lease that it lives. */
const BEATS = 4;

/** What leases need of their journal. */
interface LeasedStore {
  readonly tables: StoreTables;
  /** Works within the next transaction of the journal. */
  write(work: () => void): Promise<void>;
  /** Called when this process has claimed a run. */
  held(run: string, head: Head, sums: RunSums): void;
  /** Called when this process gives a run back. */
  left(run: string): void;
  /** Looks at followed runs while there are any; see {@link StoreLeases.look}. */
  poll(): void;
  check(): void;
}

/** Of a run that was forgotten. */
const NO_HEAD: RunHead = { seq: 0, epoch: 0 };

/** Another process, as this one and those before it have seen it. */
interface Sighting {
  readonly beat: number;
  /** For how long it has shown no sign of life, in ms. Each process counts by its own clock. */
  readonly silentMs: number;
}

interface Follower {
  head: RunHead;
  readonly onChange: () => void;
}

/**
 * The leases of one process in a store. A holder counts up a number in the file; if the same number was seen for a full
 * lease, by one process or by several one after the other, each on its own monotonic clock, others take its runs over. Wall
 * clocks are never compared.
 */
export class StoreLeases implements Leases {
  /** Names this process in the file. */
  readonly holder = randomUUID();
  readonly leaseMs: number;
  readonly intervalMs: number;
  readonly #store: LeasedStore;
  readonly #now: () => number;
  readonly #others = new Map<string, Sighting>();
  readonly #followers = new Map<string, Set<Follower>>();
  #beat = 0;
  /** When the last sign of life was given. */
  #beatAt = Number.NEGATIVE_INFINITY;
  #observedAt: number;

  constructor(store: LeasedStore, { leaseMs = LEASE_MS, monotonicNow }: SqliteJournalOptions) {
    this.#store = store;
    this.leaseMs = leaseMs;
    this.intervalMs = leaseMs / BEATS;
    this.#now = monotonicNow ?? (() => performance.now());
    this.#observedAt = this.#now();
  }

  /** Why an entry of this process may not be written to a run that is there; nothing where it may. */
  refusalOf({ epoch, holder }: Head, given: number): string | undefined {
    if (given < epoch) return `the run has a later holder, of epoch ${epoch}`;
    return holder === null || holder === this.holder
      ? undefined
      : `another process holds the run, with epoch ${epoch}`;
  }

  /** Shows within a transaction that this process lives, unless it has done so lately. */
  beat(): void {
    const now = this.#now();
    if (now - this.#beatAt < this.intervalMs) return;
    this.#store.tables.run(
      'INSERT OR REPLACE INTO holders (id, beat, lease_ms) VALUES (?, ?, ?)',
      ...[this.holder, ++this.#beat, this.leaseMs],
    );
    this.#beatAt = now;
  }

  /** A transaction has failed, with what it showed. */
  undoBeat(): void {
    this.#beatAt = Number.NEGATIVE_INFINITY;
  }

  async claim(run: string): Promise<LoadedRun | undefined> {
    const { tables } = this.#store;
    let claimed: LoadedRun | undefined;
    await this.#store.write(() => {
      claimed = undefined;
      const head = tables.head(run);
      if (head === undefined || isOver(head.status) || !this.#isFree(head)) return;
      const epoch = head.epoch + 1;
      tables.run(
        'UPDATE runs SET holder = ?, epoch = ?, missing = NULL WHERE n = ?',
        ...[this.holder, epoch, head.n],
      );
      this.beat();
      const sums = new RunSums();
      claimed = { ...tables.load({ ...head, epoch }, sums), holder: 'this' };
      this.#store.held(run, { ...head, epoch }, sums);
    });
    return claimed;
  }

  release(run: string, epoch: number): Promise<void> {
    this.#store.left(run);
    return this.#store.write(() =>
      this.#store.tables.run(
        'UPDATE runs SET holder = NULL WHERE id = ? AND epoch = ? AND holder = ?',
        ...[keyColumn(run), epoch, this.holder],
      ),
    );
  }

  abandon(run: string): Promise<void> {
    this.#store.left(run);
    return this.#store.write(() =>
      this.#store.tables.run(
        `UPDATE runs SET holder = '' WHERE id = ? AND holder = ?`,
        ...[keyColumn(run), this.holder],
      ),
    );
  }

  async head(run: string): Promise<RunHead | undefined> {
    this.#store.check();
    const head = this.#store.tables.head(run);
    return head && this.headOf(head);
  }

  /** The head of a run as this process sees it. */
  headOf({ seq, epoch, holder }: Head): RunHead {
    if (holder === null) return { seq, epoch };
    return { seq, epoch, holder: holder === this.holder ? 'this' : 'other' };
  }

  follow(run: string, head: RunHead, onChange: () => void): () => void {
    const followers = this.#followers.get(run) ?? new Set();
    const follower = { head, onChange };
    this.#followers.set(run, followers.add(follower));
    this.#store.poll();
    this.#lookAt(run, followers);
    return () => {
      followers.delete(follower);
      if (followers.size > 0 || this.#followers.get(run) !== followers) return;
      this.#followers.delete(run);
    };
  }

  get hasFollowers(): boolean {
    return this.#followers.size > 0;
  }

  /** Another process has written to the file: calls back who follows a run that has changed. */
  look(): void {
    for (const [run, followers] of this.#followers) this.#lookAt(run, followers);
  }

  #lookAt(run: string, followers: ReadonlySet<Follower>): void {
    const found = this.#store.tables.head(run);
    const head = found === undefined ? NO_HEAD : this.headOf(found);
    for (const follower of followers) {
      if (isSameHead(follower.head, head)) continue;
      follower.head = head;
      queueMicrotask(() => {
        if (followers.has(follower)) follower.onChange();
      });
    }
  }

  leave(run: string, missing: readonly Capability[]): Promise<void> {
    return this.#store.write(() =>
      this.#store.tables.run(
        'UPDATE runs SET missing = ? WHERE id = ? AND is_open = 1',
        ...[JSON.stringify(missing), keyColumn(run)],
      ),
    );
  }

  async orphans(now: number, isMoved: (run: string) => boolean = () => true): Promise<readonly OpenRun[]> {
    this.#store.check();
    const { tables } = this.#store;
    const own = tables
      .all('SELECT id, graph FROM runs INDEXED BY held_runs WHERE holder = ? AND is_open = 1', this.holder)
      .map(openRun);
    if (own.length > 0) await this.#store.write(() => this.beat());
    const unmoved = own.filter(({ run }) => !isMoved(run));
    await this.#observe();
    this.#sweep();
    // SQLite would rather read all open runs: the indexes and the order of these joins are not left to it.
    const abandoned = tables
      .all(
        `SELECT id, graph, holder FROM runs INDEXED BY held_runs
         WHERE holder IS NOT NULL AND holder <> ? AND is_open = 1 ORDER BY n`,
        this.holder,
      )
      .filter(({ holder }) => this.#isGone(holder as string));
    // A call that is owed by a run that no process holds waits for an operator.
    const due = tables.all(
      `SELECT DISTINCT runs.id, runs.graph FROM state INDEXED BY due_times CROSS JOIN runs ON n = state.run
       WHERE due_at <= ? AND owes IN ('startTimer', 'requestAction') AND is_open = 1 AND holder IS NULL`,
      now,
    );
    const addressed = tables.all(
      `SELECT DISTINCT runs.id, runs.graph FROM inbox CROSS JOIN runs ON runs.n = inbox.run
       WHERE is_open = 1 AND holder IS NULL`,
    );
    const all = [...unmoved, ...[...abandoned, ...due, ...addressed].map(openRun)];
    return [...new Map(all.map((each) => [each.run, each])).values()];
  }

  /** Abandons all runs within a transaction, at the end of this process. */
  end(): void {
    this.#followers.clear();
    this.#store.tables.run('DELETE FROM holders WHERE id = ?', this.holder);
  }

  #isFree({ holder }: Head): boolean {
    return holder === null || holder === this.holder || this.#isGone(holder);
  }

  /** Whether a process has abandoned its runs, or shown no sign of life for its lease. */
  #isGone(holder: string): boolean {
    const row = this.#store.tables.get('SELECT beat, lease_ms FROM holders WHERE id = ?', holder);
    if (row === undefined) return true;
    const sighting = this.#others.get(holder);
    return (
      sighting !== undefined && sighting.beat === row.beat && sighting.silentMs >= (row.lease_ms as number)
    );
  }

  /** Forgets processes that are gone and hold nothing. */
  #sweep(): void {
    const gone = [...this.#others.keys()].filter((id) => this.#isGone(id));
    if (gone.length === 0) return;
    const { tables } = this.#store;
    const own = (id: string): boolean =>
      tables.get('SELECT 1 FROM runs WHERE holder = ? LIMIT 1', id) !== undefined;
    for (const id of gone.filter((each) => !own(each))) {
      void this.#store
        .write(() =>
          tables.run(
            'DELETE FROM holders WHERE id = ?1 AND beat = ?2 AND NOT EXISTS (SELECT 1 FROM runs WHERE holder = ?1)',
            ...[id, this.#others.get(id)?.beat ?? 0],
          ),
        )
        .catch(() => undefined);
    }
  }

  /**
   * Takes note of the signs of life of others. Time in which this process was stopped does not count; time in which an
   * earlier process has seen the same beat does, so that processes which live for less than a lease take runs over.
   */
  async #observe(): Promise<void> {
    const now = this.#now();
    const elapsed = Math.min(now - this.#observedAt, 2 * this.intervalMs);
    this.#observedAt = now;
    const rows = this.#store.tables.all(
      'SELECT id, beat, silent_ms AS silentMs FROM holders WHERE id <> ?',
      this.holder,
    ) as unknown as readonly (Sighting & { readonly id: string })[];
    const ids = new Set(rows.map(({ id }) => id));
    for (const id of this.#others.keys()) if (!ids.has(id)) this.#others.delete(id);
    const longer: (readonly [id: string, sighting: Sighting])[] = [];
    for (const { id, beat, silentMs } of rows) {
      const before = this.#others.get(id);
      const ownMs = before?.beat === beat ? before.silentMs + elapsed : 0;
      const sighting = { beat, silentMs: Math.max(ownMs, silentMs) };
      this.#others.set(id, sighting);
      if (ownMs > silentMs) longer.push([id, sighting]);
    }
    if (longer.length === 0) return;
    await this.#store.write(() => {
      for (const [id, { beat, silentMs }] of longer)
        this.#store.tables.run(
          'UPDATE holders SET silent_ms = max(silent_ms, ?) WHERE id = ? AND beat = ?',
          ...[Math.floor(silentMs), id, beat],
        );
    });
  }
}

function openRun({ id, graph }: Record<string, unknown>): OpenRun {
  return { run: keyIn(id), graphHash: graph as string };
}
