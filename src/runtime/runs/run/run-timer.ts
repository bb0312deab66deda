import { type Clock, callAt } from './clock.js';

/** Keeps the time for one run, however much it waits for: one timer of the clock, for the earliest time. */
export class RunTimer {
  readonly #clock: Clock;
  readonly #open: OpenIds;
  readonly #onTime: (ids: readonly string[]) => void;
  /** Times that a run waits for. */
  #times: DueTimes | undefined;
  /** Limits of other waits. */
  #limits: DueTimes | undefined;
  #armed: { readonly dueAt: number; readonly cancel: () => void } | undefined;

  constructor(clock: Clock, open: OpenIds, onTime: (ids: readonly string[]) => void) {
    this.#clock = clock;
    this.#open = open;
    this.#onTime = onTime;
  }

  addTime(id: string, dueAt: number): void {
    this.#times ??= new DueTimes(this.#open);
    this.#times.add(id, dueAt);
  }

  addLimit(id: string, dueAt: number): void {
    this.#limits ??= new DueTimes(this.#open);
    this.#limits.add(id, dueAt);
  }

  /** Whether no time is expected any more. */
  get isEmpty(): boolean {
    return this.#armed === undefined && this.#times?.first === undefined && this.#limits?.first === undefined;
  }

  /** When the next wait for a time ends, in ms since the epoch. */
  get nextTime(): number {
    return this.#times?.first?.dueAt ?? Number.POSITIVE_INFINITY;
  }

  /** When the first of its times and limits comes, in ms since the epoch. */
  get nextDue(): number {
    return Math.min(this.nextTime, this.#limits?.first?.dueAt ?? Number.POSITIVE_INFINITY);
  }

  /** Sets the clock's timer for the earliest time. One that comes too early is set again when it comes. */
  arm(): void {
    const dueAt = this.nextDue;
    if (dueAt === Number.POSITIVE_INFINITY) this.clear();
    else if (this.#armed === undefined || this.#armed.dueAt > dueAt) {
      this.#disarm();
      this.#armed = { dueAt, cancel: callAt(this.#clock, dueAt, () => this.#fire()) };
    }
  }

  /** Forgets all times. */
  clear(): void {
    this.#disarm();
    this.#times = undefined;
    this.#limits = undefined;
  }

  #disarm(): void {
    this.#armed?.cancel();
    this.#armed = undefined;
  }

  #fire(): void {
    this.#armed = undefined;
    const now = this.#clock.now();
    const due: { readonly id: string; readonly dueAt: number }[] = [];
    for (const times of [this.#times, this.#limits]) {
      for (let next = times?.takeDue(now); next !== undefined; next = times?.takeDue(now)) due.push(next);
    }
    if (due.length === 0) this.arm();
    else this.#onTime(due.sort((one, other) => one.dueAt - other.dueAt).map(({ id }) => id));
  }
}

/** A time that something of a run is due. */
interface Due {
  readonly id: string;
  /** Ms since the epoch. */
  readonly dueAt: number;
}

/** The ids with times that are still expected. An id that is removed never returns. */
interface OpenIds {
  has(id: string): boolean;
}

/** So many entries are kept before those that are not wanted any more are looked for. */
const FEW = 32;

/**
 * The times a run waits for, the earliest first: a binary heap. A time that is not wanted any more stays in it until it
 * comes to the top or until the heap has doubled, so that adding and dropping one costs O(log n).
 */
export class DueTimes {
  readonly #open: OpenIds;
  #heap: Due[] = [];
  #limit = FEW;

  constructor(open: OpenIds) {
    this.#open = open;
  }

  add(id: string, dueAt: number): void {
    if (this.#heap.length >= this.#limit) this.#sweep();
    this.#heap.push({ id, dueAt });
    this.#rise(this.#heap.length - 1);
  }

  /** The earliest time that is wanted. */
  get first(): Due | undefined {
    for (let first = this.#heap[0]; first !== undefined; first = this.#heap[0]) {
      if (this.#open.has(first.id)) return first;
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
    const wanted = this.#heap.filter(({ id }) => this.#open.has(id));
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
      const first = heap[below];
      if (first === undefined) break;
      const right = heap[below + 1];
      const child = right !== undefined && right.dueAt < first.dueAt ? right : first;
      if (child === right) below += 1;
      if (child.dueAt >= due.dueAt) break;
      heap[at] = child;
      at = below;
    }
    heap[at] = due;
  }
}
