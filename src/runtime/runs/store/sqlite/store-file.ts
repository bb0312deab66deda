import { chmodSync, closeSync, fstatSync, openSync, readSync, type Stats, statSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { StoreError } from '../store-error.js';
import { checkDriver, findDriver, type SqliteDatabase, type SqliteDriver, sqliteCode } from './driver.js';

import { COUNTS } from './encode-entry.js';

/** How the file of a store is opened. */
export interface SqliteJournalOptions {
  /** Default: the SQLite of Node.js where it is recent enough, else `@photostructure/sqlite`. */
  readonly driver?: SqliteDriver;
  /**
   * When a transaction counts as safe. `'full'`: it is on disk. `'normal'`: the system has it, so that it outlasts the
   * process but not a loss of power. Default: `'full'`.
   */
  readonly synchronous?: 'full' | 'normal';
  /** How long this process may show no sign of life before others take its runs over, in ms. Default: 10 000. */
  readonly leaseMs?: number;
  /** Ms since whenever; never steps back. Default: the process's own clock. */
  readonly monotonicNow?: () => number;
  /** How often it looks for what other processes have written, in ms, while somebody watches. Default: 20. */
  readonly pollMs?: number;
  /** Called once when the file, or one that SQLite keeps beside it, was removed or replaced. Default: no call. */
  readonly onReplaced?: (fault: StoreError) => void;
  /** A file up to so many bytes is looked through for damage when it is opened. Default: 8 MiB, about 8 ms. */
  readonly checkedBytes?: number;
}

/** A database with what looks after its files. */
interface OpenStoreFile {
  readonly database: SqliteDatabase;
  readonly files: OpenFiles;
}

/** "STPW": distinguishes a store from databases of other programs. */
const APPLICATION_ID = 0x53545057;

/** How long SQLite itself waits for a lock. It blocks the process: waiting goes on outside of it. */
const LOCK_MS = 20;

/** How long reading waits for a lock: only the recovery of a file after a crash takes one that excludes readers. */
const READ_LOCK_MS = 5_000;

/** How long a lock of another process is waited for. */
const BUSY_MS = 10_000;

const SQLITE = {
  busy: 5,
  readonly: 8,
  ioError: 10,
  corrupt: 11,
  full: 13,
  cantOpen: 14,
  notADatabase: 26,
} as const;

/** Statements that lead from each version of the schema to the next. A released one never changes. */
const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE graphs (hash TEXT PRIMARY KEY, graph TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE runs (
    n INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, ref TEXT NOT NULL, graph TEXT NOT NULL,
    workflow TEXT NOT NULL, status TEXT NOT NULL, started_at INTEGER NOT NULL, ended_at INTEGER,
    seq INTEGER NOT NULL, epoch INTEGER NOT NULL, is_open INTEGER NOT NULL,
    ended INTEGER, holder TEXT, quota TEXT, access TEXT, alias TEXT
  );
  CREATE TABLE holders (id TEXT PRIMARY KEY, beat INTEGER NOT NULL, lease_ms INTEGER NOT NULL) WITHOUT ROWID;
  CREATE INDEX held_runs ON runs (holder) WHERE holder IS NOT NULL;
  CREATE INDEX finished_runs ON runs (ended) WHERE ended IS NOT NULL;
  CREATE INDEX end_times ON runs (ended_at) WHERE ended_at IS NOT NULL;
  CREATE INDEX open_runs ON runs (n) WHERE is_open = 1;
  CREATE INDEX refs ON runs (ref);
  CREATE INDEX runs_of_quota ON runs (quota, n);
  CREATE INDEX open_runs_of_quota ON runs (quota) WHERE is_open = 1;
  CREATE UNIQUE INDEX aliases ON runs (alias) WHERE alias IS NOT NULL;
  CREATE INDEX runs_of_graph ON runs (graph);
  CREATE INDEX runs_of_status ON runs (status, n);
  CREATE INDEX runs_of_workflow ON runs (workflow, n);
  CREATE TABLE entries (
    run INTEGER NOT NULL, seq INTEGER NOT NULL, epoch INTEGER NOT NULL, events NOT NULL,
    PRIMARY KEY (run, seq)
  ) WITHOUT ROWID;
  CREATE TABLE state (
    run INTEGER NOT NULL, tab TEXT NOT NULL, key TEXT NOT NULL, row NOT NULL, refs TEXT,
    owes TEXT, command TEXT, due_at INTEGER, PRIMARY KEY (run, tab, key)
  ) WITHOUT ROWID;
  CREATE INDEX due_times ON state (due_at) WHERE due_at IS NOT NULL;
  CREATE INDEX questions ON state (run) WHERE owes = 'requestAction';
  CREATE TABLE host (
    n INTEGER PRIMARY KEY, run INTEGER NOT NULL, tab TEXT NOT NULL, key TEXT NOT NULL, row NOT NULL,
    UNIQUE (run, tab, key)
  );
  CREATE TABLE inbox (
    n INTEGER PRIMARY KEY AUTOINCREMENT, run INTEGER NOT NULL, id TEXT NOT NULL, item NOT NULL,
    UNIQUE (run, id)
  );
  CREATE TABLE responses (
    n INTEGER PRIMARY KEY AUTOINCREMENT, run INTEGER NOT NULL, id TEXT NOT NULL, response NOT NULL,
    UNIQUE (run, id)
  );
  CREATE TABLE texts (hash BLOB PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE uses (run INTEGER NOT NULL, hash BLOB NOT NULL, PRIMARY KEY (run, hash)) WITHOUT ROWID;
  CREATE INDEX uses_of_text ON uses (hash);
  `,
  // Checksums: rows of an earlier version get them when they are written. Needs of a run that no server has. For how long
  // processes together have seen the last beat of a holder.
  `
  ALTER TABLE runs ADD COLUMN identity INTEGER;
  ALTER TABLE runs ADD COLUMN sum INTEGER;
  ALTER TABLE runs ADD COLUMN sum_seq INTEGER;
  ALTER TABLE entries ADD COLUMN sum INTEGER;
  ALTER TABLE inbox ADD COLUMN sum INTEGER;
  ALTER TABLE responses ADD COLUMN sum INTEGER;
  ALTER TABLE runs ADD COLUMN missing TEXT;
  CREATE INDEX left_runs ON runs (n) WHERE missing IS NOT NULL;
  ALTER TABLE holders ADD COLUMN silent_ms INTEGER NOT NULL DEFAULT 0;
  `,
  COUNTS,
  'CREATE TABLE secrets (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;',
];

/** Shows the tables of each earlier version as those of the next one to those who only read. */
const VIEWS: readonly string[] = [
  '',
  `
  CREATE TEMP VIEW runs AS SELECT *, NULL AS identity, NULL AS sum, NULL AS sum_seq, NULL AS missing FROM main.runs;
  CREATE TEMP VIEW entries AS SELECT *, NULL AS sum FROM main.entries;
  CREATE TEMP VIEW inbox AS SELECT *, NULL AS sum FROM main.inbox;
  CREATE TEMP VIEW responses AS SELECT *, NULL AS sum FROM main.responses;
  `,
];

/**
 * Opens the file of a store, and creates it where there is none, readable by its user alone.
 *
 * @throws StoreError for a file that cannot be one.
 */
export async function openStoreFile(
  path: string,
  { driver, synchronous = 'full', onReplaced, checkedBytes = CHECKED_BYTES }: SqliteJournalOptions,
): Promise<OpenStoreFile> {
  const usedDriver = driver ?? (await findDriver(path));
  checkDriver(usedDriver, path);
  const inode = path === ':memory:' ? undefined : prepareFile(path);
  let database: SqliteDatabase | undefined;
  try {
    const opened = new usedDriver.DatabaseSync(path);
    database = opened;
    opened.exec(`PRAGMA busy_timeout = ${LOCK_MS}`);
    await whenFree(path, () => migrate(opened, path));
    // The check comes first: a database of another program is not touched.
    await whenFree(path, () => opened.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous}`));
    await whenFree(path, () => checkPages(opened, path, checkedBytes));
    if (inode !== undefined) protectFiles(path);
    const files = new OpenFiles(path, opened, inode, onReplaced);
    const fault = files.look();
    if (fault !== undefined) throw fault;
    return { database: opened, files };
  } catch (error) {
    database?.close();
    throw storeError(error, path);
  }
}

