/** The ids of a graph's nodes while they are made. */
export class NodeIds {
  readonly #taken: Set<string>;
  readonly #settled = new Set<string>();

  /** @param written ids that authors have given, which nothing derived may take. */
  constructor(written: Iterable<string>) {
    this.#taken = new Set(written);
  }

  /** The id, or the first of `id-2`, `id-3`, … that no other node has; from now on it is taken. */
  next(base: string): string {
    let id = base;
    for (let count = 2; this.#taken.has(id); count++) id = `${base}-${count}`;
    this.#taken.add(id);
    return id;
  }

  /** An id for a value that was moved out of what names stand for; see `settle`. */
  nextSettled(base: string): string {
    const id = this.next(base);
    this.#settled.add(id);
    return id;
  }

  /** The ids of all such values. */
  get settled(): ReadonlySet<string> {
    return this.#settled;
  }
}

/** A key as a part of an id. */
export function idPart(key: string | number): string {
  return String(key).replace(/[^\p{ID_Continue}$-]/gu, '-');
}
