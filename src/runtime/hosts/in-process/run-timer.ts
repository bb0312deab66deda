import { type Clock, callAt } from './clock.js';
import { DueTimes, type Waiting } from './due-times.js';

/** A run as its timer sees it. */
export interface TimedRun extends Waiting {
  readonly clock: Clock;
  /** Times have come. @param ids what they are of, in the order in which they were due. */
  timesUp(ids: readonly string[]): void;
}

/** Keeps the time for one run, however much it waits for: one timer of the clock, for the earliest time. */
export class RunTimer {
  readonly #run: TimedRun;
  /** What moves the run on. */
  #times: DueTimes | undefined;
  /** What only bounds something else. */
  #limits: DueTimes | undefined;
  #armed: { readonly dueAt: number; readonly cancel: () => void } | undefined;

  constructor(run: TimedRun) {
    this.#run = run;
  }

  addTime(id: string, dueAt: number): void {
    this.#times ??= new DueTimes(this.#run);
    this.#times.add(id, dueAt);
  }

  addLimit(id: string, dueAt: number): void {
    this.#limits ??= new DueTimes(this.#run);
    this.#limits.add(id, dueAt);
  }

  /** Whether nothing is due any more. */
  get isEmpty(): boolean {
    return this.#armed === undefined && this.#times?.first === undefined && this.#limits?.first === undefined;
  }

  /** When the first time comes that moves the run on, in ms since the epoch. */
  get nextTime(): number {
    return this.#times?.first?.dueAt ?? Number.POSITIVE_INFINITY;
  }

  /** Sets the clock's timer for the earliest time. One that comes too early is set again when it comes. */
  arm(): void {
    const dueAt = Math.min(this.nextTime, this.#limits?.first?.dueAt ?? Number.POSITIVE_INFINITY);
    if (dueAt === Number.POSITIVE_INFINITY) this.clear();
    else if (this.#armed === undefined || this.#armed.dueAt > dueAt) {
      this.#disarm();
      this.#armed = { dueAt, cancel: callAt(this.#run.clock, dueAt, () => this.#fire()) };
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
    const now = this.#run.clock.now();
    const due: { readonly id: string; readonly dueAt: number }[] = [];
    for (const times of [this.#times, this.#limits]) {
      for (let next = times?.takeDue(now); next !== undefined; next = times?.takeDue(now)) due.push(next);
    }
    if (due.length === 0) this.arm();
    else this.#run.timesUp(due.sort((one, other) => one.dueAt - other.dueAt).map(({ id }) => id));
  }
}
