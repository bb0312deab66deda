import { defined } from '../../../../graph/defined.js';
import type { Retention, RunIndex } from '../journal.js';
import type { SqliteDriver } from './driver.js';
import { keyIn } from './encode-entry.js';
import { checkFile, openStoreFile, storeError, transaction, whenFree } from './store-file.js';
import { StoreTables } from './store-tables.js';

/** What an index needs of its journal. */
interface IndexedStore {
  readonly tables: StoreTables;
  /** Works within the next transaction of the journal. */
  write(work: () => void): Promise<void>;
  check(): void;
}

/** Beyond every number of a run. */
const ALL = Number.MAX_SAFE_INTEGER;

/** Finds the runs of a store by the indexes of its tables: what it costs does not grow with the other runs. */
export class StoreIndex implements RunIndex {
  readonly #store: IndexedStore;

  constructor(store: IndexedStore) {
    this.#store = store;
  }

  async accessTo(run: string): Promise<string | undefined> {
    return this.#tables.head(run)?.access ?? undefined;
  }

  async listed(
    quota: string,
    { before, isOpen, limit }: Parameters<RunIndex['listed']>[1],
  ): Promise<readonly string[]> {
    const end = before === undefined ? ALL : this.#tables.head(before)?.n;
    if (end === undefined) return [];
    const open = isOpen === undefined ? '' : ` AND is_open = ${isOpen ? 1 : 0}`;
    const runs = this.#tables.all(
      `SELECT id FROM runs WHERE quota = ? AND n < ?${open} ORDER BY n DESC LIMIT ?`,
      ...[quota, end, limit],
    );
    return runs.map(({ id }) => keyIn(id));
  }

  async open(quota: string): Promise<{ readonly runs: number; readonly questions: number }> {
    const { runs = 0, questions = 0 } = this.#counts(quota);
    return { runs, questions };
  }

  /** @param prefix which is counted as a whole. */
  async openOf(prefix: string): Promise<number> {
    return this.#counts(`${prefix}*`).runs ?? 0;
  }

  async byAlias(alias: string): Promise<string | undefined> {
    const row = this.#tables.get('SELECT id FROM runs WHERE alias = ?', alias);
    return row === undefined ? undefined : keyIn(row.id);
  }

  async openWithAlias(): Promise<readonly string[]> {
    const runs = this.#tables.all('SELECT id FROM runs WHERE alias IS NOT NULL AND is_open = 1 ORDER BY n');
    return runs.map(({ id }) => keyIn(id));
  }

  async nextDue(now: number): Promise<number | undefined> {
    const row = this.#tables.get(
      `SELECT due_at AS dueAt FROM state JOIN runs ON n = run
       WHERE due_at > ? AND owes IN ('startTimer', 'requestAction') AND is_open = 1 AND holder IS NULL
       ORDER BY due_at LIMIT 1`,
      now,
    );
    return row?.dueAt as number | undefined;
  }

  async expire(retention: Retention): Promise<void> {
    for (let removed = BATCH; removed === BATCH; ) {
      if (countExpired(this.#tables, retention) === 0) return;
      await this.#store.write(() => {
        removed = removeExpired(this.#tables, retention);
      });
    }
  }

  #counts(quota: string): { readonly runs?: number; readonly questions?: number } {
    return this.#tables.get('SELECT runs, questions FROM counts WHERE quota = ?', quota) ?? {};
  }

  get #tables(): StoreTables {
    this.#store.check();
    return this.#store.tables;
  }
}

/** How many runs are removed in one transaction: servers wait for it. */
const BATCH = 50;

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
function removeExpired(tables: StoreTables, { endedBefore, keep }: Retention): number {
  const old =
    endedBefore === undefined
      ? []
      : tables.headsWhere('ended_at <= ? ORDER BY ended_at LIMIT ?', endedBefore, BATCH);
  const excess = keep === undefined ? 0 : Math.min(BATCH, countExpired(tables, { keep }));
  const heads = old.length > 0 ? old : tables.headsWhere('ended IS NOT NULL ORDER BY ended LIMIT ?', excess);
  for (const head of heads) tables.remove(head);
  return heads.length;
}
