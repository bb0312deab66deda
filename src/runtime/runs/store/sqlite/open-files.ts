import { statSync } from 'node:fs';
import { StoreError } from '../store-error.js';
import type { SqliteDatabase } from './driver.js';

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
