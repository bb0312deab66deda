import { randomBytes } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Json } from '../../../../graph/json.js';
import type { Graph } from '../../../../graph/model.js';
import type { Event } from '../../../engine/events.js';
import { runRef } from '../../../tools/port.js';
import { GroupCommit } from '../group-commit.js';
import {
  type DueTimer,
  type InboxItem,
  isOver,
  JournalConflictError,
  type JournalEntry,
  type LoadedRun,
  type OpenRun,
  type RunJournal,
  UnknownRunError,
} from '../journal.js';
import type { Head } from '../reader.js';
import { StoreError } from '../store-error.js';
import type { SqliteDatabase, SqliteValue } from './driver.js';
import {
  type EncodedEntry,
  encodeEntry,
  identitySum,
  keyColumn,
  keyIn,
  RunSums,
  sumOf,
} from './encode-entry.js';
import {
  type OpenFiles,
  openStoreFile,
  pragma,
  type SqliteJournalOptions,
  storeError,
  transaction,
  whenFree,
} from './store-file.js';
import { StoreIndex } from './store-index.js';
import { StoreLeases } from './store-leases.js';
import { StoreTables } from './store-tables.js';

/** So long may a single run keep the event loop, in ms. */
const ALONE_MS = 2;

/** The checksums of so many runs that wait are kept, of at most so many rows each. */
const KEPT_SUMS = { runs: 100, rows: 1_000 };

/** One thing to write. Says why it is refused. */
type Write = (now: GroupEffect) => Error | undefined;

/** What is known of a run that this process holds, without a look at its row. */
type Holding = Pick<Head, 'n' | 'seq' | 'epoch' | 'status'> & { readonly sums: RunSums };

interface GroupEffect {
  /** Runs with a changed inbox. */
  readonly runs: Set<string>;
}

/**
 * A journal in a file of SQLite, which several processes of one machine may use at once. What comes together is written
 * in one transaction. It holds what runs hold, secrets included, unencrypted; only the user who created it can read it.
 *
 * Its methods reject with a {@link StoreError} once it is closed, and while another program keeps the file locked.
 */
export class SqliteJournal implements RunJournal {
  readonly path: string;
  readonly leases: StoreLeases;
  readonly index: StoreIndex;
  readonly #database: SqliteDatabase;
  readonly #files: OpenFiles;
  readonly #pollMs: number;
  readonly #tables: StoreTables;
  readonly #group: GroupCommit<Write>;
  /** Runs that this process holds, as it has written them last. */
  readonly #holdings = new Map<string, Holding>();
  /** The checksums of runs that wait, as this process has written them last: the oldest first. */
  readonly #idleSums = new Map<string, RunSums>();
  /** When the event loop turned last before a commit. */
  #turnedAt = 0;
  readonly #watchers = new Map<string, Set<() => void>>();
  /** Numbers of the last item and response that watchers know of, and the version of the file then. */
  #seen = { item: 0, response: 0, version: 0 };
  #poll: NodeJS.Timeout | undefined;
  #isClosed = false;

  /**
   * Opens a file, or creates it, with mode 0600.
   *
   * @param path of a file. `:memory:` is a journal that ends with the process.
   * @throws StoreError for a file that is not a store, or cannot be used as one; see its `problem`.
   */
  static async open(path: string, options: SqliteJournalOptions = {}): Promise<SqliteJournal> {
    return new SqliteJournal(path, await openStoreFile(path, options), options);
  }

