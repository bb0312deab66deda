/**
 * A map with string keys, in insertion order. Most runs have at most one entry at a time, which needs no hash table.
 */
export class SmallMap<T> {
  #key = '';
  #only: T | undefined;
  /** Used from the second entry on, until the map is empty. */
  #all: Map<string, T> | undefined;

  get size(): number {
    return this.#all?.size ?? (this.#only === undefined ? 0 : 1);
  }

  get(key: string): T | undefined {
    if (this.#all !== undefined) return this.#all.get(key);
    return this.#key === key ? this.#only : undefined;
  }

  has(key: string): boolean {
    return this.get(key) !== undefined;
  }

  /** Adds a value, or replaces that of the key. */
  set(key: string, value: T): void {
    if (this.#all === undefined) {
      if (this.#only === undefined || this.#key === key) {
        this.#key = key;
        this.#only = value;
        return;
      }
      this.#all = new Map([[this.#key, this.#only]]);
      this.#only = undefined;
    }
    this.#all.set(key, value);
  }

  /** Removes a value and returns it. */
  delete(key: string): T | undefined {
    const value = this.get(key);
    if (value === undefined) return undefined;
    if (this.#all === undefined) this.#only = undefined;
    else {
      this.#all.delete(key);
      if (this.#all.size === 0) this.#all = undefined;
    }
    return value;
  }

  clear(): void {
    this.#only = undefined;
    this.#all = undefined;
  }

  keys(): Iterable<string> {
    return this.#all?.keys() ?? (this.#only === undefined ? [] : [this.#key]);
  }

  values(): Iterable<T> {
    return this.#all?.values() ?? (this.#only === undefined ? [] : [this.#only]);
  }
}
