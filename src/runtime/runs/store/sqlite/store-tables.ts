import { createHash } from 'node:crypto';
import { hashGraph } from '../../../../graph/canonical.js';
import type { Json } from '../../../../graph/json.js';
import type { Graph } from '../../../../graph/model.js';
import type { Event } from '../../../engine/events.js';
import { runRef } from '../../../tools/port.js';
import type { HostRow, InboxItem, LoadedRun, Row } from '../journal.js';
import type { Head, StoredEntry } from '../reader.js';
import { StoreError } from '../store-error.js';
import type { SqliteDatabase, SqliteValue } from './driver.js';
import { identitySum, keyColumn, keyIn, RunSums, readEvent, sumOf } from './encode-entry.js';
import { isBusy, storeError, transaction } from './store-file.js';

const HEAD = `SELECT n, id, ref, workflow, started_at AS startedAt, quota, access, alias, identity, seq, epoch, graph, status,
  holder, sum, sum_seq AS sumSeq FROM runs`;

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
    return this.#safely(() => transaction(this.#database, read, 'BEGIN'));
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

  /** @throws StoreError `damaged`. */
  head(run: string): Head | undefined {
    const row = this.get(`${HEAD} WHERE id = ?`, keyColumn(run));
    if (row !== undefined) return this.#checked(row);
    // Its row may be there, and the index of the ids without it.
    const [match] = this.all('SELECT id FROM runs WHERE ref = ?', runRef(run));
    if (match !== undefined) throw this.damaged('the index of the ids of runs has gaps');
    return undefined;
  }

  /** The runs that a name of operators refers to; see `runRef`. @throws StoreError `damaged`. */
  headsOf(ref: string): readonly Head[] {
    return this.all(`${HEAD} WHERE ref = ?`, ref).map((row) => this.#checked(row));
  }

  /** Runs by a condition on their table, also damaged ones. */
  headsWhere(condition: string, ...values: readonly SqliteValue[]): readonly Head[] {
    return this.all(`${HEAD} WHERE ${condition}`, ...values).map(headIn);
  }

  #checked(row: Record<string, unknown>): Head {
    let head: Head;
    try {
      head = headIn(row);
    } catch (cause) {
      throw this.damaged('the id of a run', cause);
    }
    if (row.identity === null || row.identity === identitySum(head)) return head;
    throw this.damaged('the row of a run was changed');
  }

  /**
   * Loads a run as it was written.
   *
   * @param sums gets the checksums of its rows.
   * @throws StoreError `damaged`.
   */
  load(head: Head, sums = new RunSums()): LoadedRun {
    const { id, seq, epoch, graph: graphHash } = head;
    const { state, host } = this.rowsOf(head, sums);
    const rows = state.map(
      ({ tab, key, row, refs }) =>
        ({
          op: 'put',
          table: tab,
          key: keyIn(key),
          row: this.json(row),
          ...(refs === null ? {} : { refs: this.json(refs) }),
        }) as unknown as Row,
    );
    const hostRows = host.map(
      ({ tab, key, row }) => ({ table: tab, key: keyIn(key), row: this.json(row) }) as unknown as HostRow,
    );
    return { run: id, seq, epoch, graphHash, rows, hostRows };
  }

  /**
   * The rows of a run, of its state and of its host.
   *
   * @param sums gets their checksums.
   * @throws StoreError `damaged`.
   */
  rowsOf(
    { n, seq, sum, sumSeq }: Head,
    sums: RunSums,
  ): Readonly<Record<'state' | 'host', Record<string, unknown>[]>> {
    const state = this.all('SELECT tab, key, row, refs, owes, command, due_at FROM state WHERE run = ?', n);
    const host = this.all('SELECT tab, key, row FROM host WHERE run = ? ORDER BY n', n);
    for (const row of state) sums.addState(row);
    for (const row of host) sums.addHost(row);
    // An earlier version has no checksums, or wrote the last entry without them.
    if (sumSeq === seq ? sum !== sums.total : this.#lastSeq(n) !== seq)
      throw this.damaged('rows of a run are missing, or were changed');
    return { state, host };
  }

  #lastSeq(n: number): unknown {
    return this.get('SELECT max(seq) AS seq FROM entries WHERE run = ?', n)?.seq;
  }

  /** @throws StoreError `damaged`. */
  graph(hash: string): Graph | undefined {
    const row = this.get('SELECT graph FROM graphs WHERE hash = ?', hash);
    if (row === undefined) return undefined;
    const graph = this.json(row.graph) as Graph;
    if (hashGraph(graph) !== hash) throw this.damaged('a workflow was changed');
    return graph;
  }

  /** Entries of a run from one number on, in their order. */
  entries(n: number, from: number, most: number): readonly StoredEntry[] {
    const entries = this.all(
      'SELECT seq, epoch, events, sum FROM entries WHERE run = ? AND seq >= ? ORDER BY seq LIMIT ?',
      ...[n, from, most],
    );
    return entries.map(({ seq, epoch, events, sum }, index) => {
      if (seq !== from + index) throw this.damaged(`entry ${from + index} of a run is missing`);
      this.#checkSum(sum, seq, epoch, events);
      return {
        seq: seq as number,
        events: (this.json(events) as unknown[]).map(
          (event) => readEvent(event, (hash) => this.#text(hash)) as Event,
        ),
      };
    });
  }

  /** What was sent to a run and not yet consumed, the oldest first. */
  inbox(n: number): readonly InboxItem[] {
    return this.all('SELECT id, item, sum FROM inbox WHERE run = ? ORDER BY n', n).map(
      ({ id, item, sum }) => {
        this.#checkSum(sum, id, item);
        return this.json(item) as InboxItem;
      },
    );
  }

  /** The responses to the items that a run has consumed, by their ids. */
  responses(n: number): ReadonlyMap<string, Json> {
    const rows = this.all('SELECT id, response, sum FROM responses WHERE run = ?', n);
    return new Map(rows.map((row) => [keyIn(row.id), this.#responseIn(row)]));
  }

  response(run: string, item: string): Json | undefined {
    const row = this.get(
      'SELECT id, response, sum FROM responses WHERE run = (SELECT n FROM runs WHERE id = ?) AND id = ?',
      ...[keyColumn(run), keyColumn(item)],
    );
    return row && this.#responseIn(row);
  }

  #responseIn({ id, response, sum }: Record<string, unknown>): Json {
    this.#checkSum(sum, id, response);
    return this.json(response) as Json;
  }

  /** Null for a row of an earlier version. */
  #checkSum(sum: unknown, ...columns: readonly unknown[]): void {
    if (sum !== null && sum !== sumOf(...columns)) throw this.damaged('a row was changed');
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
      throw this.damaged('a value is not JSON', cause);
    }
  }

  #text(hash: Uint8Array): string {
    const row = this.get('SELECT text FROM texts WHERE hash = ?', hash);
    if (row === undefined) throw this.damaged('a value is missing');
    const text = row.text as string;
    if (!createHash('sha256').update(text).digest().equals(hash)) throw this.damaged('a value was changed');
    return text;
  }

  damaged(why: string, cause?: unknown): StoreError {
    return new StoreError('damaged', this.#path, why, cause);
  }

  #prepared(sql: string): ReturnType<SqliteDatabase['prepare']> {
    const prepared = this.#statements.get(sql) ?? this.#database.prepare(sql);
    this.#statements.set(sql, prepared);
    return prepared;
  }
}

function headIn(row: Record<string, unknown>): Head {
  return { ...row, id: keyIn(row.id) } as unknown as Head;
}
