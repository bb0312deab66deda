/** So many places that were left are kept at the front before the list is cut. */
const LEFT = 1_024;

/** A first-in, first-out list whose `shift` costs the same however long it is. */
export class Queue<T> {
  #items: (T | undefined)[] = [];
  #head = 0;

  get length(): number {
    return this.#items.length - this.#head;
  }

  /** The item that comes next. */
  get first(): T | undefined {
    return this.#items[this.#head];
  }

  push(item: T): void {
    this.#items.push(item);
  }

  shift(): T | undefined {
    const item = this.#items[this.#head];
    if (this.#head < this.#items.length) this.#items[this.#head++] = undefined;
    if (this.#head === this.#items.length) this.clear();
    else if (this.#head > LEFT && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }

  /** Puts items back in front. */
  unshift(...items: T[]): void {
    this.#items = [...items, ...this];
    this.#head = 0;
  }

  clear(): void {
    if (this.#items.length > 0) this.#items = [];
    this.#head = 0;
  }

  *[Symbol.iterator](): Generator<T> {
    for (let index = this.#head; index < this.#items.length; index += 1) yield this.#items[index] as T;
  }
}
