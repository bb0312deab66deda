import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { JsonObject } from '../../src/graph/json.js';
import type { Graph } from '../../src/graph/model.js';
import { JournalRunStore } from '../../src/runtime/runs/journal-run-store.js';
import {
  findDriver,
  type SqliteDatabase,
  type SqliteDriver,
  type SqliteValue,
} from '../../src/runtime/runs/store/sqlite/driver.js';
import { SqliteJournal } from '../../src/runtime/runs/store/sqlite/sqlite-journal.js';
import type { SqliteJournalOptions } from '../../src/runtime/runs/store/sqlite/store-file.js';
import type { CallPort } from '../../src/runtime/tools/port.js';
import { portOf, startStored, storeOptions } from './host.js';

// Runs in a file, and their writes without them.

/** When a commit counts as safe; see `SqliteJournalOptions`. */
export type Synchronous = 'full' | 'normal';

/** A folder for files of stores. */
export class Folder {
  readonly #path = mkdtempSync(path.join(tmpdir(), 'stepwright-store-'));
  #files = 0;

  /** The path of a file that does not exist yet. */
  newFile(): string {
    this.#files += 1;
    return path.join(this.#path, `${this.#files}.sqlite`);
  }

  remove(): void {
    rmSync(this.#path, { recursive: true });
  }
}

/** A server's store of runs in a file. */
export class OpenStore {
  readonly runs: JournalRunStore;
  readonly #path: string;

  /** @param prefix of the ids of its runs. */
  static async at(
    file: string,
    {
      calls = portOf(),
      prefix = 'run',
      ...options
    }: { calls?: CallPort; prefix?: string } & SqliteJournalOptions = {},
  ): Promise<OpenStore> {
    return new OpenStore(file, await SqliteJournal.open(file, options), calls, prefix);
  }

  private constructor(file: string, journal: SqliteJournal, calls: CallPort, prefix: string) {
    this.#path = file;
    this.runs = new JournalRunStore(
      { hasRuns: true, open: async () => ({ journal, close: () => journal.close() }) },
      storeOptions(calls, prefix),
    );
  }

  /** Runs a workflow until it ends. @throws Error if it has not succeeded, since its costs would mean nothing. */
  async run(graph: Graph, input: JsonObject = {}, signal?: AbortSignal): Promise<void> {
    await this.#until('completed', graph, input, signal);
  }

  /** Starts a run that asks. @throws Error if it does not wait. */
  async ask(graph: Graph): Promise<void> {
    await this.#until('waiting', graph);
  }

  async #until(wanted: string, graph: Graph, input: JsonObject = {}, signal?: AbortSignal): Promise<void> {
    const started = await startStored(this.runs, graph, input, signal);
    const status = started.ok ? started.envelope.status : started.failure.message;
    if (status !== wanted) throw new Error(`the run is ${status}, not ${wanted}`);
  }

  async close(): Promise<void> {
    await this.runs.close();
  }

  /** Closes it. Returns the size of its file in bytes; closing it moves the log of SQLite there. */
  async bytes(): Promise<number> {
    await this.close();
    return statSync(this.#path).size;
  }
}

/** What one transaction wrote. */
type Transaction = readonly { readonly sql: string; readonly values: readonly SqliteValue[] }[];

/** The transactions in which a store writes what `work` does, from its first to its last one. */
export async function writesOf(
  file: string,
  synchronous: Synchronous,
  work: (store: OpenStore) => Promise<unknown>,
  calls?: CallPort,
): Promise<readonly Transaction[]> {
  const { DatabaseSync } = await findDriver(file);
  const transactions: Transaction[] = [];
  let current: Transaction[number][] = [];
  class Recorded {
    readonly #database: SqliteDatabase;

    constructor(name: string) {
      this.#database = new DatabaseSync(name);
    }

    exec(sql: string): void {
      this.#database.exec(sql);
      if (sql.startsWith('BEGIN')) current = [];
      else if (sql === 'COMMIT') transactions.push(current);
    }

    prepare(sql: string) {
      const statement = this.#database.prepare(sql);
      return {
        run: (...values: SqliteValue[]) => {
          current.push({ sql, values });
          return statement.run(...values);
        },
        get: (...values: SqliteValue[]) => statement.get(...values),
        all: (...values: SqliteValue[]) => statement.all(...values),
      };
    }

    close(): void {
      this.#database.close();
    }
  }
  const driver: SqliteDriver = { DatabaseSync: Recorded };
  const options = { driver, synchronous, ...(calls === undefined ? {} : { calls }) };
  const store = await OpenStore.at(file, options);
  transactions.length = 0;
  await work(store);
  const done = transactions.filter(({ length }) => length > 0);
  await store.close();
  return done;
}

/** An open file with the tables of a store, without a store. */
export async function rawFile(file: string, synchronous: Synchronous): Promise<SqliteDatabase> {
  await (await SqliteJournal.open(file)).close();
  const { DatabaseSync } = await findDriver(file);
  const database = new DatabaseSync(file);
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous}`);
  return database;
}

/** Writes the same again, each statement prepared once. */
export function replay(database: SqliteDatabase, transactions: readonly Transaction[]): void {
  const statements = new Map<string, ReturnType<SqliteDatabase['prepare']>>();
  for (const transaction of transactions) {
    database.exec('BEGIN IMMEDIATE');
    for (const { sql, values } of transaction) {
      let statement = statements.get(sql);
      if (statement === undefined) {
        statement = database.prepare(sql);
        statements.set(sql, statement);
      }
      statement.run(...values);
    }
    database.exec('COMMIT');
  }
}
