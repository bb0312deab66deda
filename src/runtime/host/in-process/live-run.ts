import type { Json } from '../../../graph/json.js';
import type { Event, Fact, Failure, RunState } from '../../engine/contract.js';
import type { CallMask } from '../../tools/call-mask.js';
import { runRef } from '../../tools/port.js';
import { copyJson } from '../../tools/to-json.js';
import type { HostRow } from '../journal.js';
import { RunMask } from '../run-mask.js';
import { type Call, type CallingRun, CallsInFlight, type SharedContext } from './calls-in-flight.js';
import { type Clock, processClock, type Turns } from './clock.js';
import { type Delivery, InboxReader, Incoming } from './inbox.js';
import { JournalWriter, type Reloaded } from './journal-writer.js';
import {
  begin,
  isOpen,
  mayChange,
  owed,
  proceed,
  restored,
  type Start,
  startOf,
  type Transition,
} from './machine.js';
import { type Asks, OpenCommands } from './open-commands.js';
import {
  type CancelOptions,
  type LiveStatus,
  noteTransition,
  type RunHost,
  type RunKeeper,
  type RunResumption,
  type RunStart,
  tellFacts,
} from './run-host.js';
import type { TimedRun } from './run-timer.js';

/** What is told and carried out once it is safe. */
interface Pending {
  readonly transition: Transition;
  readonly events: readonly Event[];
  readonly delivery: Delivery | undefined;
  /** To the delivery. */
  readonly response: Json;
  /** What is noted of it. */
  readonly noted: readonly HostRow[];
}

/**
 * A run under way: it takes the engine's commands, makes the calls, keeps the time and feeds the answers back, all that
 * came meanwhile at once. What it asks for stays open until it is answered. What runs next is the engine's decision
 * alone. It pauses now and then, so that whatever else goes on in the process has its turn, a cancellation of this run
 * included.
 *
 * With a journal, nothing of a transition is carried out or told before it is written. If that fails, the run goes on
 * from what was written; see {@link JournalWriter}.
 *
 * Begins with {@link go}. When it is over no timer of it is left, and calls that never came back are aborted. What it
 * needs only while it moves is made then, and let go of when it waits: many runs wait at once.
 */
export class LiveRun implements CallingRun, TimedRun {
  readonly #host: RunHost;
  readonly #context: SharedContext;
  readonly #keeper: RunKeeper;
  readonly clock: Clock;
  readonly #mask: RunMask;
  readonly #open: OpenCommands;
  readonly #writer: JournalWriter<Pending> | undefined;
  #incoming: Incoming | undefined;
  #calls: CallsInFlight | undefined;
  #reader: InboxReader | undefined;
  #ref: string | undefined;
  #state: RunState;
  /** What it begins with, until that is safe. */
  #start: Start | undefined;
  /** The start, until it is carried out. */
  #begun: Transition | undefined;
  /** The engine owes a continuation. */
  #more = false;
  /** Wait until everything is safe. */
  #waiting: (() => void)[] | undefined;
  #isBusy = false;
  /** It has work to do, and waits for the next turn of the event loop. */
  #isPaused = false;
  #isOver = false;
  /** Calls have come back, and what came right after them is waited for. */
  #isGathering = false;

