/** How long runs go on before whatever else waits in the process has its turn, in ms. */
export const TURN_MS = 10;

/**
 * Keeps runs from holding up the process. Where tools answer at once, one step follows the other without an end of the
 * event loop's turn between them: no message comes in meanwhile, and no timer fires. All runs of a process share them.
 */
export class Turns {
  readonly #now: () => number;
  /** Those that wait for a later turn, the first one first. */
  readonly #waiting: (() => void)[] = [];
  /** When a run was first at work in this turn of the event loop. */
  #began: number | undefined;

  /** @param now ms since whenever; never steps back. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Whether runs have been at work for long enough in this turn of the event loop. Asked before each step of a run. */
  get isOver(): boolean {
    return this.#now() - (this.#began ?? this.#begin()) >= TURN_MS;
  }

  /** Calls back in a later turn. As many as there is time for come in one turn, and at least one. */
  wait(goOn: () => void): void {
    this.#waiting.push(goOn);
  }

  #begin(): number {
    const now = this.#now();
    this.#began = now;
    setImmediate(() => this.#next());
    return now;
  }

  #next(): void {
    this.#began = undefined;
    if (this.#waiting.length === 0) return;
    this.#begin();
    do this.#waiting.shift()?.();
    while (this.#waiting.length > 0 && !this.isOver);
  }
}
