/** A time that something of a run is due. */
interface Due {
  readonly id: string;
  /** Ms since the epoch. */
  readonly dueAt: number;
}

/** What waits for the times. */
export interface Waiting {
  /** Whether the time of an id is still waited for. Once it is not, it never is again. */
  isOpen(id: string): boolean;
}

/** So many entries are kept before those that are not wanted any more are looked for. */
const FEW = 32;

/**
 * The times a run waits for, the earliest first: a binary heap. A time that is not wanted any more stays in it until it
 * comes to the top or until the heap has doubled, so that adding and dropping one costs O(log n).
 */
export class DueTimes {
  readonly #waiting: Waiting;
  #heap: Due[] = [];
  #limit = FEW;

  constructor(waiting: Waiting) {
    this.#waiting = waiting;
  }

  add(id: string, dueAt: number): void {
    if (this.#heap.length >= this.#limit) this.#sweep();
    this.#heap.push({ id, dueAt });
    this.#rise(this.#heap.length - 1);
  }

  /** The earliest time that is wanted. */
  get first(): Due | undefined {
    for (let first = this.#heap[0]; first !== undefined; first = this.#heap[0]) {
      if (this.#waiting.isOpen(first.id)) return first;
      this.#dropFirst();
    }
    return undefined;
  }

  /** Takes the earliest time that is wanted away, if it has come. */
  takeDue(now: number): Due | undefined {
    const { first } = this;
    if (first === undefined || first.dueAt > now) return undefined;
    this.#dropFirst();
    return first;
  }

  #sweep(): void {
    const wanted = this.#heap.filter(({ id }) => this.#waiting.isOpen(id));
    // A sorted list is a heap.
    this.#heap = wanted.sort((one, other) => one.dueAt - other.dueAt);
    this.#limit = Math.max(FEW, wanted.length * 2);
  }

  #dropFirst(): void {
    const last = this.#heap.pop();
    if (last === undefined || this.#heap.length === 0) return;
    this.#heap[0] = last;
    this.#sink(0);
  }

  #rise(from: number): void {
    const heap = this.#heap;
    const due = heap[from] as Due;
    let at = from;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = heap[above] as Due;
      if (parent.dueAt <= due.dueAt) break;
      heap[at] = parent;
      at = above;
    }
    heap[at] = due;
  }

  #sink(from: number): void {
    const heap = this.#heap;
    const due = heap[from] as Due;
    let at = from;
    for (;;) {
      let below = 2 * at + 1;
      const left = heap[below];
      if (left === undefined) break;
      const right = heap[below + 1];
      const child = right !== undefined && right.dueAt < left.dueAt ? right : left;
      if (child === right) below += 1;
      if (child.dueAt >= due.dueAt) break;
      heap[at] = child;
      at = below;
    }
    heap[at] = due;
  }
}
