import { ownProperty } from '../../graph/json.js';

/** One table of a run's state, which keeps account of the rows that were touched. */
export class Table<T> {
  readonly #rows: Record<string, T>;
  /** Keys in the order first touched, and whether there was a row before. */
  readonly #touched = new Map<string, boolean>();

  constructor(rows: Record<string, T>) {
    this.#rows = rows;
  }

  get(key: string): T | undefined {
    return ownProperty(this.#rows, key);
  }

  /** @throws Error where there is no such row: the state is not of this run. */
  need(key: string): T {
    const row = this.get(key);
    if (row === undefined) throw new Error(`the state has no row for '${key}'`);
    return row;
  }

  put(key: string, row: T): void {
    this.#touch(key);
    if (key !== '__proto__') this.#rows[key] = row;
    // The one key that is not a plain property.
    else
      Object.defineProperty(this.#rows, key, {
        value: row,
        writable: true,
        enumerable: true,
        configurable: true,
      });
  }

  delete(key: string): void {
    if (!Object.hasOwn(this.#rows, key)) return;
    this.#touch(key);
    delete this.#rows[key];
  }

  /** The rows that are others than before, as they stand now; without one where the row is gone. */
  *changes(): Generator<{ readonly key: string; readonly row?: T }> {
    for (const [key, stoodThere] of this.#touched) {
      const row = this.get(key);
      if (row !== undefined) yield { key, row };
      // A row that comes and goes within one step leaves no trace.
      else if (stoodThere) yield { key };
    }
  }

  #touch(key: string): void {
    if (!this.#touched.has(key)) this.#touched.set(key, Object.hasOwn(this.#rows, key));
  }
}
