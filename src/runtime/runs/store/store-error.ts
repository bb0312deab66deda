import { defined } from '../../../graph/defined.js';
/** Why a store cannot be used. */
export type StoreProblem =
  | 'no_driver'
  | 'old_sqlite'
  | 'folder'
  | 'no_folder'
  | 'missing'
  | 'exists'
  | 'no_access'
  | 'not_a_database'
  | 'damaged'
  | 'foreign'
  | 'full'
  | 'io'
  | 'replaced'
  | 'newer'
  | 'busy'
  | 'closed'
  | 'name'
  | 'no_package'
  | 'bundle'
  | 'unreachable'
  | 'unsupported';

/** The oldest SQLite without the fault in its write-ahead log that damages a file which several processes use. */
export const OLDEST_SQLITE = '3.51.3';

/** Each text names the file, and says what to do. */
const TEXTS: Readonly<Record<StoreProblem, (path: string, detail: string) => string>> = {
  no_driver: (path, detail) =>
    `the store '${path}' needs SQLite ${OLDEST_SQLITE} or later, and this Node.js has none (${detail}): install it with 'npm install @photostructure/sqlite'`,
  old_sqlite: (path, detail) =>
    `the store '${path}' needs SQLite ${OLDEST_SQLITE} or later, and the driver brings ${detail}: use a later driver, since earlier versions can damage a file that several processes use`,
  folder: (path) => `the store '${path}' is a folder: give the path of a file, such as '${path}/runs.db'`,
  no_folder: (path) =>
    `'${path}' cannot be created, since its folder does not exist: create the folder first`,
  missing: (path) =>
    `there is no file '${path}': give the path of a store that a server has used, or of a backup to restore`,
  exists: (path) =>
    `there is a file '${path}' already: no file is overwritten, so give the path of one that does not exist`,
  no_access: (path, detail) =>
    `the store '${path}' cannot be opened (${detail}): give this user read and write permission for the file and its folder`,
  not_a_database: (path) =>
    `'${path}' is not a SQLite database: give the path of a store, or of a file that does not exist yet`,
  damaged: (path, detail) =>
    `the store '${path}' is damaged (${detail}): list what is damaged with 'stepwright runs check ${path}', and restore the file from a backup`,
  foreign: (path) =>
    `'${path}' is a database of another program: give the path of a store, or of a file that does not exist yet`,
  full: (path, detail) =>
    `the store '${path}' cannot grow (${detail}): free space on its disk, or finish and remove runs`,
  io: (path, detail) =>
    `the store '${path}' cannot be read or written (${detail}): see whether its disk fails, or whether the file or its '-wal' was removed, and restore it from a backup if so`,
  replaced: (path, detail) =>
    `'${detail}' was removed or replaced while the store '${path}' was open: nothing is written any more, so end the servers that use it and start them again`,
  newer: (path, detail) =>
    `the store '${path}' was written by a later version of stepwright (${detail}): update stepwright, or give another path`,
  busy: (path, detail) =>
    `the store '${path}' was locked by another process for ${detail}: end the program that keeps it locked`,
  closed: (path) => `the store '${path}' is closed`,
  name: (path, detail) => `'${path}' does not name a store: ${detail}`,
  no_package: (path, detail) => `the store needs '${path}', which could not be loaded: run \`${detail}\``,
  bundle: (path, detail) =>
    `the interpreter in '${path}' cannot be used (${detail}): write it again with writeBundle() of 'stepwright/temporal', or leave 'bundlePath' out`,
  unreachable: (path, detail) =>
    `the store '${path}' cannot be reached (${detail}): start its server, or correct its address, namespace, TLS or API key`,
  unsupported: (path, detail) => `the store '${path}' cannot do that: ${detail}`,
};

/** Thrown for a store that cannot be opened or used. `problem` says why, the message what to do. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly problem: StoreProblem;
  readonly path: string;
  /** What is wrong, in the words of SQLite or of this product; empty where the problem says it. */
  readonly detail: string;

  constructor(problem: StoreProblem, path: string, detail = '', cause?: unknown) {
    super(TEXTS[problem](path, detail), defined({ cause }));
    this.problem = problem;
    this.path = path;
    this.detail = detail;
  }
}

/** The fault of the store in what was thrown, or in what led to it. */
export function storeErrorIn(fault: unknown): StoreError | undefined {
  if (fault instanceof StoreError) return fault;
  return fault instanceof Error ? storeErrorIn(fault.cause) : undefined;
}

/** Thrown for a run that is in the store and cannot be read: it must not be taken for one that does not exist. */
export class UnreadableRunError extends Error {
  override readonly name = 'UnreadableRunError';
  /** Otherwise another version wrote it. */
  readonly isDamaged: boolean;

  constructor(ref: string, isDamaged: boolean, cause: unknown) {
    super(`run ${ref} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.isDamaged = isDamaged;
  }
}
