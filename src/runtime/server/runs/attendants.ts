import type { Fact, RunState } from '../../engine/contract.js';
import type { SharedContext } from '../../hosts/in-process/calls-in-flight.js';
import type { Question } from './interview.js';
import type { Attendant } from './run-store.js';

/** A callback for each time a run has got as far as it gets for now. */
interface Watching {
  /** A request, which is told what happens as well. */
  readonly attendant?: Attendant;
  readonly watcher: () => void;
}

/** A run as those see it who attend it. */
interface Attended {
  /** Of the latest request that attended the run. */
  requestId: string;
  /** A request has come or left. */
  touch(): void;
}

/** The requests that attend a run, and what else waits for it to change. */
export class Attendants {
  readonly #run: Attended;
  #watching: readonly Watching[] = [];
  /** Questions that are before a user. */
  #claimed: Set<string> | undefined;

  constructor(run: Attended) {
    this.#run = run;
  }

  /** Whether it holds nothing: another one does as well. */
  get isEmpty(): boolean {
    return this.#watching.length === 0 && this.#claimed === undefined;
  }

  /** Whether a request attends the run. */
  get isAttended(): boolean {
    return this.#watching.some(({ attendant }) => attendant !== undefined);
  }

  /** From then on the watcher is called whenever the run has got as far as it gets for now. */
  join(attendant: Attendant, watcher: () => void): void {
    this.#run.requestId = attendant.request.requestId;
    this.#watching = [...this.#watching, { attendant, watcher }];
    this.#run.touch();
  }

  leave(watcher: () => void): void {
    this.unwatch(watcher);
    this.#run.touch();
  }

  /** The same for what is no request. */
  watch(watcher: () => void): void {
    this.#watching = [...this.#watching, { watcher }];
  }

  unwatch(watcher: () => void): void {
    this.#watching = this.#watching.filter((each) => each.watcher !== watcher);
  }

  /** The run has got as far as it gets for now. */
  changed(): void {
    for (const { watcher } of this.#watching) watcher();
  }

  observe(fact: Fact, state: RunState): void {
    for (const { attendant } of this.#watching) attendant?.observe?.(fact, state);
  }

  progress(...report: Parameters<SharedContext['progress']>): void {
    for (const { attendant } of this.#watching) attendant?.progress?.(...report);
  }

  /** False where another request puts this question already. Once granted, it is kept until `letGo`. */
  claim({ id }: Question): boolean {
    if (this.#claimed?.has(id)) return false;
    this.#claimed ??= new Set();
    this.#claimed.add(id);
    return true;
  }

  letGo({ id }: Question): void {
    this.#claimed?.delete(id);
    if (this.#claimed?.size === 0) this.#claimed = undefined;
  }
}
