import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, linkSync, openSync, readdirSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { StoreError } from '../store-error.js';
import { checkDriver, findDriver, type SqliteDatabase, type SqliteDriver } from './driver.js';
import { openReadOnly, storeError, versionIn } from './store-file.js';

/**
 * Copies a store to a file that does not exist, as of one moment, while servers use it. The copy has the mode 0600, and
 * appears under its name when it is complete and SQLite has found no damage in it.
 *
 * @throws StoreError for a source that is not a store or is damaged, and `exists` for a target that there is.
 */
export async function copyStore(
  from: string,
  to: string,
  driver?: SqliteDriver,
): Promise<{ readonly runs: number; readonly bytes: number }> {
  const usedDriver = driver ?? (await findDriver(from));
  checkDriver(usedDriver, from);
  checkTarget(to);
  const source = openReadOnly(from, usedDriver);
  removeRemains(to);
  const partial = `${to}.${process.pid}-${randomBytes(4).toString('hex')}.partial`;
  try {
    create(partial, to);
    source.prepare('VACUUM INTO ?').run(partial);
    const runs = check(partial, from, usedDriver);
    sync(partial);
    place(partial, to);
    sync(dirname(to));
    return { runs, bytes: statSync(to).size };
  } catch (error) {
    throw storeError(error, from);
  } finally {
    source.close();
    for (const file of [partial, `${partial}-journal`]) rmSync(file, { force: true });
  }
}

/** Removes incomplete copies that killed processes left beside a target. */
function removeRemains(to: string): void {
  const folder = dirname(to);
  const name = `${basename(to)}.`;
  for (const entry of existsSync(folder) ? readdirSync(folder) : []) {
    const [, pid] = /^(\d+)-[0-9a-f]{8}\.partial(?:-journal)?$/.exec(entry.slice(name.length)) ?? [];
    if (!entry.startsWith(name) || pid === undefined || isAlive(Number(pid))) continue;
    rmSync(join(folder, entry), { force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** A log of SQLite beside a file that does not exist would become one of the copy. */
function checkTarget(path: string): void {
  for (const file of [path, `${path}-wal`, `${path}-shm`])
    if (statSync(file, { throwIfNoEntry: false }) !== undefined) throw new StoreError('exists', file);
}

function create(partial: string, path: string): void {
  try {
    closeSync(openSync(partial, 'wx', 0o600));
  } catch (cause) {
    const { code = '' } = cause as NodeJS.ErrnoException;
    throw new StoreError(code === 'ENOENT' ? 'no_folder' : 'no_access', path, code, cause);
  }
}

/** Counts the runs of a copy. @throws StoreError `damaged`, with what SQLite says of it. */
function check(partial: string, from: string, driver: SqliteDriver): number {
  let copy: SqliteDatabase | undefined;
  try {
    copy = new driver.DatabaseSync(partial, { readOnly: true });
    versionIn(copy, from);
    const [first] = copy.prepare('PRAGMA integrity_check').all() as { readonly integrity_check: string }[];
    if (first?.integrity_check !== 'ok') throw new StoreError('damaged', from, first?.integrity_check);
    return (copy.prepare('SELECT count(*) AS runs FROM runs').get() as { readonly runs: number }).runs;
  } finally {
    copy?.close();
  }
}

/** Names the copy. Unlike renaming, this replaces no file that came meanwhile. */
function place(partial: string, path: string): void {
  try {
    linkSync(partial, path);
  } catch (cause) {
    const { code = '' } = cause as NodeJS.ErrnoException;
    throw new StoreError(code === 'EEXIST' ? 'exists' : 'no_access', path, code, cause);
  }
}

/** Writes a file, or the names in a folder, to disk. */
function sync(path: string): void {
  // Folders cannot be opened on Windows.
  if (process.platform === 'win32') return;
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
