import type { Graph } from '../../../../graph/model.js';
import type { RunStatus } from '../../../engine/events.js';
import type { InboxItem, LoadedRun, Retention } from '../journal.js';
import {
  checkDriver,
  findDriver,
  type SqliteDatabase,
  type SqliteDriver,
  type SqliteValue,
} from './driver.js';
import { countExpired } from './retention.js';
import { openReadOnly, storeError } from './store-file.js';
import { PAUSED, type StoreMetrics, storeMetrics, WAITS } from './store-metrics.js';
import { type Head, type StoredEntry, StoreTables } from './store-tables.js';

/** Which runs are listed. */
export interface RunFilter {
  /** The states of runs. Default: all. */
  readonly state?: StoredState;
  /** The name of a workflow. Default: all. */
  readonly workflow?: string;
  /** Runs that began before the run of this number. Default: all. */
  readonly before?: number;
  /** How many are listed at most. */
  readonly limit: number;
}

/**
 * A status of the engine. `waiting` is a run that goes on with an answer or a time only, `paused` one that owes a call and
 * that no process holds: an operator decides about the call. `running` is any other open run.
 */
export type StoredState = RunStatus | 'waiting';

/** A run, as the list of a store has it. */
export interface ListedRow {
  /** Its number: later runs have greater ones. */
  readonly n: number;
  /** Names it for operators; see `runRef`. */
  readonly ref: string;
  readonly workflow: string;
  readonly state: StoredState;
  /** In ms since the epoch. */
  readonly startedAt: number;
  readonly endedAt: number | undefined;
}

/** A run with what is needed to show it, as of one moment. */
export interface ReadRun {
  readonly head: Head;
  readonly loaded: LoadedRun;
  readonly graph: Graph;
  /** What was sent to it and not yet consumed. */
  readonly inbox: readonly InboxItem[];
}

/** Reads a store without changing it. A server that uses the file does not wait for it, nor does it wait for the server. */
export class StoreReader {
  readonly path: string;
  readonly #database: SqliteDatabase;
  readonly #tables: StoreTables;

  /**
   * @param path of a file that exists.
   * @throws StoreError for a file that is not a store; see its `problem`.
   */
  static async open(path: string, driver?: SqliteDriver): Promise<StoreReader> {
    const found = driver ?? (await findDriver(path));
    checkDriver(found, path);
    return new StoreReader(path, openReadOnly(path, found));
  }

  private constructor(path: string, database: SqliteDatabase) {
    this.path = path;
    this.#database = database;
    this.#tables = new StoreTables(database, path);
  }

  /** Lists runs, the latest first. */
  list({ state, workflow, before, limit }: RunFilter): readonly ListedRow[] {
    const conditions: string[] = [];
    const values: SqliteValue[] = [];
    const where = (condition: string, ...given: SqliteValue[]): void => {
      conditions.push(condition);
      values.push(...given);
    };
    if (state === 'waiting') where(`is_open = 1 AND ${WAITS}`);
    else if (state === 'paused') where(`is_open = 1 AND ${PAUSED}`);
    else if (state === 'running') where(`is_open = 1 AND NOT ${WAITS} AND NOT ${PAUSED}`);
    else if (state !== undefined) where('status = ?', state);
    if (workflow !== undefined) where('workflow = ?', workflow);
    if (before !== undefined) where('n < ?', before);
    const all = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
    return this.#reading(() =>
      this.#tables
        .all(
          `SELECT n, ref, workflow, status, started_at, ended_at, is_open, ${WAITS} AS waits,
           ${PAUSED} AS paused
           FROM runs ${all} ORDER BY n DESC LIMIT ?`,
          ...values,
          limit,
        )
        .map(listedRow),
    );
  }

  /** The runs that a name may refer to: the `ref` of a run, or its id. */
  find(name: string): readonly Head[] {
    return this.#reading(() => {
      const named = this.#tables.headsOf(name);
      const head = named.length > 0 ? undefined : this.#tables.head(name);
      return head === undefined ? named : [head];
    });
  }

  /** A run as it is now; undefined if it was removed meanwhile. */
  read({ id }: Head): ReadRun | undefined {
    return this.#reading(() => {
      const head = this.#tables.head(id);
      const graph = head && this.#tables.graph(head.graph);
      if (head === undefined || graph === undefined) return undefined;
      return { head, graph, loaded: this.#tables.load(head), inbox: this.#tables.inbox(head.n) };
    });
  }

  /** Entries of the log of a run from a number on, in their order. */
  entries({ n }: Head, from: number, most: number): readonly StoredEntry[] {
    return this.#reading(() => this.#tables.entries(n, from, most));
  }

  /** How many runs would not stay. */
  countExpired(retention: Retention): number {
    return this.#reading(() => countExpired(this.#tables, retention));
  }

  /** How the store does at a time, in ms since the epoch. */
  metrics(now: number): StoreMetrics {
    return this.#reading(() => storeMetrics(this.#tables, now));
  }

  close(): void {
    this.#tables.close();
    this.#database.close();
  }

  #reading<T>(read: () => T): T {
    try {
      return this.#tables.reading(read);
    } catch (error) {
      throw storeError(error, this.path);
    }
  }
}

function listedRow(row: Record<string, unknown>): ListedRow {
  const { n, ref, workflow, status, started_at: startedAt, ended_at: endedAt } = row;
  const open = row.waits === 1 ? 'waiting' : row.paused === 1 ? 'paused' : 'running';
  return {
    ...{ n, ref, workflow, startedAt, endedAt: endedAt ?? undefined },
    state: row.is_open === 1 ? open : status,
  } as ListedRow;
}