/** Opens a store without changing it. @throws StoreError for a file that is not a store. */
export function openReadOnly(path: string, { DatabaseSync }: SqliteDriver): SqliteDatabase {
  checkFile(path);
  let database: SqliteDatabase | undefined;
  try {
    database = new DatabaseSync(path, { readOnly: true });
    database.exec(`PRAGMA busy_timeout = ${READ_LOCK_MS}`);
    const version = versionIn(database, path);
    if (version === 0) throw new StoreError('not_a_database', path);
    for (const views of VIEWS.slice(version)) database.exec(views);
    return database;
  } catch (error) {
    database?.close();
    throw storeError(error, path);
  }
}

/**
 * Looks at a file that has to be there. It is not opened: closing it would release the locks that this process has on it.
 *
 * @throws StoreError for one that cannot be a store.
 */
export function checkFile(path: string): void {
  let stats: Stats | undefined;
  try {
    stats = statSync(path, { throwIfNoEntry: false });
  } catch (cause) {
    throw new StoreError('no_access', path, (cause as NodeJS.ErrnoException).code, cause);
  }
  if (stats === undefined) throw new StoreError('missing', path);
  if (stats.isDirectory()) throw new StoreError('folder', path);
  if (!stats.isFile()) throw new StoreError('not_a_database', path);
}

