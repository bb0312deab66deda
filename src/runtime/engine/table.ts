import { ownProperty } from '../../graph/json.js';

/** One table of a run's state, which keeps account of the rows that were touched. */
export class Table<T> {
  readonly #rows: Record<string, T>;
  /** Keys in the order first touched, and whether there was a row before. Most tables are not touched in a step. */
  #touched: Map<string, boolean> | undefined;

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

  /** Tells of each row that is another one than before: how it stands now, or that it is gone. */
  eachChange(put: (key: string, row: T) => void, gone: (key: string) => void): void {
    if (this.#touched === undefined) return;
    for (const [key, stoodThere] of this.#touched) {
      const row = this.get(key);
      if (row !== undefined) put(key, row);
      // A row that comes and goes within one step leaves no trace.
      else if (stoodThere) gone(key);
    }
  }

  #touch(key: string): void {
    this.#touched ??= new Map();
    if (!this.#touched.has(key)) this.#touched.set(key, Object.hasOwn(this.#rows, key));
  }
}
