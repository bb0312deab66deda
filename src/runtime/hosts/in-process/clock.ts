import { Turns } from './turns.js';

/** Time as a host sees it. Tests bring their own. */
export interface Clock {
  /** Ms since the epoch. */
  now(): number;
  /**
   * Calls back once, after about `delayMs` ms, and returns how to call that off.
   * @param options.keepsProcess whether the process goes on for as long. Default: true.
   */
  setTimer(callback: () => void, delayMs: number, options?: { readonly keepsProcess?: boolean }): () => void;
  /** When runs pause for whatever else goes on in the process. Without it they never do. */
  readonly turns?: Turns;
}

/** Longer delays overflow `setTimeout` and would fire at once. */
const LONGEST_DELAY_MS = 2 ** 31 - 1;

/** The process's own clock. It never steps back, whatever happens to the system's time. */
export const processClock: Clock = {
  now: () => Math.trunc(performance.timeOrigin + performance.now()),
  setTimer(callback, delayMs, { keepsProcess = true } = {}) {
    const timer = setTimeout(callback, Math.min(Math.max(0, delayMs), LONGEST_DELAY_MS));
    if (!keepsProcess) timer.unref();
    return () => clearTimeout(timer);
  },
  turns: new Turns(() => performance.now()),
};

/**
 * Calls back when the clock has reached `dueAt` (ms since the epoch) and never before: a timer that comes early, by
 * rounding or because the delay was too long for one, is set again. Returns how to call it off.
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