/** Works as soon as no other process holds the lock that it needs. @throws StoreError `busy`. */
export async function whenFree<T>(path: string, work: () => T): Promise<T> {
  const end = performance.now() + BUSY_MS;
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error)) throw error;
      if (performance.now() >= end) throw new StoreError('busy', path, `${BUSY_MS} ms`, error);
    }
    await delay(1 + Math.random() * 4);
  }
}

/** Whether another process holds a lock. */
export function isBusy(error: unknown): boolean {
  return sqliteCode(error) === SQLITE.busy;
}

/** Does all of the work or nothing of it. */
export function transaction<T>(database: SqliteDatabase, work: () => T, begin = 'BEGIN IMMEDIATE'): T {
  database.exec(begin);
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    rollBack(database);
    throw error;
  }
}

/** Some faults have ended the transaction already. The first fault is the one to report. */
function rollBack(database: SqliteDatabase): void {
  try {
    database.exec('ROLLBACK');
  } catch {}
}

/** An error of SQLite, in the words of a store. */
export function storeError(error: unknown, path: string): unknown {
  const detail = error instanceof Error ? error.message : String(error);
  switch (sqliteCode(error)) {
    case SQLITE.busy:
      return new StoreError('busy', path, `${LOCK_MS} ms`, error);
    case SQLITE.readonly:
    case SQLITE.cantOpen:
      return new StoreError('no_access', path, detail, error);
    case SQLITE.corrupt:
      return new StoreError('damaged', path, detail, error);
    case SQLITE.full:
      return new StoreError('full', path, detail, error);
    case SQLITE.ioError:
      return new StoreError('io', path, detail, error);
    case SQLITE.notADatabase:
      return new StoreError('not_a_database', path, detail, error);
    default:
      return error;
  }
}

/** See {@link SqliteJournalOptions.checkedBytes}. */
const CHECKED_BYTES = 8 * 1_048_576;

/** Looks through the pages of a small file. @throws StoreError `damaged`. */
function checkPages(database: SqliteDatabase, path: string, most: number): void {
  if (pragma(database, 'page_count') * pragma(database, 'page_size') > most) return;
  const row = database.prepare('PRAGMA quick_check(1)').get() as { readonly quick_check: string };
  if (row.quick_check !== 'ok') throw new StoreError('damaged', path, row.quick_check);
}

