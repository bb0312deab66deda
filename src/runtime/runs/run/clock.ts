import { LongTimer } from '../../upstream/long-timer.js';

/** How long runs work before other work of the process has its turn, in ms. */
export const TURN_MS = 10;

/**
 * Keeps runs from holding up the process. Where tools answer at once, one step follows the other without an end of the
 * event loop's turn between them: no message arrives meanwhile, and no timer fires. All runs of a process share them.
 */
export class Turns {
  readonly #now: () => number;
  /** Those that wait for a later turn, the first one first. */
  readonly #waiting: (() => void)[] = [];
  /** When a run was first at work in this turn of the event loop. */
  #startedAt: number | undefined;

  /** @param now ms since any fixed moment; never steps back. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Whether runs have been at work for long enough in this turn of the event loop. Asked before each step of a run. */
  get isOver(): boolean {
    return this.#now() - (this.#startedAt ?? this.#begin()) >= TURN_MS;
  }

  /** Calls back in a later turn. A turn serves at least one callback, and as many as its time allows. */
  wait(resume: () => void): void {
    this.#waiting.push(resume);
  }

  #begin(): number {
    const now = this.#now();
    this.#startedAt = now;
    setImmediate(() => this.#next());
    return now;
  }

  #next(): void {
    this.#startedAt = undefined;
    if (this.#waiting.length === 0) return;
    this.#begin();
    do this.#waiting.shift()?.();
    while (this.#waiting.length > 0 && !this.isOver);
  }
}

/** Time as a host sees it. Tests bring their own. */
export interface Clock {
  /** Ms since the epoch. */
  now(): number;
  /**
   * Calls back once, after about `delayMs` ms, and returns how to call that off.
   * @param options.keepsProcess whether the process stays alive for as long. Default: true.
   */
  setTimer(callback: () => void, delayMs: number, options?: { readonly keepsProcess?: boolean }): () => void;
  /** When runs yield to other work of the process. Without it they never do. */
  readonly turns?: Turns;
  /** Lets the process end while timers are set. */
  release?(): void;
}

/** The process's own clock. It never steps back, whatever happens to the system's time. */
export const processClock: Clock = {
  now: () => Math.trunc(performance.timeOrigin + performance.now()),
  setTimer(callback, delayMs, options) {
    const timer = new LongTimer(callback, delayMs, options);
    return () => timer.cancel();
  },
  turns: new Turns(() => performance.now()),
};

/** The process's clock for the runs of one store, which are not waited for once the store is closed. */
export function storeClock(): Clock {
  const timers = new Set<LongTimer>();
  return {
    ...processClock,
    setTimer(callback, delayMs, options) {
      const fire = (): void => {
        timers.delete(timer);
        callback();
      };
      const timer = new LongTimer(fire, delayMs, options);
      timers.add(timer);
      return () => {
        timers.delete(timer);
        timer.cancel();
      };
    },
    release() {
      for (const timer of timers) timer.release();
    },
  };
}

/**
 * Calls back when the clock has reached `dueAt` (ms since the epoch) and never before: a timer that comes early, by
 * rounding, is set again. Returns how to call it off.
 */
export function callAt(
  clock: Clock,
  dueAt: number,
  callback: () => void,
  options?: Parameters<Clock['setTimer']>[2],
): () => void {
  let cancel = arm();
  function arm(): () => void {
    const fire = (): void => {
      if (clock.now() >= dueAt) callback();
      else cancel = arm();
    };
    return clock.setTimer(fire, dueAt - clock.now(), options);
  }
  return () => cancel();
}

/** A clock with a time that changes only when it skips to the next timer, on demand. */
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
   * Moves the time to the timer that is due next.
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
