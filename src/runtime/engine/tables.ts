import type { TableName, Tables } from './rows.js';

/** A row or command that is built property by property: spreading objects is slow. */
export type Draft<T> = { -readonly [K in keyof T]: T[K] };

/**
 * A record of a run that may have a row in a journal. An interface and not a base class: inherited constructors are slow,
 * and there is a record for each step.
 */
export interface Tracked<T extends TableName = TableName> {
  readonly table: T;
  readonly key: string;
  /** It may have changed in the current transition. */
  isDirty: boolean;
  /** It had a row after the latest transition that changed it. */
  isStored: boolean;
  /** Whether it has a row now. */
  hasRow(): boolean;
  /** Its row: plain JSON that later changes of the record do not affect. */
  toRow(): Tables[T];
}

/** A row that is replaced as a whole. */
export class Entry<T extends TableName> implements Tracked<T> {
  readonly table: T;
  readonly key: string;
  isDirty = false;
  isStored = false;
  value: Tables[T] | undefined;

  constructor(table: T, key: string, value: Tables[T] | undefined) {
    this.table = table;
    this.key = key;
    this.value = value;
  }

  hasRow(): boolean {
    return this.value !== undefined;
  }

  toRow(): Tables[T] {
    return this.value as Tables[T];
  }
}

/** Records that changed in the current transition. */
export class ChangeList {
  /** Undefined without changes: a waiting run holds no list. */
  #changed: Tracked[] | undefined;
  /** How many transitions have ended. */
  transitions = 0;

  /** Notes that something may have changed. */
  note(record: Tracked): void {
    if (record.isDirty) return;
    record.isDirty = true;
    if (this.#changed === undefined) this.#changed = [record];
    else this.#changed.push(record);
  }

  /** Ends the transition and returns the changed records, each once, without those that never had a row. */
  take(): readonly Tracked[] {
    this.transitions += 1;
    const changed = this.#changed;
    if (changed === undefined) return NOTHING;
    this.#changed = undefined;
    let count = 0;
    for (const record of changed) {
      record.isDirty = false;
      const hasRow = record.hasRow();
      if (!hasRow && !record.isStored) continue;
      record.isStored = hasRow;
      changed[count] = record;
      count += 1;
    }
    changed.length = count;
    return changed;
  }
}

const NOTHING: readonly Tracked[] = [];

/** A table whose rows are replaced as a whole. */
export class RowTable<T extends TableName> {
  readonly table: T;
  readonly #changes: ChangeList;
  /** Undefined before the first row: most runs use few tables. */
  #entries: Map<string, Entry<T>> | undefined;

  constructor(table: T, changes: ChangeList) {
    this.table = table;
    this.#changes = changes;
  }

  get size(): number {
    return this.#entries?.size ?? 0;
  }

  get(key: string): Tables[T] | undefined {
    return this.#entries?.get(key)?.value;
  }

  /** @throws Error if there is no such row: the state is corrupt. */
  need(key: string): Tables[T] {
    const row = this.get(key);
    if (row === undefined) throw new Error(`the state has no row '${key}' in '${this.table}'`);
    return row;
  }

  put(key: string, row: Tables[T]): void {
    this.#entries ??= new Map();
    let entry = this.#entries.get(key);
    if (entry === undefined) {
      entry = new Entry(this.table, key, row);
      this.#entries.set(key, entry);
    } else entry.value = row;
    this.#changes.note(entry);
  }

  /** False if there is no such row. */
  delete(key: string): boolean {
    const entry = this.#entries?.get(key);
    if (entry === undefined) return false;
    this.#entries?.delete(key);
    entry.value = undefined;
    this.#changes.note(entry);
    return true;
  }

  keys(): Iterable<string> {
    return this.#entries?.keys() ?? [];
  }

  *rows(): Generator<readonly [key: string, row: Tables[T]]> {
    for (const { key, value } of this.entries()) if (value !== undefined) yield [key, value];
  }

  entries(): Iterable<Entry<T>> {
    return this.#entries?.values() ?? [];
  }
}

/** An index of rows: keys of rows by another key. */
export class KeyIndex {
  /** Undefined before the first key. */
  #keys: Map<string, Set<string>> | undefined;

  add(at: string, key: string): void {
    this.#keys ??= new Map();
    const keys = this.#keys.get(at);
    if (keys === undefined) this.#keys.set(at, new Set([key]));
    else keys.add(key);
  }

  remove(at: string, key: string): void {
    const keys = this.#keys?.get(at);
    if (keys?.delete(key) === true && keys.size === 0) this.#keys?.delete(at);
  }

  /** A copy: the index may change during an iteration. */
  all(at: string): readonly string[] {
    return [...(this.#keys?.get(at) ?? [])];
  }

  /** Removes and returns all keys. */
  take(at: string): readonly string[] {
    const keys = this.all(at);
    this.#keys?.delete(at);
    return keys;
  }
}

/** The tables of a run whose rows are replaced as a whole, without those that have an index. */
export const ROW_TABLES = [
  'inputs',
  'items',
  'fields',
  'undoing',
  'undone',
  'generations',
  'unknown',
  'abandoned',
  'submissions',
  'eventIds',
] as const satisfies readonly TableName[];

export type RowTableName = (typeof ROW_TABLES)[number];

/** Tables, created on first use: most runs use few. */
export class RowTables {
  readonly #changes: ChangeList;
  #tables: { [T in RowTableName]?: RowTable<T> } | undefined;

  constructor(changes: ChangeList) {
    this.#changes = changes;
  }

  of<T extends RowTableName>(name: T): RowTable<T> {
    const existing = this.existing(name);
    if (existing !== undefined) return existing;
    const created = new RowTable<T>(name, this.#changes);
    this.#tables ??= {};
    const tables: { [K in T]?: RowTable<K> } = this.#tables;
    tables[name] = created;
    return created;
  }

  /** A table if it exists, for reading on hot paths: an absent table has no rows. */
  existing<T extends RowTableName>(name: T): RowTable<T> | undefined {
    const tables: { [K in T]?: RowTable<K> } | undefined = this.#tables;
    return tables?.[name];
  }

  all(): readonly RowTable<RowTableName>[] {
    return Object.values(this.#tables ?? {});
  }
}

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

/** A binary heap: adding an item and removing the first cost O(log n). */
export class Heap<T> {
  readonly #isBefore: (one: T, other: T) => boolean;
  #items: T[] = [];

  constructor(isBefore: (one: T, other: T) => boolean) {
    this.#isBefore = isBefore;
  }

  get first(): T | undefined {
    return this.#items[0];
  }

  get size(): number {
    return this.#items.length;
  }

  add(item: T): void {
    const items = this.#items;
    let at = items.length;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = items[above] as T;
      if (!this.#isBefore(item, parent)) break;
      items[at] = parent;
      at = above;
    }
    items[at] = item;
  }

  removeFirst(): void {
    const items = this.#items;
    const last = items.pop();
    if (last === undefined || items.length === 0) return;
    let at = 0;
    for (let below = 1; below < items.length; below = 2 * at + 1) {
      const right = below + 1;
      if (right < items.length && this.#isBefore(items[right] as T, items[below] as T)) below = right;
      const child = items[below] as T;
      if (!this.#isBefore(child, last)) break;
      items[at] = child;
      at = below;
    }
    items[at] = last;
  }

  /** Removes all items but these. */
  keep(isWanted: (item: T) => boolean): void {
    const wanted = this.#items.filter(isWanted);
    this.#items = [];
    for (const item of wanted) this.add(item);
  }
}
