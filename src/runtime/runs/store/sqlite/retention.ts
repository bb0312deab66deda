import { defined } from '../../../../graph/defined.js';
import type { Retention } from '../journal.js';
import type { SqliteDriver } from './driver.js';
import { checkFile, openStoreFile, storeError, transaction, whenFree } from './store-file.js';
import { StoreTables } from './store-tables.js';

/** How many runs are removed in one transaction: servers wait for it. */
export const BATCH = 50;

/** How many runs do not stay. */
export function countExpired(tables: StoreTables, { endedBefore, keep }: Retention): number {
  const count = (condition: string, ...values: readonly number[]): number =>
    Number(tables.get(`SELECT count(*) AS runs FROM runs WHERE ${condition}`, ...values)?.runs);
  const old = endedBefore === undefined ? 0 : count('ended_at <= ?', endedBefore);
  const excess = keep === undefined ? 0 : count('ended IS NOT NULL') - keep;
  return Math.max(0, old, excess);
}

/**
 * Removes runs that do not stay, the first that ended first, with the graphs and values that no other run has. Works in
 * small transactions, so that servers go on meanwhile.
 *
 * @returns how many were removed.
 * @throws StoreError for a file that cannot be used.
 */
export async function pruneStore(path: string, retention: Retention, driver?: SqliteDriver): Promise<number> {
  checkFile(path);
  const { database } = await openStoreFile(path, defined({ driver }));
  const tables = new StoreTables(database, path);
  try {
    for (let removed = 0; ; ) {
      const batch = await whenFree(path, () => transaction(database, () => removeExpired(tables, retention)));
      removed += batch;
      if (batch < BATCH) return removed;
    }
  } catch (error) {
    throw storeError(error, path);
  } finally {
    tables.close();
    database.close();
  }
}

/** Removes a batch within a transaction. Returns how many there were. */
export function removeExpired(tables: StoreTables, { endedBefore, keep }: Retention): number {
  const old =
    endedBefore === undefined
      ? []
      : tables.headsWhere('ended_at <= ? ORDER BY ended_at LIMIT ?', endedBefore, BATCH);
  const excess = keep === undefined ? 0 : Math.min(BATCH, countExpired(tables, { keep }));
  const heads = old.length > 0 ? old : tables.headsWhere('ended IS NOT NULL ORDER BY ended LIMIT ?', excess);
  for (const head of heads) tables.remove(head);
  return heads.length;
}
