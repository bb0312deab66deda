import { type Json, type JsonObject, keysOf, pointerKey } from '../../graph/json.js';
import { getOrInsert } from '../../graph/maps.js';
import { sha256Hex } from '../../graph/sha256.js';
import type { Change, Row } from './rows.js';

/** Values whose JSON is longer than this (in UTF-16 code units) are stored once, apart from the rows that refer to them. */
const LARGE_VALUE = 65_536;

/** The large values that the rows of a run refer to, as in its journal. */
export class LargeValues {
  /** Keys of the values of a row, by table and key of the row. Undefined before the first large value. */
  #held: Map<string, readonly string[]> | undefined;
  /** How many rows refer to each value. */
  #counts: Map<string, number> | undefined;
  #keys: ValueKeys | undefined;

  /** Replaces large values in changes by their keys. Adds changes that write new values and delete unreferenced ones. */
  extract(changes: readonly Change[]): readonly Change[] {
    if (this.#held === undefined && !changes.some(isLargeRow)) return changes;
    this.#keys ??= new ValueKeys();
    const keys = this.#keys;
    const values = new Map<string, Json>();
    /** Values that the changed rows refer or referred to, and whether a row did before. */
    const touched = new Map<string, boolean>();
    const out = changes.map((change) => {
      const extracted = change.op === 'put' ? extractedFrom(change, keys) : undefined;
      for (const [key, value] of extracted?.values ?? []) values.set(key, value);
      const ownKeys = extracted === undefined ? [] : keysIn(extracted.row, extracted.row.refs ?? []);
      for (const key of [...ownKeys, ...this.#heldBy(change)]) {
        if (!touched.has(key)) touched.set(key, this.#counts?.has(key) === true);
      }
      this.#hold(change, ownKeys);
      return extracted?.row ?? change;
    });
    for (const [key, had] of touched) {
      const has = this.#counts?.has(key) === true;
      const value = values.get(key);
      if (has && !had && value !== undefined) out.push({ op: 'put', table: 'values', key, row: value });
      if (had && !has) out.push({ op: 'delete', table: 'values', key });
    }
    return out;
  }

  /** Counts the references of the rows that a state was restored from. */
  restore(rows: Iterable<Row>): void {
    for (const row of rows) if (row.refs !== undefined) this.#hold(row, keysIn(row, row.refs));
  }

  #heldBy({ table, key }: Change): readonly string[] {
    return this.#held?.get(`${table} ${key}`) ?? [];
  }

  /** Counts the values that a row refers to now. */
  #hold(row: Change, keys: readonly string[]): void {
    const before = this.#heldBy(row);
    if (keys.length === 0 && before.length === 0) return;
    this.#held ??= new Map();
    this.#counts ??= new Map();
    const of = `${row.table} ${row.key}`;
    if (keys.length === 0) this.#held.delete(of);
    else this.#held.set(of, keys);
    for (const each of keys) this.#counts.set(each, (this.#counts.get(each) ?? 0) + 1);
    for (const each of before) {
      const references = (this.#counts.get(each) ?? 0) - 1;
      if (references > 0) this.#counts.set(each, references);
      else this.#counts.delete(each);
    }
  }
}

/** Rows with their large values replaced by keys, followed by the rows of these values. */
export function withoutLargeValues(rows: readonly Row[]): readonly Row[] {
  return new LargeValues().extract(rows) as readonly Row[];
}

/** The inverse of `withoutLargeValues`. */
export function withLargeValues(rows: Iterable<Row>): Row[] {
  const all = [...rows];
  const values = new Map<string, Json>();
  for (const row of all) if (row.table === 'values') values.set(row.key, row.row);
  return all.flatMap((row) => {
    if (row.table === 'values') return [];
    const { refs = [], ...rest } = row;
    if (refs.length === 0) return [row];
    let whole = rest.row as Json;
    for (const ref of refs) whole = replaced(whole, keysOf(ref), (key) => valueFor(values, key, row));
    return [{ ...rest, row: whole } as unknown as Row];
  });
}

function valueFor(values: ReadonlyMap<string, Json>, key: Json, row: Row): Json {
  const value = values.get(String(key));
  if (value === undefined)
    throw new Error(`row '${row.key}' in '${row.table}' holds a value that is not there`);
  return value;
}

/** A copy of a value with the member at a path replaced. */
function replaced(value: Json, path: readonly string[], replace: (value: Json) => Json): Json {
  const [first, ...rest] = path;
  if (first === undefined) return replace(value);
  if (Array.isArray(value)) {
    return (value as readonly Json[]).map((item, at) =>
      String(at) === first ? replaced(item, rest, replace) : item,
    );
  }
  const entries = Object.entries(value as JsonObject);
  return Object.fromEntries(
    entries.map(([key, member]) => [key, key === first ? replaced(member, rest, replace) : member]),
  );
}

function keysIn(row: Row, refs: readonly string[]): string[] {
  const keys: string[] = [];
  for (const ref of refs) {
    replaced(row.row as Json, keysOf(ref), (key) => {
      keys.push(String(key));
      return key;
    });
  }
  return [...new Set(keys)];
}

function isLargeRow(change: Change): boolean {
  return change.op === 'put' && isLonger(change.row as Json, LARGE_VALUE);
}

interface Extracted {
  readonly row: Row;
  readonly values: ReadonlyMap<string, Json>;
}

const VALUE_TABLES: ReadonlySet<string> = new Set(['outputs', 'inputs', 'items']);

/** Limit for the members of a row that is large without a large member. */
const LARGE_MEMBER = 4_096;

/** A row without its large values; undefined if it has none. */
function extractedFrom(row: Row, keys: ValueKeys): Extracted | undefined {
  const whole = row.row as Json;
  if (!isLonger(whole, LARGE_VALUE)) return undefined;
  const extraction = new Extraction(keys);
  if (VALUE_TABLES.has(row.table)) return extraction.out(row, extraction.shrink(whole, '', LARGE_VALUE));
  const rest = membersOf(whole as JsonObject, '', LARGE_VALUE, extraction);
  if (!isLonger(rest, LARGE_VALUE)) return extraction.out(row, rest);
  const more = new Extraction(keys);
  return more.out(row, membersOf(whole as JsonObject, '', LARGE_MEMBER, more));
}

/** Shrinks the members of a row. Fields that a journal reads (times, statuses, ids) are short and stay. */
function membersOf(object: JsonObject, pointer: string, limit: number, extraction: Extraction): JsonObject {
  const entries = Object.entries(object).map(([key, member]): [string, Json] => {
    const at = `${pointer}/${pointerKey(key)}`;
    const isCommand = at === '/command';
    return [
      key,
      isCommand
        ? membersOf(member as JsonObject, at, limit, extraction)
        : extraction.shrink(member, at, limit),
    ];
  });
  return Object.fromEntries(entries);
}

/** The values that are extracted from a row. */
class Extraction {
  readonly #values = new Map<string, Json>();
  readonly #refs = new Set<string>();
  readonly #keys: ValueKeys;

  constructor(keys: ValueKeys) {
    this.#keys = keys;
  }

  out(row: Row, rest: Json): Extracted {
    return { row: { ...row, row: rest, refs: [...this.#refs] } as unknown as Row, values: this.#values };
  }

  /** A value in which the smallest members that are longer than a limit are replaced. */
  shrink(value: Json, pointer: string, limit: number): Json {
    if (!isLonger(value, limit)) return value;
    if (typeof value !== 'object' || value === null || (limit === LARGE_VALUE && this.#keys.has(value))) {
      return this.#replace(value, pointer);
    }
    const rest = Array.isArray(value)
      ? (value as readonly Json[]).map((item, at) => this.shrink(item, `${pointer}/${at}`, limit))
      : Object.fromEntries(
          Object.entries(value).map(([key, member]) => [
            key,
            this.shrink(member, `${pointer}/${pointerKey(key)}`, limit),
          ]),
        );
    if (!isLonger(rest, limit)) return rest;
    // A long list of small items is one large value.
    for (const ref of this.#refs) if (ref.startsWith(`${pointer}/`)) this.#refs.delete(ref);
    return this.#replace(value, pointer);
  }

  #replace(value: Json, pointer: string): string {
    const key = this.#keys.of(value);
    this.#values.set(key, value);
    this.#refs.add(pointer);
    return key;
  }
}

/** How many long texts are cached with their keys. */
const REMEMBERED_TEXTS = 16;

const objectKeys = new WeakMap<object, string>();

/** Keys of large values, cached: values never change. */
class ValueKeys {
  readonly #texts = new Map<string, string>();

  /** Whether a value is known to be large. */
  has(value: object): boolean {
    return objectKeys.has(value);
  }

  of(value: Json): string {
    if (typeof value === 'object' && value !== null) {
      const key = getOrInsert(objectKeys, value, () => keyOf(value));
      return key;
    }
    const text = String(value);
    const key = getOrInsert(this.#texts, text, () => keyOf(value));
    for (const oldest of this.#texts.keys()) {
      if (this.#texts.size <= REMEMBERED_TEXTS) break;
      this.#texts.delete(oldest);
    }
    return key;
  }
}

/** Not canonical JSON: values with another order of keys are restored as they were. */
function keyOf(value: Json): string {
  return sha256Hex(JSON.stringify(value));
}

/** Whether the JSON of a value is longer than a limit (about, in UTF-16 code units). */
function isLonger(value: Json, limit: number): boolean {
  return lengthOf(value, 0, limit) > limit;
}

/** `length` plus the length of a value's JSON, without escapes. Stops at the limit. */
function lengthOf(value: Json, length: number, limit: number): number {
  if (typeof value === 'string') return length + value.length + 2;
  if (typeof value !== 'object' || value === null) return length + 5;
  let sum = length + 2;
  if (Array.isArray(value)) {
    for (const item of value as readonly Json[]) {
      sum = lengthOf(item, sum + 1, limit);
      if (sum > limit) return sum;
    }
    return sum;
  }
  for (const key of Object.keys(value)) {
    sum = lengthOf((value as JsonObject)[key] ?? null, sum + key.length + 4, limit);
    if (sum > limit) return sum;
  }
  return sum;
}
