import { type Clock, callAt } from './run/clock.js';
import type { RunLimits } from './run-store.js';
import type { KeptRun, StoreParts } from './store-parts.js';

/** The idle runs of a store, which expire unless they may wait without a limit. */
export function idleRunsOf(clock: Clock, { idleMs }: Pick<RunLimits, 'idleMs'>): StoreParts['idle'] {
  if (idleMs === Number.POSITIVE_INFINITY) return PATIENT;
  return new IdleRuns<KeptRun>(clock, idleMs, (run) => run.expire(idleMs));
}

const PATIENT: StoreParts['idle'] = { add() {}, delete() {} };

/** Runs that wait while no request asks for them, with one timer for all of them. */
export class IdleRuns<Run extends object> {
  readonly #clock: Clock;
  readonly #idleMs: number;
  readonly #expire: (run: Run) => void;
  /** Since when each is idle, in ms since the epoch. All may be idle for as long: the first added is the first due. */
  readonly #since = new Map<Run, number>();
  #stopTimer: (() => void) | undefined;

  /** @param expire called with a run that has been idle for `idleMs`, which is then no longer idle. */
  constructor(clock: Clock, idleMs: number, expire: (run: Run) => void) {
    this.#clock = clock;
    this.#idleMs = idleMs;
    this.#expire = expire;
  }

  /** The run is idle from now on. */
  add(run: Run): void {
    this.#since.delete(run);
    this.#since.set(run, this.#clock.now());
    if (this.#stopTimer === undefined) this.#arm();
  }

  /** The run is not idle. */
  delete(run: Run): void {
    if (!this.#since.delete(run) || this.#since.size > 0) return;
    this.#stopTimer?.();
    this.#stopTimer = undefined;
  }

  #arm(): void {
    const [since] = this.#since.values();
    this.#stopTimer =
      since === undefined
        ? undefined
        : callAt(this.#clock, since + this.#idleMs, () => this.#look(), { keepsProcess: false });
  }

  #look(): void {
    const eldest = this.#clock.now() - this.#idleMs;
    const due: Run[] = [];
    for (const [run, since] of this.#since) {
      if (since > eldest) break;
      this.#since.delete(run);
      due.push(run);
    }
    this.#arm();
    for (const run of due) this.#expire(run);
  }
}
