import { ownProperty } from '../../graph/json.js';
import type { RunState } from './contract.js';

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

function copyRow<T>(row: T): T {
  return { ...row };
}

/** One table of a run's state, which keeps account of the rows that were touched. */
export class Table<T> {
  readonly #rows: Record<string, T>;
  readonly #copy: (row: T) => T;
  #firstTouch: Touch<T> | undefined;
  #lastTouch: Touch<T> | undefined;
  /** By key, those up to `#lastIndexed`. Only where somebody has looked for one that is not among the first few. */
  #index: Map<string, Touch<T>> | undefined;
  #lastIndexed: Touch<T> | undefined;
  /** A row was deleted. Before that, a key that was touched has a row. */
  #hasDeleted = false;

  /** @param copy copies a row: one function for each table, which then meets few shapes of rows and is fast. */
  constructor(rows: Record<string, T>, copy: (row: T) => T = copyRow) {
    this.#rows = rows;
    this.#copy = copy;
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
    const stoodThere = this.get(key) !== undefined;
    if (stoodThere || this.#hasDeleted) this.#touch(key, stoodThere);
    else this.#addTouch(key, false);
    setRow(this.#rows, key, row);
  }

  /**
   * The row of a key to be changed in place, which takes the place of the one that was handed out: a copy, made once for
   * a step. Whoever has read it in the same step sees what becomes of it.
   * @throws Error where there is no such row.
   */
  draft(key: string): Draft<T> {
    const row = this.need(key);
    const touch = this.#touch(key, true);
    if (touch.draft === row) return row;
    const draft: Draft<T> = this.#copy(row);
    touch.draft = draft;
    setRow(this.#rows, key, draft);
    return draft;
  }

  /** Whether it has no row at all. */
  get isEmpty(): boolean {
    for (const _key in this.#rows) return false;
    return true;
  }

  /** False where there is no such row. */
  delete(key: string): boolean {
    if (this.get(key) === undefined) return false;
    this.#touch(key, true);
    this.#hasDeleted = true;
    delete this.#rows[key];
    return true;
  }

  /** The touch that came first; the others hang on it. */
  get firstTouch(): Touch<T> | undefined {
    return this.#firstTouch;
  }

  /** The touch of a key, made where it was not touched before. */
  #touch(key: string, stoodThere: boolean): Touch<T> {
    let touch = this.#firstTouch;
    for (let count = 0; touch !== undefined && count < FEW; count += 1) {
      if (touch.key === key) return touch;
      touch = touch.next;
    }
    return (touch && this.#indexed().get(key)) ?? this.#addTouch(key, stoodThere);
  }

  #addTouch(key: string, stoodThere: boolean): Touch<T> {
    const touch: Touch<T> = { key, stoodThere, draft: undefined, next: undefined };
    if (this.#lastTouch === undefined) this.#firstTouch = touch;
    else this.#lastTouch.next = touch;
    this.#lastTouch = touch;
    return touch;
  }

  /** The index, brought up to date. */
  #indexed(): Map<string, Touch<T>> {
    this.#index ??= new Map();
    let touch = this.#lastIndexed === undefined ? this.#firstTouch : this.#lastIndexed.next;
    for (; touch !== undefined; touch = touch.next) {
      this.#index.set(touch.key, touch);
      this.#lastIndexed = touch;
    }
    return this.#index;
  }
}

/** Writes a row of a table, whatever its key is. */
export function setRow<T>(rows: Record<string, T>, key: string, row: T): void {
  if (key !== '__proto__') rows[key] = row;
  // The one key that is not a plain property.
  else Object.defineProperty(rows, key, { value: row, writable: true, enumerable: true, configurable: true });
}

/** The tables of a run that has not begun. */
export function emptyTables(): Omit<RunState, 'run' | 'input' | 'tools'> {
  return {
    scopes: {},
    containers: {},
    nodes: {},
    outputs: {},
    inputs: {},
    items: {},
    fields: {},
    undoing: {},
    effects: {},
    generations: {},
    unknown: {},
    abandoned: {},
    failedItems: {},
    submissions: {},
    commands: {},
  };
}
