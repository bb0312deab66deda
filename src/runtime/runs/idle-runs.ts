import { type Clock, callAt } from './run/clock.js';
import type { RunLimits } from './run-store.js';

interface ExpiringRun {
  /** Cancels it: it was idle for too long. @param ms for how long. */
  expire(ms: number): void;
}

/** The idle runs of a store, which expire unless they may wait without a limit. */
export function idleRunsOf(
  clock: Clock,
  { idleMs }: Pick<RunLimits, 'idleMs'>,
): Pick<IdleRuns<ExpiringRun>, 'add' | 'delete'> {
  if (idleMs === Number.POSITIVE_INFINITY) return { add() {}, delete() {} };
  return new IdleRuns(clock, idleMs, (run) => run.expire(idleMs));
}

/** A run in the list of those that are idle, or one that was. */
interface Entry<Run> {
  readonly run: Run;
  /** Since when it is idle, in ms since the epoch. Undefined for one that is not. */
  since: number | undefined;
  before: Entry<Run> | undefined;
  after: Entry<Run> | undefined;
}

/**
 * Runs that wait while no request asks for them, with one timer for all of them. Each request for a run takes it out of
 * the list and puts it at the end: in a `Map` with many entries that costs more the more there are.
 */
export class IdleRuns<Run extends object> {
  readonly #clock: Clock;
  readonly #idleMs: number;
  readonly #expire: (run: Run) => void;
  readonly #entries = new WeakMap<Run, Entry<Run>>();
  /** All of them may be idle for as long, so that the first added is the first due. */
  #first: Entry<Run> | undefined;
  #last: Entry<Run> | undefined;
  #stopTimer: (() => void) | undefined;

  /** @param expire called with a run that has been idle for `idleMs`, which is then no longer idle. */
  constructor(clock: Clock, idleMs: number, expire: (run: Run) => void) {
    this.#clock = clock;
    this.#idleMs = idleMs;
    this.#expire = expire;
  }

  /** The run is idle from now on. */
  add(run: Run): void {
    const entry = this.#entries.get(run) ?? { run, since: undefined, before: undefined, after: undefined };
    if (entry.since === undefined) this.#entries.set(run, entry);
    else this.#unlink(entry);
    entry.since = this.#clock.now();
    entry.before = this.#last;
    if (this.#last === undefined) this.#first = entry;
    else this.#last.after = entry;
    this.#last = entry;
    if (this.#stopTimer === undefined) this.#arm();
  }

  /** The run is not idle. */
  delete(run: Run): void {
    const entry = this.#entries.get(run);
    if (entry?.since === undefined) return;
    this.#unlink(entry);
    if (this.#first !== undefined) return;
    this.#stopTimer?.();
    this.#stopTimer = undefined;
  }

  #unlink(entry: Entry<Run>): void {
    const { before, after } = entry;
    if (before === undefined) this.#first = after;
    else before.after = after;
    if (after === undefined) this.#last = before;
    else after.before = before;
    entry.since = entry.before = entry.after = undefined;
  }

  #arm(): void {
    const since = this.#first?.since;
    this.#stopTimer =
      since === undefined
        ? undefined
        : callAt(this.#clock, since + this.#idleMs, () => this.#look(), { keepsProcess: false });
  }

  #look(): void {
    const eldest = this.#clock.now() - this.#idleMs;
    const due: Run[] = [];
    for (let first = this.#first; first?.since !== undefined && first.since <= eldest; first = this.#first) {
      this.#unlink(first);
      due.push(first.run);
    }
    this.#arm();
    for (const run of due) this.#expire(run);
  }
}
