import { isJsonObject, type Json } from '../../../graph/json.js';
import type { SqliteDatabase, SqliteValue } from '../../runs/store/sqlite/driver.js';
import { thrownText } from '../../tools/exceptions.js';
import { UpstreamError } from '../../upstream/port.js';

/** A query of a SQLite database. */
export interface SqlQueryOptions {
  /** The path of the database. It is opened for reading only. */
  readonly database: string;
  /** One statement. `:name` is the input of this name; no input is part of the text. */
  readonly sql: string;
  /** More rows are a failure. Default: 1 000. */
  readonly maxRows?: number;
}

/**
 * A tool that reads rows of a SQLite database, to be extended by a class with `@Tool`.
 *
 * @typeParam Input the inputs; see `@Tool`.
 * @typeParam Row a row, by its columns.
 * @example
 * ```ts
 * @Tool({ name: 'open-orders', description: 'Lists open orders', annotations: { readOnlyHint: true } })
 * export class OpenOrders extends SqlQuery<{ customer: string }, { id: number; total: number }> {
 *   constructor() {
 *     super({ database: 'shop.db', sql: 'SELECT id, total FROM orders WHERE customer = :customer' });
 *   }
 * }
 * ```
 */
export class SqlQuery<Input extends object, Row extends object> {
  readonly #options: SqlQueryOptions;
  #database: Promise<SqliteDatabase> | undefined;

  constructor(options: SqlQueryOptions) {
    this.#options = options;
  }

  /**
   * Makes the query.
   *
   * @throws UpstreamError `E_SQL` for a query that fails, that writes, or that has too many rows.
   */
  async execute(input: Input): Promise<{ rows: Row[] }> {
    const { sql, maxRows = 1_000 } = this.#options;
    const values = Object.entries(input as Readonly<Record<string, Json>>).map(([name, value]) => [
      name,
      sqlValue(value),
    ]);
    let rows: unknown[];
    try {
      this.#database ??= this.#open();
      const statement = (await this.#database).prepare(sql);
      rows = statement.all(...(values.length === 0 ? [] : [Object.fromEntries(values)]));
    } catch (error) {
      throw new UpstreamError('E_SQL', `The query failed: ${thrownText(error)}`);
    }
    if (rows.length > maxRows)
      throw new UpstreamError(
        'E_SQL',
        `The query has more than ${maxRows} rows: add a LIMIT, or raise \`maxRows\``,
      );
    return { rows: rows.map((row) => plainRow(row as Readonly<Record<string, unknown>>)) as Row[] };
  }

  async #open(): Promise<SqliteDatabase> {
    const { database } = this.#options;
    try {
      // Most servers query nothing.
      const { findDriver } = await import('../../runs/store/sqlite/driver.js');
      const { DatabaseSync } = await findDriver(database);
      return new DatabaseSync(database, { readOnly: true });
    } catch (error) {
      this.#database = undefined;
      throw error;
    }
  }
}

/** What SQLite has no type for is JSON. */
function sqlValue(value: Json): SqliteValue {
  if (typeof value === 'boolean') return value ? 1 : 0;
  return Array.isArray(value) || isJsonObject(value) ? JSON.stringify(value) : (value as SqliteValue);
}

function plainRow(row: Readonly<Record<string, unknown>>): Record<string, Json> {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      value instanceof Uint8Array ? Buffer.from(value).toString('base64') : (value as Json),
    ]),
  );
}
