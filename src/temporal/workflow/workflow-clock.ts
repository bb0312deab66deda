import { CancellationScope, sleep } from '@temporalio/workflow';
import type { Clock } from '../../runtime/runs/run/clock.js';

interface Timer {
  /** Ms since the epoch. */
  readonly at: number;
  readonly callback: () => void;
}

/**
 * The time of a workflow. It has one timer in Temporal, for the earliest time of all that are set. A timer in Temporal that
 * comes too early is set again when it comes: most limits are called off before, and each timer is two events of the history.
 * A timer that is called off at once is none in Temporal, where a Query must not set one.
 */
export class WorkflowClock implements Clock {
  readonly #timers = new Set<Timer>();
  #isChanged = false;
  #armed: { readonly at: number; readonly scope: CancellationScope } | undefined;

  now(): number {
    return Date.now();
  }

  setTimer(callback: () => void, delayMs: number): () => void {
    const timer = { at: this.now() + Math.max(0, delayMs), callback };
    this.#timers.add(timer);
    this.#armSoon();
    return () => {
      this.#timers.delete(timer);
      if (this.#timers.size === 0) this.#disarm();
    };
  }

  #armSoon(): void {
    if (this.#isChanged) return;
    this.#isChanged = true;
    void Promise.resolve().then(() => this.#arm());
  }

  #arm(): void {
    this.#isChanged = false;
    let at = Number.POSITIVE_INFINITY;
    for (const timer of this.#timers) at = Math.min(at, timer.at);
    if (at === Number.POSITIVE_INFINITY || (this.#armed !== undefined && this.#armed.at <= at)) return;
    this.#disarm();
    const armed = { at, scope: new CancellationScope() };
    this.#armed = armed;
    armed.scope
      .run(() => sleep(Math.max(1, at - this.now())))
      .then(
        () => this.#fire(armed),
        () => {},
      );
  }

  #disarm(): void {
    this.#armed?.scope.cancel();
    this.#armed = undefined;
  }

  #fire(armed: object): void {
    if (this.#armed !== armed) return;
    this.#armed = undefined;
    const due = [...this.#timers].filter(({ at }) => at <= this.now());
    for (const timer of due.sort((one, other) => one.at - other.at)) {
      // An earlier callback may have called it off.
      if (this.#timers.delete(timer)) timer.callback();
    }
    this.#arm();
  }
}