  private constructor(
    path: string,
    { database, files }: Awaited<ReturnType<typeof openStoreFile>>,
    options: SqliteJournalOptions,
  ) {
    this.path = path;
    this.#database = database;
    this.#tables = new StoreTables(database, path);
    this.#files = files;
    this.#pollMs = options.pollMs ?? 20;
    this.#group = new GroupCommit(
      (writes) => this.#commit(writes),
      () => this.#gathered(),
    );
    this.leases = new StoreLeases(
      {
        tables: this.#tables,
        write: (work) => this.#group.add(() => void work()),
        held: (run, head, sums) => void this.#holdings.set(run, { ...head, sums }),
        left: (run) => void this.#holdings.delete(run),
        poll: () => this.#startPolling(),
        check: () => {
          this.#check();
          this.#checkFiles();
        },
      },
      options,
    );
    this.index = new StoreIndex({
      tables: this.#tables,
      write: (work) => this.#group.add(() => void work()),
      check: () => this.#check(),
    });
  }

  async append(entry: JournalEntry): Promise<void> {
    const encoded = encodeEntry(entry);
    await this.#group.add((effect) => this.#write(encoded, effect));
  }

  async load(run: string): Promise<LoadedRun | undefined> {
    this.#check();
    return this.#tables.reading(() => {
      const head = this.#head(run);
      if (head === undefined) return undefined;
      const { holder } = this.leases.headOf(head);
      return { ...this.#tables.load(head), ...(holder === 'other' ? { holder } : {}) };
    });
  }

  async graph(hash: string): Promise<Graph | undefined> {
    this.#check();
    return this.#tables.graph(hash);
  }

  async openRuns(): Promise<readonly OpenRun[]> {
    return this.#all('SELECT id AS run, graph AS graphHash FROM runs WHERE is_open = 1 ORDER BY n').map(
      ({ run, graphHash }) => ({ run: keyIn(run), graphHash: graphHash as string }),
    );
  }

  async finishedRuns(): Promise<readonly string[]> {
    return this.#all('SELECT id FROM runs WHERE ended IS NOT NULL ORDER BY ended').map(({ id }) => keyIn(id));
  }

  async dueTimers(until: number): Promise<readonly DueTimer[]> {
    const due = this.#all(
      `SELECT id AS run, command, due_at AS dueAt FROM state JOIN runs ON n = run
       WHERE due_at <= ? AND is_open = 1 ORDER BY due_at, run`,
      until,
    );
    return due.map(({ run, command, dueAt }) => ({
      ...{ run: keyIn(run), command: keyIn(command) },
      dueAt: dueAt as number,
    }));
  }

  async send(item: InboxItem): Promise<void> {
    const text = JSON.stringify(item);
    const { run, id } = item;
    await this.#group.add((effect) => {
      const head = this.#head(run);
      if (head === undefined) return new UnknownRunError(run);
      if (isOver(head.status)) return undefined;
      if (this.#get('SELECT 1 FROM responses WHERE run = ? AND id = ?', head.n, keyColumn(id)) !== undefined)
        return undefined;
      const key = keyColumn(id);
      this.#run(
        'INSERT OR IGNORE INTO inbox (run, id, item, sum) VALUES (?, ?, ?, ?)',
        ...[head.n, key, text, sumOf(key, text)],
      );
      effect.runs.add(run);
      return undefined;
    });
  }

  async inbox(run: string): Promise<readonly InboxItem[]> {
    const head = this.#head(run);
    return head === undefined ? [] : this.#tables.inbox(head.n);
  }

  async response(run: string, item: string): Promise<Json | undefined> {
    this.#check();
    return this.#tables.response(run, item);
  }

  watch(run: string, onChange: () => void): () => void {
    this.#check();
    if (this.#watchers.size === 0) this.#look();
    this.#startPolling();
    const watchers = this.#watchers.get(run) ?? new Set();
    this.#watchers.set(run, watchers);
    watchers.add(onChange);
    return () => {
      watchers.delete(onChange);
      if (watchers.size > 0 || this.#watchers.get(run) !== watchers) return;
      this.#watchers.delete(run);
    };
  }

  #startPolling(): void {
    this.#poll ??= setInterval(() => this.#notifyOfOthers(), this.#pollMs).unref();
  }

  #stopPolling(): void {
    clearInterval(this.#poll);
    this.#poll = undefined;
  }

  async forget(run: string): Promise<void> {
    this.#holdings.delete(run);
    await this.#group.add(() => {
      const head = this.#head(run);
      if (head !== undefined) this.#tables.remove(head);
      return undefined;
    });
  }

  /** All events of a run, in the order in which they were taken in; none for an unknown run. */
  async events(run: string): Promise<readonly Event[]> {
    this.#check();
    const head = this.#head(run);
    const entries = head === undefined ? [] : this.#tables.entries(head.n, 1, head.seq);
    return entries.flatMap(({ events }) => events);
  }

  async key(): Promise<Uint8Array> {
    await this.#group.add(() => {
      this.#run(`INSERT OR IGNORE INTO secrets (name, value) VALUES ('key', ?)`, randomBytes(32));
      return undefined;
    });
    return this.#get(`SELECT value FROM secrets WHERE name = 'key'`)?.value as Uint8Array;
  }

  /** Closes the file, after what was begun is written. Further calls reject. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    // The last group: what came before it is written when it is.
    const last = this.#group.add(() => {
      this.leases.end();
      this.#isClosed = true;
      return undefined;
    });
    // If that cannot be written, other processes take the runs over when the lease has ended.
    await last.catch(() => undefined);
    this.#isClosed = true;
    this.#stopPolling();
    this.#watchers.clear();
    this.#tables.close();
    this.#database.close();
  }

  /**
   * What other runs write in the same turn of the event loop is worth waiting for. A single run does not wait, but lets
   * the event loop turn from time to time.
   */
  async #gathered(): Promise<void> {
    if (this.#holdings.size <= 1 && performance.now() - this.#turnedAt < ALONE_MS) return;
    await nextTurn();
    this.#turnedAt = performance.now();
  }

  /** Why it refuses all work until the store is opened again. Looks at the files. */
  get fault(): StoreError | undefined {
    return this.#files.look();
  }

  async #commit(writes: readonly Write[]): Promise<readonly (Error | undefined)[]> {
    this.#check();
    this.#checkFiles();
    const effect: GroupEffect = { runs: new Set() };
    let refusals: readonly (Error | undefined)[];
    try {
      refusals = await whenFree(this.path, () =>
        transaction(this.#database, () => writes.map((write) => write(effect))),
      );
      // What was written before the files were replaced is in those that a restart reads.
      this.#checkFiles();
    } catch (error) {
      this.leases.undoBeat();
      this.#holdings.clear();
      this.#idleSums.clear();
      throw storeError(error, this.path);
    }
    for (const run of effect.runs) this.#notify(run);
    return refusals;
  }

  #write(entry: EncodedEntry, effect: GroupEffect): Error | undefined {
    const { run, seq, epoch, consumed } = entry;
    const isEnd = entry.becomes !== undefined && isOver(entry.becomes.status);
    const isAtRest = entry.releases ?? isEnd;
    const isPlain = !isAtRest && entry.begins === undefined;
    const previous = (isPlain ? this.#continued(entry) : undefined) ?? this.#advanced(entry, isAtRest);
    if (previous instanceof Error) return previous;
    const { n, status, sums } = previous;
    if (isAtRest) {
      this.#holdings.delete(run);
      if (!isEnd) this.#keepSums(run, sums);
    } else {
      this.#holdings.set(run, { n, seq, epoch, status: entry.becomes?.status ?? status, sums });
      this.leases.beat();
    }
    if (entry.becomes !== undefined && entry.becomes.status !== status) this.#setStatus(n, entry.becomes);
    this.#run(
      'INSERT INTO entries (run, seq, epoch, events, sum) VALUES (?, ?, ?, ?, ?)',
      ...[n, seq, epoch, entry.events, sumOf(seq, epoch, entry.events)],
    );
    for (const { table, key, put } of entry.changes) {
      if (put === undefined) {
        this.#run('DELETE FROM state WHERE run = ? AND tab = ? AND key = ?', n, table, key);
        continue;
      }
      this.#run(
        'INSERT OR REPLACE INTO state (run, tab, key, row, refs, owes, command, due_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
        ...[n, table, key, put.row, put.refs, put.owes, put.command, put.dueAt],
      );
    }
    for (const { table, key, row } of entry.hostRows) {
      this.#run(
        `INSERT INTO host (run, tab, key, row) VALUES (?, ?, ?, ?)
         ON CONFLICT (run, tab, key) DO UPDATE SET row = excluded.row`,
        ...[n, table, key, row],
      );
    }
    for (const { id, response } of consumed) {
      const key = keyColumn(id);
      this.#run('DELETE FROM inbox WHERE run = ? AND id = ?', n, key);
      this.#run(
        'INSERT INTO responses (run, id, response, sum) VALUES (?, ?, ?, ?)',
        ...[n, key, response, sumOf(key, response)],
      );
    }
    if (isEnd) this.#run('DELETE FROM inbox WHERE run = ?', n);
    for (const large of entry.large) this.#keepText(n, large);
    if (consumed.length > 0) effect.runs.add(run);
    return undefined;
  }

  /**
   * Moves a run on whose last entry this process has written: if its row is still as that left it, nothing refuses the
   * next one. Returns the run as it was; nothing where its row has to be looked at.
   */
  #continued(entry: EncodedEntry): Holding | undefined {
    const { run, seq, expectedSeq, epoch, consumed } = entry;
    const holding = this.#holdings.get(run);
    if (
      holding?.seq !== expectedSeq ||
      seq !== expectedSeq + 1 ||
      holding.epoch !== epoch ||
      consumed.length > 0
    )
      return undefined;
    const { n, sums } = holding;
    sums.apply(entry);
    const changed = this.#run(
      'UPDATE runs SET seq = ?, sum = ?, sum_seq = ? WHERE n = ? AND seq = ? AND epoch = ? AND holder = ?',
      ...[seq, sums.total, seq, n, expectedSeq, epoch, this.leases.holder],
    );
    if (changed === 1) return holding;
    this.#holdings.delete(run);
    return undefined;
  }

  /** Moves a run on, or begins it, after a look at its row. Returns the run as it was, with the sums as they are. */
  #advanced(
    entry: EncodedEntry,
    isAtRest: boolean,
  ): Pick<Holding, 'n' | 'status' | 'sums'> | JournalConflictError {
    const { run, seq, epoch } = entry;
    const previous = this.#head(run);
    const why = this.#refusalOf(entry, previous);
    if (why !== undefined) return new JournalConflictError(entry, why);
    if (previous !== undefined) this.#move(previous, entry);
    const head = previous ?? this.#begin(entry);
    if (head === undefined) return new JournalConflictError(entry, 'a run begins with its graph and its row');
    const sums = previous === undefined ? new RunSums() : this.#sumsOf(run, previous);
    sums.apply(entry);
    this.#run(
      'UPDATE runs SET seq = ?, epoch = ?, holder = ?, missing = NULL, identity = ?, sum = ?, sum_seq = ? WHERE n = ?',
      ...[seq, epoch, isAtRest ? null : this.leases.holder],
      ...[identitySum(head), sums.total, seq, head.n],
    );
    return { n: head.n, status: head.status, sums };
  }

  /** The checksums of the rows of a run as they are. The rows are read if another process may have written them. */
  #sumsOf(run: string, head: Head): RunSums {
    const kept = this.#holdings.get(run)?.sums ?? this.#idleSums.get(run);
    this.#idleSums.delete(run);
    if (kept !== undefined && kept.total === head.sum && head.sumSeq === head.seq) return kept;
    const sums = new RunSums();
    this.#tables.rowsOf(head, sums);
    return sums;
  }

  #keepSums(run: string, sums: RunSums): void {
    if (sums.rows > KEPT_SUMS.rows) return;
    this.#idleSums.set(run, sums);
    const [oldest] = this.#idleSums.keys();
    if (oldest !== undefined && this.#idleSums.size > KEPT_SUMS.runs) this.#idleSums.delete(oldest);
  }

  /** Why an entry does not follow what is there. */
  #refusalOf(
    { seq, expectedSeq, epoch, consumed }: EncodedEntry,
    previous: Head | undefined,
  ): string | undefined {
    const last = previous?.seq ?? 0;
    if (expectedSeq !== last) return `it follows entry ${expectedSeq}, and the last one is ${last}`;
    if (seq !== expectedSeq + 1) return `the next one is ${last + 1}`;
    const lease = previous && this.leases.refusalOf(previous, epoch);
    if (lease !== undefined) return lease;
    // Its items have left the inbox.
    if (previous !== undefined && isOver(previous.status)) return undefined;
    const missing = consumed.find(
      ({ id }) =>
        previous === undefined ||
        this.#get('SELECT 1 FROM inbox WHERE run = ? AND id = ?', previous.n, keyColumn(id)) === undefined,
    );
    return missing === undefined ? undefined : `the inbox has no item '${missing.id}'`;
  }

  #begin({ run, seq, epoch, begins }: EncodedEntry): Head | undefined {
    if (begins === undefined) return undefined;
    const { graphHash, graph, workflow, startedAt, listing } = begins;
    const { quota = null, access = null, alias = null } = listing;
    this.#run('INSERT OR IGNORE INTO graphs (hash, graph) VALUES (?, ?)', graphHash, graph);
    this.#run(
      `INSERT INTO runs (id, ref, graph, workflow, status, started_at, seq, epoch, is_open, quota, access, alias)
       VALUES (?, ?, ?, ?, 'running', ?, ?, ?, 1, ?, ?, ?)`,
      ...[keyColumn(run), runRef(run), graphHash, workflow, startedAt, seq, epoch, quota, access, alias],
    );
    return this.#head(run);
  }

  /** The run goes on with another graph. */
  #move({ n, graph: before }: Head, { begins }: EncodedEntry): void {
    if (begins === undefined) return;
    const { graphHash, graph } = begins;
    this.#run('INSERT OR IGNORE INTO graphs (hash, graph) VALUES (?, ?)', graphHash, graph);
    this.#run('UPDATE runs SET graph = ? WHERE n = ?', graphHash, n);
    this.#run(
      'DELETE FROM graphs WHERE hash = ?1 AND NOT EXISTS (SELECT 1 FROM runs WHERE graph = ?1)',
      before,
    );
  }

  #setStatus(n: number, { status, at }: NonNullable<EncodedEntry['becomes']>): void {
    if (!isOver(status)) {
      this.#run(
        'UPDATE runs SET status = ?, is_open = 1, ended = NULL, ended_at = NULL WHERE n = ?',
        ...[status, n],
      );
      return;
    }
    this.#run(
      `UPDATE runs SET status = ?, is_open = 0, ended = (SELECT coalesce(max(ended), 0) + 1 FROM runs WHERE ended IS NOT NULL),
       ended_at = coalesce(?, started_at) WHERE n = ?`,
      ...[status, at, n],
    );
  }

  #keepText(run: number, { hash, text }: EncodedEntry['large'][number]): void {
    this.#run('INSERT OR IGNORE INTO texts (hash, text) VALUES (?, ?)', hash, text);
    this.#run('INSERT OR IGNORE INTO uses (run, hash) VALUES (?, ?)', run, hash);
  }

  #head(run: string): Head | undefined {
    this.#check();
    return this.#tables.head(run);
  }

  /** Notifies those who watch a run, later: never before `watch` has returned. */
  #notify(run: string): void {
    for (const watcher of this.#watchers.get(run) ?? []) {
      queueMicrotask(() => {
        if (this.#watchers.get(run)?.has(watcher) === true) watcher();
      });
    }
  }

  /** Looks for items and responses that came since. Returns the numbers of the runs they are of. */
  #look(): readonly string[] {
    const { item, response } = this.#seen;
    const version = pragma(this.#database, 'data_version');
    const last = (table: string): number =>
      Number(this.#get(`SELECT coalesce(max(seq), 0) AS n FROM sqlite_sequence WHERE name = '${table}'`)?.n);
    const runs = this.#all(
      `SELECT id FROM runs WHERE n IN
       (SELECT run FROM inbox WHERE n > ? UNION SELECT run FROM responses WHERE n > ?)`,
      ...[item, response],
    );
    this.#seen = { item: last('inbox'), response: last('responses'), version };
    return runs.map(({ id }) => keyIn(id));
  }

  /** The version of the file changes when another connection has written to it. */
  #notifyOfOthers(): void {
    try {
      if (this.#watchers.size === 0 && !this.leases.hasFollowers) this.#stopPolling();
      else if (pragma(this.#database, 'data_version') !== this.#seen.version) {
        for (const run of this.#look()) this.#notify(run);
        this.leases.look();
      }
    } catch {
      // A file that is locked or gone is reported by the next write; until then the next look tries again.
    }
  }

  #check(): void {
    if (this.#isClosed) throw new StoreError('closed', this.path);
    if (this.#files.fault !== undefined) throw this.#files.fault;
  }

  #checkFiles(): void {
    const { fault } = this;
    if (fault !== undefined) throw fault;
  }

  #run(sql: string, ...values: SqliteValue[]): number {
    this.#check();
    return this.#tables.run(sql, ...values);
  }

  #get(sql: string, ...values: SqliteValue[]): Record<string, unknown> | undefined {
    this.#check();
    return this.#tables.get(sql, ...values);
  }

  #all(sql: string, ...values: SqliteValue[]): Record<string, unknown>[] {
    this.#check();
    return this.#tables.all(sql, ...values);
  }
}
