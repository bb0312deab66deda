import { unreachable } from '../../../graph/json.js';
import { mayAskModel } from '../../engine/actions.js';
import { dueAtAgain } from '../../engine/attempt.js';
import type { ActionRequest, Command, RunState, ToolCall } from '../../engine/contract.js';
import type { Event } from '../../engine/events.js';
import { Heap, SmallMap } from '../../engine/tables.js';
import type { Call } from './calls-in-flight.js';
import { type Clock, callAt } from './clock.js';
import { Queue } from './inbox.js';

/** A command that wants an answer. */
type Expected = Exclude<Command, { kind: 'cancelTimer' | 'cancelCall' }>;

/** What a command waits for: its host, an answer, a time, or the end of a limit. */
type Awaits = 'host' | 'answer' | 'time' | 'limit';

/** In ms since the epoch. Undefined for a call that a host does not limit. */
type LimitOf = (call: Call) => number | undefined;

/** Asks that are open, the oldest first. */
type Asks = Pick<SmallMap<ActionRequest>, 'size' | 'get' | 'has' | 'values'>;

/**
 * The commands of a run that want an answer, with the times they are due and the calls that are still to be made. They
 * are counted by what they wait for, so that no step iterates over all of them.
 */
export class OpenCommands {
  readonly #clock: Clock;
  readonly #onTime: (ids: readonly string[]) => void;
  readonly #limitOf: LimitOf;
  readonly #asks = new SmallMap<ActionRequest>();
  /** All others. Missing while empty, as all below: many runs wait at once. */
  #others: SmallMap<Expected> | undefined;
  /** How many of them end by themselves. */
  #busy = 0;
  /** Calls that an earlier holder of the run may have made. */
  #earlierCalls: Set<string> | undefined;
  /** When calls time out that were issued by an earlier holder of the run. */
  #ownLimits: Map<string, number> | undefined;
  /** Those of them that are not made again. */
  #heldIds: Set<string> | undefined;
  #toMake: Queue<Call> | undefined;
  #timer: RunTimer | undefined;

