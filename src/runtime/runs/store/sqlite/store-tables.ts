import type { Graph } from '../../../../graph/model.js';
import type { Event } from '../../../engine/events.js';
import type { HostRow, InboxItem, LoadedRun, Row } from '../journal.js';
import type { Head, StoredEntry } from '../reader.js';
import { StoreError } from '../store-error.js';
import type { SqliteDatabase, SqliteValue } from './driver.js';
import { isBusy, storeError } from './store-file.js';
import { keyColumn, keyIn, readEvent } from './texts.js';

const HEAD = 'SELECT n, id, seq, epoch, graph, status, holder FROM runs';

/** Reads the tables of a store, for its journal and for those who only read. Keeps prepared statements. */
export class StoreTables {
  readonly #database: SqliteDatabase;
  readonly #path: string;
  readonly #statements = new Map<string, ReturnType<SqliteDatabase['prepare']>>();

  constructor(database: SqliteDatabase, path: string) {
    this.#database = database;
    this.#path = path;
  }

  /** Returns how many rows it has changed. */
  run(sql: string, ...values: SqliteValue[]): number {
    return this.#safely(() => Number(this.#prepared(sql).run(...values).changes));
  }

  get(sql: string, ...values: SqliteValue[]): Record<string, unknown> | undefined {
    return this.#safely(() => this.#prepared(sql).get(...values)) as Record<string, unknown> | undefined;
  }

  all(sql: string, ...values: SqliteValue[]): Record<string, unknown>[] {
    return this.#safely(() => this.#prepared(sql).all(...values)) as Record<string, unknown>[];
  }

  /** Reads from several tables as of one moment. */
  reading<T>(read: () => T): T {
    this.#safely(() => this.#database.exec('BEGIN'));
    try {
      return read();
    } finally {
      this.#database.exec('COMMIT');
    }
  }

  /** @throws StoreError for faults of the file; of SQLite where it is locked, which is waited for. */
  #safely<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw isBusy(error) ? error : storeError(error, this.#path);
    }
  }

  /** The statements are no longer used. */
  close(): void {
    this.#statements.clear();
  }

  head(run: string): Head | undefined {
    return headIn(this.get(`${HEAD} WHERE id = ?`, keyColumn(run)));
  }

  /** The runs that a name of operators refers to; see `runRef`. */
  headsOf(ref: string): readonly Head[] {
    return this.headsWhere('ref = ?', ref);
  }

  /** Runs by a condition on their table. */
  headsWhere(condition: string, ...values: readonly SqliteValue[]): readonly Head[] {
    return this.all(`${HEAD} WHERE ${condition}`, ...values).flatMap((row) => headIn(row) ?? []);
  }

  load({ n, id, seq, epoch, graph: graphHash }: Head): LoadedRun {
    const rows = this.all('SELECT tab, key, row, refs FROM state WHERE run = ?', n).map(
      ({ tab, key, row, refs }) =>
        ({
          op: 'put',
          table: tab,
          key: keyIn(key),
          row: this.json(row),
          ...(refs === null ? {} : { refs: this.json(refs) }),
        }) as unknown as Row,
    );
    const hostRows = this.all('SELECT tab, key, row FROM host WHERE run = ? ORDER BY n', n).map(
      ({ tab, key, row }) => ({ table: tab, key: keyIn(key), row: this.json(row) }) as unknown as HostRow,
    );
    return { run: id, seq, epoch, graphHash, rows, hostRows };
  }

  graph(hash: string): Graph | undefined {
    const row = this.get('SELECT graph FROM graphs WHERE hash = ?', hash);
    return row === undefined ? undefined : (this.json(row.graph) as Graph);
  }

  /** Entries of a run from one number on, in their order. */
  entries(n: number, from: number, most: number): readonly StoredEntry[] {
    const entries = this.all(
      'SELECT seq, events FROM entries WHERE run = ? AND seq >= ? ORDER BY seq LIMIT ?',
      ...[n, from, most],
    );
    return entries.map(({ seq, events }) => ({
      seq: seq as number,
      events: (this.json(events) as unknown[]).map(
        (event) => readEvent(event, (hash) => this.#text(hash)) as Event,
      ),
    }));
  }

  /** What was sent to a run and not yet consumed, the oldest first. */
  inbox(n: number): readonly InboxItem[] {
    return this.all('SELECT item FROM inbox WHERE run = ? ORDER BY n', n).map(
      ({ item }) => this.json(item) as InboxItem,
    );
  }

  /** Removes a run with the texts and the graph that no other one has. */
  remove({ n, graph }: Head): void {
    for (const table of ['entries', 'state', 'host', 'inbox', 'responses'])
      this.run(`DELETE FROM ${table} WHERE run = ?`, n);
    this.run(
      `DELETE FROM texts WHERE hash IN (SELECT hash FROM uses WHERE run = ?1)
       AND NOT EXISTS (SELECT 1 FROM uses WHERE uses.hash = texts.hash AND run <> ?1)`,
      n,
    );
    this.run('DELETE FROM uses WHERE run = ?', n);
    this.run('DELETE FROM runs WHERE n = ?', n);
    this.run(
      'DELETE FROM graphs WHERE hash = ?1 AND NOT EXISTS (SELECT 1 FROM runs WHERE graph = ?1)',
      graph,
    );
  }

  /** @throws StoreError `damaged`. */
  json(column: unknown): unknown {
    const text = typeof column === 'string' ? column : this.#text(column as Uint8Array);
    try {
      return JSON.parse(text);
    } catch (cause) {
      throw this.#damaged('a value is not JSON', cause);
    }
  }

  #text(hash: Uint8Array): string {
    const row = this.get('SELECT text FROM texts WHERE hash = ?', hash);
    if (row === undefined) throw this.#damaged('a value is missing');
    return row.text as string;
  }

  #damaged(why: string, cause?: unknown): StoreError {
    return new StoreError('damaged', this.#path, why, cause);
  }

  #prepared(sql: string): ReturnType<SqliteDatabase['prepare']> {
    const prepared = this.#statements.get(sql) ?? this.#database.prepare(sql);
    this.#statements.set(sql, prepared);
    return prepared;
  }
}

function headIn(row: Record<string, unknown> | undefined): Head | undefined {
  return row === undefined ? undefined : ({ ...row, id: keyIn(row.id) } as unknown as Head);
}