  constructor(run: RunStart | RunResumption, host: RunHost, keeper: RunKeeper) {
    const { graph, context } = run;
    const { clock = processClock, journal } = host;
    this.#host = host;
    this.#context = context;
    this.#keeper = keeper;
    this.clock = clock;
    this.#open = new OpenCommands(this);
    if ('loaded' in run) {
      const { loaded } = run;
      this.#state = restored(graph, loaded.rows);
      const { input } = this.#state;
      this.#mask = run.mask ?? new RunMask(graph, { input, rows: loaded.hostRows });
      this.#writer = journal && new JournalWriter(journal, graph, loaded);
      const { commands, more } = owed(this.#state);
      this.#more = more;
      for (const command of commands) {
        if (mayChange(this.#state, command)) this.#open.takeAgain(command);
        else this.#open.take(command);
      }
      return;
    }
    this.#start = startOf(run, host, clock.now());
    const { input } = this.#start;
    this.#mask = run.mask ?? new RunMask(graph, { input });
    this.#writer = journal && new JournalWriter(journal, graph, { run: run.runId, seq: 0, epoch: 0 });
    this.#begun = begin(graph, this.#start);
    this.#state = this.#begun.state;
  }

  /** See `runRef`. */
  get ref(): string {
    this.#ref ??= runRef(this.#state.run.id);
    return this.#ref;
  }

  get workflow(): string {
    return this.#state.plan.graph.name;
  }

  /** As it is now. It is changed in place by whatever happens next; see {@link whenSafe}. */
  get state(): RunState {
    return this.#state;
  }

  get liveStatus(): LiveStatus {
    if (this.#isOver) return 'over';
    if (this.#isBusy || !this.isSafe || this.#hasWork) return 'busy';
    if (this.#state.run.status !== 'running') return 'over';
    if (this.#open.isHostBusy) return 'busy';
    return this.#open.asks.size > 0 ? 'asking' : 'sleeping';
  }

  /** When the first time comes that moves the run on, in ms since the epoch. What only bounds a wait is none. */
  get nextTime(): number {
    return this.#open.nextTime;
  }

  /** What it asks for, the oldest first. */
  get asks(): Asks {
    return this.#open.asks;
  }

  /** Whether a command still wants an answer. */
  isOpen(command: string): boolean {
    return this.#open.has(command);
  }

  /** Whether nothing of the state has still to be written. */
  get isSafe(): boolean {
    return this.#writer?.isSafe ?? true;
  }

  /** Whether the start of the run is safe. */
  get hasBegun(): boolean {
    return this.#writer?.hasBegun ?? true;
  }

  /** Carries out what the start, a cancellation before it, or the process that had the run has left to do. */
  go(): void {
    if (this.#begun === undefined) this.#readInbox();
    this.#work();
  }

  /** Calls back when nothing of the state has still to be written: at once, or later. */
  whenSafe(look: () => void): void {
    if (this.#isOver || this.#writer === undefined || (this.isSafe && !this.#isBusy)) {
      look();
      return;
    }
    this.#waiting ??= [];
    this.#waiting.push(look);
  }

  /** Takes something in from outside. It is not kept waiting by a pause. */
  deliver(delivery: Delivery): void {
    this.#in.deliver(delivery);
    this.#workAtOnce();
  }

  /** Answers an action. An answer that does not fit leaves it open. */
  answer(action: string, value: Json): void {
    const copy = copyJson(value);
    if (copy === undefined) throw new TypeError(`the answer to '${action}' is not JSON`);
    this.#feedAtOnce({ kind: 'actionSubmitted', at: this.clock.now(), command: action, value: copy });
  }

  /** The user who was asked could not or would not answer. */
  refuse(action: string, failure: Failure): void {
    this.#feedAtOnce({ kind: 'actionFailed', at: this.clock.now(), command: action, failure });
  }

  /** Gives the run up; see the `cancelled` event of the engine. */
  cancel(reason: string, { compensate = false, code, by }: CancelOptions = {}): void {
    this.#feedAtOnce({
      kind: 'cancelled',
      at: this.clock.now(),
      reason,
      ...(compensate ? { compensate } : {}),
      ...(code === undefined ? {} : { code }),
      ...(by === undefined ? {} : { by }),
    });
  }

  timesUp(ids: readonly string[]): void {
    const at = this.clock.now();
    for (const command of ids) this.#in.add({ kind: 'timerFired', at, command });
    if (!this.#isPaused) this.#work();
  }

  /** What must not be shown of a call that is about to be made. */
  maskOf(call: Call): CallMask {
    return this.#mask.ofCall(call, this.#state);
  }

  /** A call has come back. @param mask the one it was given, where it asked for one. */
  returned(event: Event, call: Call, mask: CallMask | undefined): void {
    if (mask !== undefined) this.#mask.returned(call, mask);
    if (this.#isOver) return;
    this.#in.add(this.#open.mayBeMadeBefore(call.id) ? unsure(event) : event);
    if (this.#isGathering || this.#isPaused) return;
    // Calls that come back one right after the other are taken in together: a transition has its price.
    this.#isGathering = true;
    // `queueMicrotask` would make an async resource for each.
    void SETTLED.then(() => {
      this.#isGathering = false;
      if (!this.#isPaused) this.#work();
    });
  }

  /** Takes in what does not come of the run's own doing: it is not kept waiting by a pause. */
  #feedAtOnce(event: Event): void {
    if (this.#isOver) return;
    this.#in.add(event);
    this.#workAtOnce();
  }

  get #in(): Incoming {
    this.#incoming ??= new Incoming();
    return this.#incoming;
  }

  #workAtOnce(): void {
    this.#work(1 + this.#in.size);
  }

  /** @param least how many steps are made in any case, without a pause. */
  #work(least = 0): void {
    if (this.#isBusy || this.#isOver || this.#writer?.isWriting === true) return;
    this.#isBusy = true;
    const { turns } = this.clock;
    try {
      for (let steps = 0; this.#hasWork; steps += 1) {
        if (this.#waiting !== undefined && this.isSafe) this.#callWaiting();
        // What is left to do for a run that is over is little, and it is not to be seen half ended.
        if (steps >= least && this.#state.run.status === 'running' && turns?.isOver) {
          this.#pause(turns);
          this.#open.armTimer();
          return;
        }
        this.#step();
        if (!this.isSafe) {
          this.#open.armTimer();
          return;
        }
      }
      if (this.#state.run.status === 'running') this.#rest();
    } catch (fault) {
      this.#break(fault);
      return;
    } finally {
      this.#isBusy = false;
    }
    if (this.#state.run.status !== 'running') this.#letGo();
    this.#keeper.changed();
    this.#callWaiting();
  }

  /** There is nothing to do until something comes in. */
  #rest(): void {
    this.#open.armTimer();
    if (this.#open.isHostBusy) return;
    this.#open.trim();
    this.#incoming = undefined;
    if (this.#calls?.isEmpty === true) this.#calls = undefined;
  }

  get #hasWork(): boolean {
    return (
      this.#writer?.hasWritten === true ||
      this.#begun !== undefined ||
      this.#more ||
      (this.#incoming !== undefined && this.#incoming.size > 0) ||
      this.#open.hasCalls
    );
  }

  #pause(turns: Turns): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    turns.wait(() => {
      this.#isPaused = false;
      // However late in the turn it is, one step is made.
      if (this.#hasWork) this.#work(1);
    });
  }

  #callWaiting(): void {
    const waiting = this.#waiting;
    if (waiting === undefined) return;
    this.#waiting = undefined;
    for (const look of waiting) look();
  }

  /** What comes in goes before calls that are still to be made: it may be that they are not wanted any more. */
  #step(): void {
    const incoming = this.#incoming;
    const written = this.#writer?.takeWritten();
    if (written !== undefined) {
      const { pending, reloaded } = written;
      if (reloaded === undefined) this.#accept(pending);
      else this.#goOnFrom(reloaded, pending);
    } else if (this.#begun !== undefined) {
      const begun = this.#begun;
      this.#begun = undefined;
      this.#take(begun, NO_EVENTS);
    } else if (this.#more) {
      this.#take(proceed(this.#state, NO_EVENTS), NO_EVENTS);
    } else if (incoming?.hasEvents === true) {
      const events = this.#withNotStarted(incoming.takeEvents());
      this.#take(proceed(this.#state, events), events);
    } else {
      const delivery = incoming?.takeDelivery();
      if (delivery !== undefined) this.#openDelivery(delivery);
      else this.#makeCall();
    }
  }

  #makeCall(): void {
    const call = this.#open.nextCall();
    if (call === undefined) return;
    this.#calls ??= new CallsInFlight(this.#host.calls, this, this.#context, this.clock);
    this.#calls.make(call, this.#mask.isEmpty ? undefined : this.maskOf(call));
  }

  /** A cancellation comes alone. It says which calls and reads wait to be made. */
  #withNotStarted(events: readonly Event[]): readonly Event[] {
    const [event] = events;
    if (event?.kind !== 'cancelled') return events;
    const { notStarted } = this.#open;
    return notStarted.length === 0 ? events : [{ ...event, notStarted }];
  }

  #openDelivery(delivery: Delivery): void {
    const opened = delivery.open(this.#state);
    const events = opened === undefined ? NO_EVENTS : this.#withNotStarted([opened]);
    const command = opened !== undefined && 'command' in opened ? opened.command : undefined;
    const isLate = command !== undefined && !this.#open.has(command);
    const transition = proceed(this.#state, events);
    const isOpenStill = command !== undefined && isOpen(this.#state, command);
    const isTaken = opened !== undefined && !isLate && !isOpenStill;
    this.#take(transition, events, delivery, delivery.respond(isTaken));
  }

  #take(transition: Transition, given: readonly Event[], delivery?: Delivery, response: Json = null): void {
    const { state, consumed } = transition;
    this.#state = state;
    const isWhole = consumed >= given.length;
    if (!isWhole) this.#in.putBack(given.slice(consumed));
    const events = isWhole ? given : given.slice(0, consumed);
    const item = delivery?.item;
    const noted = noteTransition(this.#keeper, this.#mask, { events, facts: transition.facts, state });
    const pending = { transition, events, delivery, response, noted };
    // Rows are made when they are asked for.
    const changes = this.#writer === undefined ? [] : transition.changes;
    if (this.#writer === undefined || (changes.length === 0 && item === undefined && noted.length === 0)) {
      this.#accept(pending);
      return;
    }
    const consumes = item === undefined ? {} : { consumed: [{ id: item, response }] };
    const hostRows = noted.length === 0 ? {} : { hostRows: noted };
    this.#writer.write({ events, changes, ...hostRows, ...consumes }, pending).then(
      () => {
        if (!this.#isPaused) this.#work();
      },
      (fault) => this.#break(fault),
    );
  }

  /** Everything of a transition is safe. */
  #accept({ transition, events, delivery, response }: Pending): void {
    const { state, commands, facts, more } = transition;
    this.#start = undefined;
    this.#more = more;
    for (const command of commands) this.#open.take(command);
    for (const event of events) {
      if ('command' in event && !isOpen(state, event.command)) this.#open.settle(event.command);
    }
    this.#tell(facts, delivery, response);
    for (const command of commands) if (command.kind === 'cancelCall') this.#calls?.abort(command.call);
    this.#readInbox();
  }

  /** From the start of the run on, there is an inbox in its journal. */
  #readInbox(): void {
    const { journal } = this.#host;
    const keeper = this.#keeper;
    if (keeper.receive === undefined || journal === undefined || this.#reader !== undefined) return;
    this.#reader = new InboxReader(
      journal,
      this.#state.run.id,
      (item) => {
        const delivery = keeper.receive?.(item);
        if (delivery !== undefined) this.deliver(delivery);
      },
      (fault) => this.#break(fault),
    );
  }

  /** The state was dropped: goes on from what was written. Calls in flight are kept where they are still wanted. */
  #goOnFrom(
    { state, wasWritten, hostRows }: Reloaded,
    { transition, events, delivery, response, noted }: Pending,
  ): void {
    if (!wasWritten) {
      // What was delivered is judged anew; the event it led to is not taken in by itself.
      this.#in.putBack(delivery === undefined ? events : NO_EVENTS, delivery);
      this.#mask.putBack(noted);
    }
    this.#keeper.reload?.(hostRows);
    if (state === undefined) {
      this.#beginAgain();
      return;
    }
    this.#start = undefined;
    this.#state = state;
    this.#open.clear();
    this.#expectOwed();
    this.#calls?.abortAll((id) => this.#open.has(id));
    if (wasWritten) this.#tell(transition.facts, delivery, response);
    this.#readInbox();
  }

  /** Expects what the state still wants answered. Calls that are in flight, or have come back, are not made again. */
  #expectOwed(): void {
    const { commands, more } = owed(this.#state);
    this.#more = more;
    const answered = this.#in.answered;
    for (const command of commands) {
      if (this.#calls?.has(command.id) === true || answered.has(command.id)) this.#open.expect(command);
      else this.#open.take(command);
    }
  }

  /** The start was not written. */
  #beginAgain(): void {
    if (this.#start === undefined) throw new Error('the journal lost a run that it had');
    this.#begun = begin(this.#state.plan.graph, this.#start);
    this.#state = this.#begun.state;
  }

  #tell(facts: readonly Fact[], delivery: Delivery | undefined, response: Json): void {
    if (delivery?.item !== undefined) this.#reader?.forget(delivery.item);
    delivery?.done(response);
    tellFacts(this.#keeper, facts, this.#state);
  }

  #break(fault: unknown): void {
    if (this.#isOver) return;
    const waiting = this.#incoming?.deliveries ?? [];
    const lost = [this.#writer?.pending?.delivery, ...waiting];
    this.#letGo();
    for (const delivery of lost) delivery?.failed(fault);
    this.#keeper.broken(fault);
    this.#callWaiting();
  }

  /** Nothing of the run outlives it. */
  #letGo(): void {
    this.#isOver = true;
    this.#open.stopTimer();
    this.#reader?.stop();
    this.#calls?.abortAll();
  }
}

/** The event of a call that may have been made before: one that failed may have taken effect then. */
function unsure(event: Event): Event {
  if (event.kind !== 'toolFailed') return event;
  return { ...event, attempted: true, failure: { ...event.failure, outcomeUnknown: true } };
}

const NO_EVENTS: readonly Event[] = [];

const SETTLED = Promise.resolve();
