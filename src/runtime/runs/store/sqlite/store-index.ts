import type { Retention, RunIndex } from '../journal.js';
import { keyIn } from './encode-entry.js';
import { BATCH, countExpired, removeExpired } from './retention.js';
import type { StoreTables } from './store-tables.js';

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

  /** @param prefix which is counted as a whole; see `run-sums.ts`. */
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
