import { type Clock, processClock } from './clock.js';

/** A clock of runs on stubs: its time changes only when it skips to the next timer, on demand. */
export class SkippingClock implements Clock {
  #now = processClock.now();
  readonly #timers = new Set<{ readonly at: number; readonly callback: () => void }>();

  now(): number {
    return this.#now;
  }

  setTimer(callback: () => void, delayMs: number): () => void {
    const timer = { at: this.#now + Math.max(0, delayMs), callback };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** Goes on to the timer that is due next. @returns whether there is one. */
  skip(): boolean {
    const [next] = [...this.#timers].sort((one, other) => one.at - other.at);
    if (next === undefined) return false;
    this.#timers.delete(next);
    this.#now = Math.max(this.#now, next.at);
    next.callback();
    return true;
  }
}