  /**
   * @param onTime gets the ids of commands whose times have come, in the order in which they were due.
   * @param limitOf when a call is to be aborted.
   */
  constructor(
    clock: Clock,
    onTime: (ids: readonly string[]) => void,
    limitOf: LimitOf = ({ dueAt }) => dueAt,
  ) {
    this.#clock = clock;
    this.#limitOf = limitOf;
    const onTimeOfOthers: typeof onTime = (ids) =>
      onTime(ids.filter((id) => this.#heldIds?.has(id) !== true));
    this.#onTime = onTimeOfOthers;
  }

  take(command: Command): void {
    switch (command.kind) {
      case 'callTool':
      case 'readResource':
      case 'evaluate':
        if (this.#heldIds?.has(command.id) === true) {
          this.#others ??= new SmallMap();
          this.#others.set(command.id, command);
          return;
        }
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

  /**
   * Takes the commands of a run that was loaded. The limits of its calls count from now.
   *
   * @param mayBeMade whether another process may have made its calls. Those that do more than read may have taken effect.
   * @param holdsUnsafe whether those of them that may not be repeated are held: they wait without a limit, until the run is
   *   cancelled. A compensation is repeated in any case.
   */
  takeOver(
    commands: readonly Command[],
    state: RunState,
    { mayBeMade, holdsUnsafe }: { readonly mayBeMade: boolean; readonly holdsUnsafe: boolean },
  ): void {
    const now = this.#clock.now();
    for (const command of commands) {
      if (!isCall(command)) {
        this.take(command);
        continue;
      }
      const safety = command.kind === 'callTool' ? state.safetyOf(command.tool) : 'readOnly';
      if (mayBeMade && command.kind === 'callTool' && safety !== 'readOnly') {
        this.#earlierCalls ??= new Set();
        this.#earlierCalls.add(command.id);
        if (holdsUnsafe && safety === 'none' && !command.isCompensation) {
          this.#heldIds ??= new Set();
          this.#heldIds.add(command.id);
        }
      }
      const dueAt = dueAtAgain(state, command, now);
      this.#ownLimits ??= new Map();
      this.#ownLimits.set(command.id, dueAt);
      // After the run's deadline no call is made.
      if (dueAt > now || this.#heldIds?.has(command.id) === true) this.take({ ...command, dueAt });
      else this.expect(command);
    }
  }

  /** The process that made a call is gone. A compensation is made again; any other call is held. */
  lose(call: Call): void {
    if (!this.has(call.id)) return;
    this.settle(call.id);
    this.#earlierCalls ??= new Set();
    this.#earlierCalls.add(call.id);
    if (call.kind !== 'callTool' || !call.isCompensation) {
      this.#heldIds ??= new Set();
      this.#heldIds.add(call.id);
    }
    this.take(call);
  }

  /** An operator has decided about calls: they are held no longer. */
  decided(events: readonly Event[]): void {
    if (this.#heldIds === undefined) return;
    for (const event of events) {
      if (event.kind !== 'retryRequested' && event.kind !== 'outcomeDecided') continue;
      for (const { id } of this.heldCalls.filter(({ node }) => node === event.node)) {
        this.#heldIds.delete(id);
        this.#others?.delete(id);
        // What is made now is all that can have happened.
        if (event.kind === 'outcomeDecided') this.#earlierCalls?.delete(id);
      }
    }
  }

  /** The event of a call that returned. One that failed, and may have been made before, may have taken effect then. */
  checked(event: Event): Event {
    if (event.kind !== 'toolFailed' || this.#earlierCalls?.has(event.command) !== true) return event;
    return { ...event, attempted: true, failure: { ...event.failure, outcomeUnknown: true } };
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
    const { id } = command;
    const limit = isCall(command) ? this.#limitOf(command) : command.dueAt;
    if (limit === undefined) return;
    // A call that an operator has made again has a later limit.
    const dueAt = Math.max(limit, this.#ownLimits?.get(id) ?? 0);
    this.#timer ??= new RunTimer(this.#clock, this, this.#onTime);
    if (awaits === 'time') this.#timer.addTime(id, dueAt);
    else this.#timer.addLimit(id, dueAt);
  }

  /** Removes a command that was answered or cancelled. Has no effect on one that is not open. */
  settle(id: string): void {
    const command = this.#others?.delete(id);
    if (command === undefined) this.#asks.delete(id);
    else if (awaited(command) === 'host' && this.#heldIds?.has(id) !== true) this.#busy -= 1;
  }

  has(id: string): boolean {
    return this.#others?.has(id) === true || this.#asks.has(id);
  }

  /** Calls that are not made although the run waits for them. */
  get heldCalls(): readonly ToolCall[] {
    if (this.#heldIds === undefined) return [];
    return [...this.#heldIds].flatMap((id) => {
      const command = this.#others?.get(id);
      return command?.kind === 'callTool' ? [command] : [];
    });
  }

  get asks(): Asks {
    return this.#asks;
  }

  /** Whether a call, a read, an evaluation or a delay before an attempt ends by itself. */
  get isHostBusy(): boolean {
    return this.#busy > 0;
  }

  /** Whether the run only waits once commands are taken and others settled: no command ends by itself. */
  waitsAfter(accepted: readonly Command[], settled: ReadonlySet<string>): boolean {
    let busy = this.#busy;
    for (const command of accepted) {
      if (command.kind === 'cancelTimer' || command.kind === 'cancelCall') continue;
      // A model may be asked for a value.
      const isAsked = command.kind === 'requestAction' && mayAskModel(command.action);
      if (isAsked || awaited(command) === 'host') return false;
    }
    for (const id of settled) {
      const command = this.#others?.get(id);
      if (command !== undefined && awaited(command) === 'host' && this.#heldIds?.has(id) !== true) busy -= 1;
    }
    return busy === 0;
  }

  /** Whether calls are still to be made. A cancelled one may be among them. */
  get hasCalls(): boolean {
    return this.#toMake !== undefined && this.#toMake.length > 0;
  }

  /** Takes the next call that is still to be made. Undefined for a call that was cancelled meanwhile. */
  nextCall(): Call | undefined {
    const call = this.#toMake?.shift();
    return call !== undefined && this.has(call.id) ? call : undefined;
  }

  /** A cancellation comes alone, with the ids of calls and reads that were not made, here or before. */
  withNotStarted(events: readonly Event[]): readonly Event[] {
    const [event] = events;
    if (event?.kind !== 'cancelled') return events;
    const notStarted = [...(this.#toMake ?? [])].flatMap(({ kind, id }) =>
      kind === 'evaluate' || this.#earlierCalls?.has(id) === true ? [] : [id],
    );
    return notStarted.length === 0 ? events : [{ ...event, notStarted }];
  }

  /** When the next wait for a time ends, in ms since the epoch. Limits of other waits are left out. */
  get nextTime(): number {
    return this.#timer?.nextTime ?? Number.POSITIVE_INFINITY;
  }

  /** When the first of its times and limits comes, in ms since the epoch. */
  get nextDue(): number {
    return this.#timer?.nextDue ?? Number.POSITIVE_INFINITY;
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

  /** Releases what a run does not need while it waits. */
  trim(): void {
    if (this.#others?.size === 0) this.#others = undefined;
    if (!this.hasCalls) this.#toMake = undefined;
    if (this.#timer?.isEmpty === true) this.#timer = undefined;
  }
}

function isCall(command: Command): command is Call {
  return command.kind === 'callTool' || command.kind === 'readResource' || command.kind === 'evaluate';
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

/** Keeps the time for one run, however much it waits for: one timer of the clock, for the earliest time. */
class RunTimer {
  readonly #clock: Clock;
  readonly #open: OpenIds;
  readonly #onTime: (ids: readonly string[]) => void;
  /** Times that a run waits for. */
  #times: DueTimes | undefined;
  /** Limits of other waits. */
  #limits: DueTimes | undefined;
  #armed: { readonly dueAt: number; readonly cancel: () => void } | undefined;

  constructor(clock: Clock, open: OpenIds, onTime: (ids: readonly string[]) => void) {
    this.#clock = clock;
    this.#open = open;
    this.#onTime = onTime;
  }

  addTime(id: string, dueAt: number): void {
    this.#times ??= new DueTimes(this.#open);
    this.#times.add(id, dueAt);
  }

  addLimit(id: string, dueAt: number): void {
    this.#limits ??= new DueTimes(this.#open);
    this.#limits.add(id, dueAt);
  }

  /** Whether no time is expected any more. */
  get isEmpty(): boolean {
    return this.#armed === undefined && this.#times?.first === undefined && this.#limits?.first === undefined;
  }

  /** When the next wait for a time ends, in ms since the epoch. */
  get nextTime(): number {
    return this.#times?.first?.dueAt ?? Number.POSITIVE_INFINITY;
  }

  /** When the first of its times and limits comes, in ms since the epoch. */
  get nextDue(): number {
    return Math.min(this.nextTime, this.#limits?.first?.dueAt ?? Number.POSITIVE_INFINITY);
  }

  /** Sets the clock's timer for the earliest time. One that comes too early is set again when it comes. */
  arm(): void {
    const dueAt = this.nextDue;
    if (dueAt === Number.POSITIVE_INFINITY) this.clear();
    else if (this.#armed === undefined || this.#armed.dueAt > dueAt) {
      this.#disarm();
      this.#armed = { dueAt, cancel: callAt(this.#clock, dueAt, () => this.#fire()) };
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
    const now = this.#clock.now();
    const due: { readonly id: string; readonly dueAt: number }[] = [];
    for (const times of [this.#times, this.#limits]) {
      for (let next = times?.takeDue(now); next !== undefined; next = times?.takeDue(now)) due.push(next);
    }
    if (due.length === 0) this.arm();
    else this.#onTime(due.sort((one, other) => one.dueAt - other.dueAt).map(({ id }) => id));
  }
}

/** A time that something of a run is due. */
interface Due {
  readonly id: string;
  /** Ms since the epoch. */
  readonly dueAt: number;
}

/** The ids with times that are still expected. An id that is removed never returns. */
interface OpenIds {
  has(id: string): boolean;
}

/** So many entries are kept before those that are not wanted any more are looked for. */
const FEW = 32;

/**
 * The times a run waits for, the earliest first. A time that is not wanted any more stays in it until it comes to the top
 * or until the heap has doubled.
 */
export class DueTimes {
  readonly #open: OpenIds;
  readonly #heap = new Heap<Due>((one, other) => one.dueAt < other.dueAt);
  #limit = FEW;

  constructor(open: OpenIds) {
    this.#open = open;
  }

  add(id: string, dueAt: number): void {
    if (this.#heap.size >= this.#limit) {
      this.#heap.keep((due) => this.#open.has(due.id));
      this.#limit = Math.max(FEW, this.#heap.size * 2);
    }
    this.#heap.add({ id, dueAt });
  }

  /** The earliest time that is wanted. */
  get first(): Due | undefined {
    for (let { first } = this.#heap; first !== undefined; first = this.#heap.first) {
      if (this.#open.has(first.id)) return first;
      this.#heap.removeFirst();
    }
    return undefined;
  }

  /** Takes the earliest time that is wanted away, if it has come. */
  takeDue(now: number): Due | undefined {
    const { first } = this;
    if (first === undefined || first.dueAt > now) return undefined;
    this.#heap.removeFirst();
    return first;
  }
}