/** Creates the file, and looks at what is there before SQLite does. Returns the number of its inode. */
function prepareFile(path: string): number {
  let file: number | undefined;
  try {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true)
      throw new StoreError('folder', path);
    file = openSync(path, 'a+', 0o600);
    const head = Buffer.alloc(HEADER_BYTES);
    const length = readSync(file, head, 0, head.length, 0);
    if (length > 0 && !head.subarray(0, MAGIC.length).equals(MAGIC))
      throw new StoreError('not_a_database', path);
    const { ino, size } = fstatSync(file);
    if (length === HEADER_BYTES) checkSize(path, head, size);
    return ino;
  } catch (error) {
    if (error instanceof StoreError) throw error;
    const { code = '' } = error as NodeJS.ErrnoException;
    throw new StoreError(code === 'ENOENT' ? 'no_folder' : 'no_access', path, code, error);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** A file without its end could pass for an empty one: SQLite would begin a new database in it. */
function checkSize(path: string, header: Buffer, size: number): void {
  // Pages that are missing may be in the write-ahead log.
  if ((statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0) return;
  const field = header.readUInt16BE(16);
  // 1 is for a size that two bytes cannot hold.
  const expected = (field === 1 ? 65_536 : field) * header.readUInt32BE(28);
  if (size < expected) throw new StoreError('damaged', path, `${size} bytes of ${expected}`);
}

/** So long is the header of a database of SQLite. */
const HEADER_BYTES = 100;

/** How it begins. */
const MAGIC = Buffer.from('SQLite format 3\0');

/** The file and those that SQLite keeps beside it hold secrets of runs. */
function protectFiles(path: string): void {
  for (const file of [path, `${path}-wal`, `${path}-shm`]) {
    const mode = statSync(file, { throwIfNoEntry: false })?.mode ?? 0;
    // Another user's file keeps its mode.
    if ((mode & 0o077) !== 0 && process.platform !== 'win32') {
      try {
        chmodSync(file, 0o600);
      } catch (error) {
        throw new StoreError('no_access', path, (error as NodeJS.ErrnoException).code, error);
      }
    }
  }
}

function migrate(database: SqliteDatabase, path: string): void {
  if (versionIn(database, path) === MIGRATIONS.length) return;
  transaction(database, () => {
    // Another process may have done it since.
    const version = versionIn(database, path);
    for (const statements of MIGRATIONS.slice(version)) database.exec(statements);
    database.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${MIGRATIONS.length}`);
  });
}

/**
 * The version of the tables; 0 for an empty file.
 *
 * @throws StoreError for a database of another program, and for a later version.
 */
export function versionIn(database: SqliteDatabase, path: string): number {
  const id = pragma(database, 'application_id');
  const version = pragma(database, 'user_version');
  const { tables } = database.prepare('SELECT count(*) AS tables FROM sqlite_master').get() as {
    tables: number;
  };
  if (id === 0 && version === 0 && tables === 0) return 0;
  if (id !== APPLICATION_ID) throw new StoreError('foreign', path);
  if (version > MIGRATIONS.length) {
    throw new StoreError(
      'newer',
      path,
      `version ${version} of its tables, this one reads ${MIGRATIONS.length}`,
    );
  }
  return version;
}

export function pragma(database: SqliteDatabase, name: string): number {
  const row = database.prepare(`PRAGMA ${name}`).get() as Readonly<Record<string, number>>;
  return row[name] ?? 0;
}

/**
 * The files of an open store. SQLite keeps the files that it has opened, also when they were removed or others have their
 * paths: what is written to them then is lost with the process. Such a store refuses all work until it is opened again.
 */
export class OpenFiles {
  readonly #path: string;
  readonly #database: SqliteDatabase;
  readonly #onReplaced: (fault: StoreError) => void;
  readonly #inodes: ReadonlyMap<string, number | undefined>;
  #fault: StoreError | undefined;

  /**
   * @param inode of the file before SQLite opened it. Missing for a database in memory.
   * @param onReplaced called once.
   */
  constructor(
    path: string,
    database: SqliteDatabase,
    inode: number | undefined,
    onReplaced: (fault: StoreError) => void = () => {},
  ) {
    this.#path = path;
    this.#database = database;
    this.#onReplaced = onReplaced;
    const beside = [`${path}-wal`, `${path}-shm`].map((file) => [file, inodeOf(file)] as const);
    this.#inodes = new Map(inode === undefined ? [] : [[path, inode], ...beside]);
  }

  /** Why the store refuses all work, where that was noticed. */
  get fault(): StoreError | undefined {
    return this.#fault;
  }

  /** Looks at the paths, which takes some microseconds. Returns why the store refuses all work. */
  look(): StoreError | undefined {
    if (this.#fault !== undefined) return this.#fault;
    const changes = [...this.#inodes].filter(
      ([file, inode]) => inode === undefined || inodeOf(file) !== inode,
    );
    const [[file] = []] = changes;
    if (file === undefined) return undefined;
    this.#fault = new StoreError('replaced', this.#path, file);
    if (changes.length === 1 && file === `${this.#path}-wal` && inodeOf(file) === undefined) this.#keepLog();
    this.#onReplaced(this.#fault);
    return this.#fault;
  }

  /**
   * Only the log was removed, and no other process has created one: SQLite still has it, and moves to the file what a restart
   * would not find.
   */
  #keepLog(): void {
    try {
      this.#database.exec('PRAGMA wal_checkpoint');
    } catch {
      // The store is refused all the same.
    }
  }
}

/** Undefined for a file that is not there, or cannot be reached. */
function inodeOf(file: string): number | undefined {
  try {
    return statSync(file, { throwIfNoEntry: false })?.ino;
  } catch {
    return undefined;
  }
}
