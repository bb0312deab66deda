/**
 * Things by their ids, in the order in which they were added. Most runs have one of a kind at a time: that one takes no
 * map.
 */
export class ById<T extends { readonly id: string }> {
  #only: T | undefined;
  /** Where there is more than one, or was. */
  #all: Map<string, T> | undefined;

  get size(): number {
    return this.#all?.size ?? (this.#only === undefined ? 0 : 1);
  }

  get(id: string): T | undefined {
    if (this.#all !== undefined) return this.#all.get(id);
    return this.#only?.id === id ? this.#only : undefined;
  }

  has(id: string): boolean {
    return this.get(id) !== undefined;
  }

  /** Adds a thing, or replaces the one of its id. */
  set(thing: T): void {
    if (this.#all === undefined) {
      if (this.#only === undefined || this.#only.id === thing.id) {
        this.#only = thing;
        return;
      }
      this.#all = new Map([[this.#only.id, this.#only]]);
      this.#only = undefined;
    }
    this.#all.set(thing.id, thing);
  }

  /** Takes a thing away. Nothing where there is none of this id. */
  delete(id: string): T | undefined {
    const thing = this.get(id);
    if (thing === undefined) return undefined;
    this.#all?.delete(id);
    this.#only = undefined;
    return thing;
  }

  clear(): void {
    this.#only = undefined;
    this.#all = undefined;
  }

  /** Lets go of a map that has become empty: one in use is kept, since what comes and goes would make it anew. */
  trim(): void {
    if (this.#all?.size === 0) this.#all = undefined;
  }

  *[Symbol.iterator](): Generator<T> {
    if (this.#all !== undefined) yield* this.#all.values();
    else if (this.#only !== undefined) yield this.#only;
  }
}
