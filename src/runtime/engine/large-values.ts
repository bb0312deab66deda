import { canonicalJson, sha256Hex } from '../../graph/canonical.js';
import type { Json, JsonObject } from '../../graph/json.js';
import type { Change, Row } from './rows.js';

/** Values whose JSON is longer than this (in UTF-16 code units) are stored once, apart from the rows that hold them. */
export const LARGE_VALUE = 65_536;

/** Which large values the rows of a run hold, as its journal has them. */
export class LargeValues {
  /** Keys of the values of a row, by table and key of the row. None before the first large value. */
  #held: Map<string, readonly string[]> | undefined;
  /** How many times rows hold each value. */
  #counts: Map<string, number> | undefined;

  /** Changes with their large values taken out: new ones are written, and those that no row holds any more are deleted. */
  takeOut(changes: readonly Change[]): readonly Change[] {
    if (this.#held === undefined && !changes.some(isLargeRow)) return changes;
    const values = new Map<string, Json>();
    const touched = new Set<string>();
    const before = new Map(this.#counts);
    const out = changes.map((change) => {
      const taken = change.op === 'put' ? takenOut(change) : undefined;
      for (const [key, value] of taken?.values ?? []) values.set(key, value);
      for (const key of this.#hold(change, taken === undefined ? [] : [...taken.values.keys()]))
        touched.add(key);
      return taken?.row ?? change;
    });
    for (const key of touched) {
      const [had, has] = [(before.get(key) ?? 0) > 0, (this.#counts?.get(key) ?? 0) > 0];
      const value = values.get(key);
      if (has && !had && value !== undefined) out.push({ op: 'put', table: 'values', key, row: value });
      if (had && !has) out.push({ op: 'delete', table: 'values', key });
    }
    return out;
  }

  /** Takes note of the rows that a state was restored from. */
  restore(rows: Iterable<Row>): void {
    for (const row of rows) if (row.refs !== undefined) this.#hold(row, keysIn(row, row.refs));
  }

  /** A row holds these values now. Gives their keys, and those of the values it held before. */
  #hold({ table, key }: Change, keys: readonly string[]): readonly string[] {
    const of = `${table} ${key}`;
    const before = this.#held?.get(of) ?? [];
    if (keys.length === 0 && before.length === 0) return keys;
    this.#held ??= new Map();
    this.#counts ??= new Map();
    if (keys.length === 0) this.#held.delete(of);
    else this.#held.set(of, keys);
    for (const each of keys) this.#counts.set(each, (this.#counts.get(each) ?? 0) + 1);
    for (const each of before) {
      const left = (this.#counts.get(each) ?? 0) - 1;
      if (left > 0) this.#counts.set(each, left);
      else this.#counts.delete(each);
    }
    return [...keys, ...before];
  }
}

/** Rows with their large values taken out, and these behind them. */
export function withoutLargeValues(rows: readonly Row[]): readonly Row[] {
  return new LargeValues().takeOut(rows) as readonly Row[];
}

/** Rows with their large values put back, without those of the values. */
export function withLargeValues(rows: Iterable<Row>): Row[] {
  const all = [...rows];
  const values = new Map<string, Json>();
  for (const row of all) if (row.table === 'values') values.set(row.key, row.row);
  return all.flatMap((row) => {
    if (row.table === 'values') return [];
    const { refs = [], ...rest } = row;
    if (refs.length === 0) return [row];
    let whole = rest.row as Json;
    for (const ref of refs) whole = replaced(whole, pathOf(ref), (key) => valueFor(values, key, row));
    return [{ ...rest, row: whole } as unknown as Row];
  });
}

function valueFor(values: ReadonlyMap<string, Json>, key: Json, row: Row): Json {
  const value = values.get(String(key));
  if (value === undefined)
    throw new Error(`row '${row.key}' in '${row.table}' holds a value that is not there`);
  return value;
}

/** A value with what is at a path replaced. */
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
    replaced(row.row as Json, pathOf(ref), (key) => {
      keys.push(String(key));
      return key;
    });
  }
  return [...new Set(keys)];
}

function pathOf(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function isLargeRow(change: Change): boolean {
  return change.op === 'put' && isLarge(change.row as Json);
}

interface TakenOut {
  readonly row: Row;
  readonly values: ReadonlyMap<string, Json>;
}

/** A row without its large values; nothing where it has none. */
function takenOut(row: Row): TakenOut | undefined {
  const whole = row.row as Json;
  if (!isLarge(whole)) return undefined;
  const values = new Map<string, Json>();
  const refs: string[] = [];
  const left = smallOf(whole, '', (value, pointer) => {
    const key = keyOf(value);
    values.set(key, value);
    refs.push(pointer);
    return key;
  });
  return { row: { ...row, row: left, refs } as unknown as Row, values };
}

/** A value in which the smallest parts that are large are replaced. */
function smallOf(value: Json, pointer: string, replace: (value: Json, pointer: string) => string): Json {
  if (!isLarge(value)) return value;
  if (typeof value !== 'object' || value === null) return replace(value, pointer);
  const inside: [value: Json, pointer: string][] = [];
  const note = (part: Json, at: string): string => {
    inside.push([part, at]);
    return keyOf(part);
  };
  const left = Array.isArray(value)
    ? (value as readonly Json[]).map((item, at) => smallOf(item, `${pointer}/${at}`, note))
    : Object.fromEntries(
        Object.entries(value).map(([key, member]) => [
          key,
          smallOf(member, `${pointer}/${escaped(key)}`, note),
        ]),
      );
  // A long list of small items is one large value.
  if (isLarge(left)) return replace(value, pointer);
  for (const [part, at] of inside) replace(part, at);
  return left;
}

function escaped(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

const keys = new WeakMap<object, string>();

/** The key of a large value. That of an object is worked out once: values never change. */
function keyOf(value: Json): string {
  const known = typeof value === 'object' && value !== null ? keys.get(value) : undefined;
  const key = known ?? sha256Hex(canonicalJson(value));
  if (typeof value === 'object' && value !== null) keys.set(value, key);
  return key;
}

/** Whether the JSON of a value is longer than a row may hold. Looks no further than it must. */
function isLarge(value: Json): boolean {
  return lengthOf(value, 0) > LARGE_VALUE;
}

/** The length of a value's JSON on top of `length`, about: exact up to the limit but for what is escaped in texts. */
function lengthOf(value: Json, length: number): number {
  if (typeof value === 'string') return length + value.length + 2;
  if (typeof value !== 'object' || value === null) return length + 5;
  let sum = length + 2;
  if (Array.isArray(value)) {
    for (const item of value as readonly Json[]) {
      sum = lengthOf(item, sum + 1);
      if (sum > LARGE_VALUE) return sum;
    }
    return sum;
  }
  for (const key of Object.keys(value)) {
    sum = lengthOf((value as JsonObject)[key] ?? null, sum + key.length + 4);
    if (sum > LARGE_VALUE) return sum;
  }
  return sum;
}
