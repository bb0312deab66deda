import { unreachable } from '../../../graph/unreachable.js';
import type { Command } from '../../engine/contract.js';
import { SmallMap } from '../../engine/small-map.js';
import type { Call } from './calls-in-flight.js';
import { Queue } from './inbox.js';
import { RunTimer, type TimedRun } from './run-timer.js';

/** A command that asks somebody outside. */
export type Ask = Extract<Command, { kind: 'requestAction' }>;

/** A command that wants an answer. */
type Expected = Exclude<Command, { kind: 'cancelTimer' | 'cancelCall' }>;

/** What a run waits for with a command: its host, an answer, a time, or nothing more than the end of a limit. */
type Awaits = 'host' | 'answer' | 'time' | 'limit';

/** Asks that are open, the oldest first. */
export type Asks = Pick<SmallMap<Ask>, 'size' | 'get' | 'has' | 'values'>;

/**
 * The commands of a run that want an answer, with the times they are due and the calls that are still to be made. They
 * are counted by what they wait for: nothing looks through all of them.
 */
export class OpenCommands {
  readonly #run: TimedRun;
  readonly #asks = new SmallMap<Ask>();
  /** All others. Like all below, none takes no place: many runs wait at once. */
  #others: SmallMap<Expected> | undefined;
  /** How many of them end by themselves. */
  #busy = 0;
  /** Calls that the process that had the run may have made. */
  #madeBefore: Set<string> | undefined;
  #toMake: Queue<Call> | undefined;
  #timer: RunTimer | undefined;

  constructor(run: TimedRun) {
    this.#run = run;
  }

  /** Takes a command of the engine. */
  take(command: Command): void {
    switch (command.kind) {
      case 'callTool':
      case 'readResource':
      case 'evaluate':
        this.expect(command);
        this.#toMake ??= new Queue();
        this.#toMake.push(command);
        return;
      case 'requestAction':
      case 'startTimer':
        this.expect(command);
        return;
      case 'cancelTimer':
        this.settle(command.timer);
        return;
      case 'cancelCall':
        this.settle(command.call);
        return;
      default:
        unreachable(command);
    }
  }

  /** Takes a call that is made again: the process that had the run may have made it. */
  takeAgain(call: Call): void {
    this.#madeBefore ??= new Set();
    this.#madeBefore.add(call.id);
    this.take(call);
  }

  /** Whether the process that had the run may have made a call. */
  mayBeMadeBefore(id: string): boolean {
    return this.#madeBefore?.has(id) === true;
  }

  /** Waits for the answer to a command, or for its time. A call of it is not made. */
  expect(command: Expected): void {
    const awaits = awaited(command);
    if (command.kind === 'requestAction') this.#asks.set(command.id, command);
    else {
      this.#others ??= new SmallMap();
      this.#others.set(command.id, command);
    }
    if (awaits === 'host') this.#busy += 1;
    const { id, dueAt } = command;
    if (dueAt === undefined) return;
    this.#timer ??= new RunTimer(this.#run);
    if (awaits === 'time') this.#timer.addTime(id, dueAt);
    else this.#timer.addLimit(id, dueAt);
  }

  /** Takes a command away that was answered or given up. One that is not open is left alone. */
  settle(id: string): void {
    const command = this.#others?.delete(id);
    if (command === undefined) this.#asks.delete(id);
    else if (awaited(command) === 'host') this.#busy -= 1;
  }

  has(id: string): boolean {
    return this.#others?.has(id) === true || this.#asks.has(id);
  }

  get asks(): Asks {
    return this.#asks;
  }

  /** Whether a call, a read, an evaluation or a delay before an attempt ends by itself. */
  get isHostBusy(): boolean {
    return this.#busy > 0;
  }

  /** Whether calls are still to be made. One that was given up may be among them. */
  get hasCalls(): boolean {
    return this.#toMake !== undefined && this.#toMake.length > 0;
  }

  /** Takes the next call that is still to be made; nothing where it was given up meanwhile. */
  nextCall(): Call | undefined {
    const call = this.#toMake?.shift();
    return call !== undefined && this.has(call.id) ? call : undefined;
  }

  /** The ids of calls and reads that are still to be made, and were not made before. */
  get notStarted(): readonly string[] {
    return [...(this.#toMake ?? [])].flatMap(({ kind, id }) =>
      kind === 'evaluate' || this.mayBeMadeBefore(id) ? [] : [id],
    );
  }

  /** When the first time comes that moves the run on, in ms since the epoch. What only bounds a wait is none. */
  get nextTime(): number {
    return this.#timer?.nextTime ?? Number.POSITIVE_INFINITY;
  }

  /** Sets the timer for the earliest time. */
  armTimer(): void {
    this.#timer?.arm();
  }

  /** Forgets all times. */
  stopTimer(): void {
    this.#timer?.clear();
    this.#timer = undefined;
  }

  clear(): void {
    this.stopTimer();
    this.#asks.clear();
    this.#others = undefined;
    this.#toMake = undefined;
    this.#busy = 0;
  }

  /** Lets go of what a run does not need while it waits. */
  trim(): void {
    if (this.#others?.size === 0) this.#others = undefined;
    if (!this.hasCalls) this.#toMake = undefined;
    if (this.#timer?.isEmpty === true) this.#timer = undefined;
  }
}

function awaited(command: Expected): Awaits {
  switch (command.kind) {
    case 'callTool':
    case 'readResource':
    case 'evaluate':
      return 'host';
    case 'requestAction':
      return 'answer';
    case 'startTimer':
      return command.purpose === 'backoff' ? 'host' : command.purpose === 'wait' ? 'time' : 'limit';
    default:
      return unreachable(command);
  }
}
