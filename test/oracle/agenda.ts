/** What comes first where several things are due at one moment. */
export const RANKS = { cancellation: 0, answer: 1, timer: 2 } as const;

export type Rank = keyof typeof RANKS;

/** A thing that will happen. */
export interface Due<T> {
  readonly at: number;
  readonly rank: Rank;
  /** Decides between two of one moment and rank. */
  readonly key: string;
  readonly what: T;
}

/** Virtual time: what is going to happen, in the order in which it does. */
export class Agenda<T> {
  #due: Due<T>[] = [];
  now = 0;

  add(due: Due<T>): Due<T> {
    this.#due.push(due);
    return due;
  }

  drop(due: Due<T> | undefined): void {
    this.#due = this.#due.filter((each) => each !== due);
  }

  /** Nothing of this happens. */
  clear(isOver: (due: Due<T>) => boolean): void {
    this.#due = this.#due.filter((each) => !isOver(each));
  }

  /** Removes the next entry and moves the clock to its time. */
  next(): Due<T> | undefined {
    const [first] = this.#due.sort(
      (a, b) => a.at - b.at || RANKS[a.rank] - RANKS[b.rank] || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0),
    );
    if (first === undefined) return undefined;
    this.drop(first);
    this.now = first.at;
    return first;
  }
}
