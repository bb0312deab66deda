/** `T` without the keys that are always undefined; keys that may be undefined are optional. */
type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** Copies an object without its undefined properties, in the order of its keys. */
export function defined<T extends object>(values: T): Defined<T> {
  const result: Record<string, unknown> = {};
  // Without a list of pairs: it is called for most rows and messages of a run.
  for (const key of Object.keys(values)) {
    const value = values[key as keyof T];
    if (value !== undefined) result[key] = value;
  }
  return result as Defined<T>;
}
