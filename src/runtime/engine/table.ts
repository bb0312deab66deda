import { ownProperty } from '../../graph/json.js';

/** A row that may still be changed in place. */
export type Draft<T> = { -readonly [K in keyof T]: T[K] };

/** What is known of a key that was touched. */
export interface Touch<T> {
  readonly key: string;
  /** There was a row before. */
  readonly stoodThere: boolean;
  /** The row that was made to be changed in place. */
  draft: T | undefined;
  /** The one touched behind it. */
  next: Touch<T> | undefined;
}

/** So many touches are looked through one by one: most steps touch a key or two of a table. */
const FEW = 6;

/** One table of a run's state, which keeps account of the rows that were touched. */
export class Table<T> {
  readonly #rows: Record<string, T>;
  #firstTouch: Touch<T> | undefined;
  #lastTouch: Touch<T> | undefined;
  #touches = 0;
  /** By key, where they are more than a few. */
  #touchOf: Map<string, Touch<T>> | undefined;

  constructor(rows: Record<string, T>) {
    this.#rows = rows;
  }

  get(key: string): T | undefined {
    const row = this.#rows[key];
    // All that is inherited are functions, which no row is, and the prototype.
    return typeof row === 'function' || key === '__proto__' ? ownProperty(this.#rows, key) : row;
  }

  /** @throws Error where there is no such row: the state is not of this run. */
  need(key: string): T {
    const row = this.get(key);
    if (row === undefined) throw new Error(`the state has no row for '${key}'`);
    return row;
  }

  put(key: string, row: T): void {
    if (this.#knownTouch(key) === undefined) this.#addTouch(key, this.get(key) !== undefined);
    this.#set(key, row);
  }

  /**
   * The row of a key to be changed in place, which takes the place of the one that was handed out: a copy, made once for
   * a step. Whoever has read it in the same step sees what becomes of it.
   * @throws Error where there is no such row.
   */
  draft(key: string): Draft<T> {
    const row = this.need(key);
    const touch = this.#knownTouch(key) ?? this.#addTouch(key, true);
    if (touch.draft === row) return row;
    const draft = { ...row };
    touch.draft = draft;
    this.#set(key, draft);
    return draft;
  }

  /** False where there is no such row. */
  delete(key: string): boolean {
    if (this.get(key) === undefined) return false;
    if (this.#knownTouch(key) === undefined) this.#addTouch(key, true);
    delete this.#rows[key];
    return true;
  }

  /** The touch that came first; the others hang on it. */
  get firstTouch(): Touch<T> | undefined {
    return this.#firstTouch;
  }

  #addTouch(key: string, stoodThere: boolean): Touch<T> {
    const touch: Touch<T> = { key, stoodThere, draft: undefined, next: undefined };
    if (this.#lastTouch === undefined) this.#firstTouch = touch;
    else this.#lastTouch.next = touch;
    this.#lastTouch = touch;
    this.#touches += 1;
    if (this.#touches > FEW) this.#index(touch);
    return touch;
  }

  #knownTouch(key: string): Touch<T> | undefined {
    if (this.#touchOf !== undefined) return this.#touchOf.get(key);
    for (let touch = this.#firstTouch; touch !== undefined; touch = touch.next) {
      if (touch.key === key) return touch;
    }
    return undefined;
  }

  #index(last: Touch<T>): void {
    if (this.#touchOf === undefined) {
      this.#touchOf = new Map();
      for (let touch = this.#firstTouch; touch !== undefined; touch = touch.next) {
        this.#touchOf.set(touch.key, touch);
      }
    } else this.#touchOf.set(last.key, last);
  }

  #set(key: string, row: T): void {
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
}
