/** A `Map` or `WeakMap`. */
interface Lookup<K, V> {
  get(key: K): V | undefined;
  set(key: K, value: V): unknown;
}

/** The value of a key. One that is missing is made and inserted: `Map.prototype.getOrInsertComputed`, which Node 20 lacks. */
export function getOrInsert<K, V>(map: Lookup<K, V>, key: K, make: () => V): V {
  const existing = map.get(key);
  if (existing !== undefined) return existing;
  const value = make();
  map.set(key, value);
  return value;
}

/** Values, of those with one key only the first. */
export function uniqueBy<V>(values: readonly V[], keyOf: (value: V) => unknown): V[] {
  const keys = new Set<unknown>();
  return values.filter((value) => keys.size < keys.add(keyOf(value)).size);
}

/** Appends values to the list of a key. */
export function append<K, V>(lists: Lookup<K, V[]>, key: K, ...values: readonly V[]): void {
  getOrInsert(lists, key, () => []).push(...values);
}
