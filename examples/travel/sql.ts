import type { DatabaseSyncInstance, SqliteModule } from '@photostructure/sqlite';
import type { z } from 'zod';

/** What a column holds. */
export type SqlValue = string | number | null;

/**
 * A SQLite database: Node's own where this Node has one, else the package with the same interface. Rows are checked
 * against a schema as they come out, so that what a query selects and what its reader expects cannot drift apart.
 */
export class Sql {
  readonly #database: DatabaseSyncInstance;

  private constructor(database: DatabaseSyncInstance) {
    this.#database = database;
  }

  /** @param file Path of the database, made where there is none; `:memory:` is gone when it is closed. */
  static async open(file: string): Promise<Sql> {
    const { DatabaseSync } = await sqlite();
    const sql = new Sql(new DatabaseSync(file));
    // Another process may have the same file open.
    sql.execute('PRAGMA busy_timeout = 5000; PRAGMA foreign_keys = ON;');
    return sql;
  }

  /** Carries out statements that take and give no values. */
  execute(statements: string): void {
    this.#database.exec(statements);
  }

  /** Carries out one statement that gives no rows. */
  run(statement: string, ...values: readonly SqlValue[]): void {
    this.#database.prepare(statement).run(...values);
  }

  /** The rows of a query. */
  all<S extends z.ZodType>(row: S, query: string, ...values: readonly SqlValue[]): z.output<S>[] {
    return this.#database
      .prepare(query)
      .all(...values)
      .map((found) => row.parse(found));
  }

  /** The first row of a query, or `undefined` where it has none. */
  first<S extends z.ZodType>(row: S, query: string, ...values: readonly SqlValue[]): z.output<S> | undefined {
    const found = this.#database.prepare(query).get(...values);
    return found === undefined ? undefined : row.parse(found);
  }

  /** The one row of a statement that always gives one, such as a count or an `INSERT … RETURNING`. */
  one<S extends z.ZodType>(row: S, query: string, ...values: readonly SqlValue[]): z.output<S> {
    return row.parse(this.#database.prepare(query).get(...values));
  }

  /** Writes everything that `work` writes, or, when it throws, nothing. */
  transaction<T>(work: () => T): T {
    this.execute('BEGIN IMMEDIATE');
    try {
      const result = work();
      this.execute('COMMIT');
      return result;
    } catch (error) {
      this.execute('ROLLBACK');
      throw error;
    }
  }

  close(): void {
    this.#database.close();
  }
}

async function sqlite(): Promise<Pick<SqliteModule, 'DatabaseSync'>> {
  const builtIn = process.getBuiltinModule('node:sqlite') as SqliteModule | undefined;
  return builtIn ?? import('@photostructure/sqlite');
}
