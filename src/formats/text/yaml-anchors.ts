import { type Located, pointerTo } from './located.js';

/** The values of all aliases may have so many parts. What has more is left to the parser, which counts them. */
const MOST_COPIED = 10_000;

/** The anchors of a file whose names are used once, and the copies of their values. */
export class Anchors {
  readonly #values = new Map<string, Located | undefined>();
  #copied = 0;

  /** Announces an anchor before its value is read. False if the name is taken. */
  open(name: string): boolean {
    if (this.#values.has(name)) return false;
    this.#values.set(name, undefined);
    return true;
  }

  close(name: string, value: Located): void {
    this.#values.set(name, value);
  }

  get hasCopies(): boolean {
    return this.#copied > 0;
  }

  /** The value of an anchor as the value at a pointer; missing where it is not read yet, or is too large. */
  copy(name: string, pointer: string): Located | undefined {
    const value = this.#values.get(name);
    return value === undefined ? undefined : this.#copy(value, pointer);
  }

  #copy(value: Located, pointer: string): Located | undefined {
    this.#copied += 1;
    if (this.#copied > MOST_COPIED) return undefined;
    if (value.kind === 'list') {
      const items = value.items.map((item, index) => this.#copy(item, pointerTo(pointer, index)));
      return isWhole(items) ? { ...value, items, pointer } : undefined;
    }
    if (value.kind !== 'map') return { ...value, pointer };
    const places = value.entries.map(({ key }) => pointerTo(pointer, key.value));
    const values = value.entries.map((entry, index) => this.#copy(entry.value, places[index] ?? ''));
    if (!isWhole(values)) return undefined;
    const entries = value.entries.map(({ key }, index) => ({
      key: { ...key, pointer: places[index] ?? '' },
      value: values[index] as Located,
    }));
    return { ...value, entries, pointer };
  }
}

function isWhole(values: readonly (Located | undefined)[]): values is readonly Located[] {
  return !values.includes(undefined);
}
