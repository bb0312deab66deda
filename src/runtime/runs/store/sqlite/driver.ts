import { OLDEST_SQLITE, StoreError } from '../store-error.js';

/** What SQLite stores here. */
export type SqliteValue = string | number | null | Uint8Array;

/** Values of named parameters. */
type SqliteValues = Readonly<Record<string, SqliteValue>>;

interface SqliteStatement {
  run(...values: SqliteValue[]): { readonly changes: number | bigint };
  get(...values: SqliteValue[]): unknown;
  all(...values: (SqliteValue | SqliteValues)[]): unknown[];
}

export interface SqliteDatabase {
  exec(sql: string): void;
  prepare(sql: string): SqliteStatement;
  close(): void;
}

/** A module that reaches SQLite: `node:sqlite`, `@photostructure/sqlite`, or another one of the same form. */
export interface SqliteDriver {
  readonly DatabaseSync: new (path: string, options?: { readonly readOnly?: boolean }) => SqliteDatabase;
}

/**
 * The SQLite of Node.js where it is recent enough, else `@photostructure/sqlite`.
 *
 * @throws StoreError `no_driver`.
 */
export async function findDriver(path: string): Promise<SqliteDriver> {
  const own = builtIn();
  const version = own && versionOf(own);
  if (own !== undefined && version !== undefined && isRecent(version)) return own;
  try {
    return await import('@photostructure/sqlite');
  } catch (cause) {
    throw new StoreError(
      'no_driver',
      path,
      version === undefined ? process.version : `SQLite ${version}`,
      cause,
    );
  }
}

/** @throws StoreError `old_sqlite` for a driver whose SQLite may damage the file. */
export function checkDriver(driver: SqliteDriver, path: string): void {
  const version = versionOf(driver);
  if (!isRecent(version)) throw new StoreError('old_sqlite', path, version);
}

/** The result code of SQLite in an error of a driver, without its extension. */
export function sqliteCode(error: unknown): number | undefined {
  const { errcode, message } = (error ?? {}) as { readonly errcode?: unknown; readonly message?: unknown };
  if (typeof errcode === 'number') return errcode & 0xff;
  return CODES.get(message);
}

/** Of faults that a driver throws without their codes: when it prepares a statement. */
const CODES: ReadonlyMap<unknown, number> = new Map([
  ['database is locked', 5],
  ['disk I/O error', 10],
  ['database disk image is malformed', 11],
  ['database or disk is full', 13],
  ['file is not a database', 26],
]);

const ignore = (): void => {};

function builtIn(): SqliteDriver | undefined {
  const emitWarning = process.emitWarning;
  // It warns of being experimental when it is loaded.
  process.emitWarning = ignore;
  try {
    return (process.getBuiltinModule as (name: string) => unknown)('node:sqlite') as SqliteDriver | undefined;
  } finally {
    process.emitWarning = emitWarning;
  }
}

function versionOf({ DatabaseSync }: SqliteDriver): string {
  const database = new DatabaseSync(':memory:');
  try {
    return (database.prepare('SELECT sqlite_version() AS version').get() as { version: string }).version;
  } finally {
    database.close();
  }
}

function isRecent(version: string): boolean {
  const numbers = version.split('.').map(Number);
  for (const [index, least] of OLDEST_SQLITE.split('.').map(Number).entries()) {
    const part = numbers[index] ?? 0;
    if (part !== least) return part > least;
  }
  return true;
}
