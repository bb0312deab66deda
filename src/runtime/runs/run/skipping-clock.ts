import { type Clock, processClock } from './clock.js';

/** A clock whose time changes only when it skips to the next timer, on demand. */
export class SkippingClock implements Clock {
  /** In ms since the epoch. */
  protected time: number;
  protected readonly timers = new Set<{ readonly at: number; readonly callback: () => void }>();

  /** @param start Default: the time of the process. */
  constructor(start = processClock.now()) {
    this.time = start;
  }

  now(): number {
    return this.time;
  }

  setTimer(callback: () => void, delayMs: number): () => void {
    const timer = { at: this.time + Math.max(0, delayMs), callback };
    this.timers.add(timer);
    return () => this.timers.delete(timer);
  }

  /**
   * Goes on to the timer that is due next.
   *
   * @param until the last time that it may be due at. Default: any.
   * @returns whether there is one.
   */
  skip(until = Number.POSITIVE_INFINITY): boolean {
    const [next] = [...this.timers].sort((one, other) => one.at - other.at);
    if (next === undefined || next.at > until) return false;
    this.timers.delete(next);
    this.time = Math.max(this.time, next.at);
    next.callback();
    return true;
  }
}
