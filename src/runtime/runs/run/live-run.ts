import { defined } from '../../../graph/defined.js';
import type { Json } from '../../../graph/json.js';
import { planOf } from '../../../plan/compile.js';
import type { Advance, Command, Fact, Failure, RunState } from '../../engine/contract.js';
import { advance, start } from '../../engine/engine.js';
import type { Action, Event } from '../../engine/events.js';
import { commandOf, outstanding } from '../../engine/read.js';
import { restore } from '../../engine/snapshot.js';
import type { CallMask } from '../../secrets/call-mask.js';
import { RunMask } from '../../secrets/run-mask.js';
import { type CallContext, runRef } from '../../tools/port.js';
import { carrierIn, carrierRows, type RunTelemetry, type TraceCarrier } from '../../tools/telemetry.js';
import { copyJson } from '../../tools/to-json.js';
import { type HostRow, isLocal, isUntouchedFork, JournalConflictError } from '../store/journal.js';
import { UNRECORDED } from '../store/local-journal.js';
import { type Call, type CallingRun, CallsInFlight, type SharedContext } from './calls-in-flight.js';
import { type Clock, processClock, type Turns } from './clock.js';
import { type Delivery, InboxReader, Incoming } from './inbox.js';
import { JournalWriter, type Reloaded } from './journal-writer.js';
import { type Asks, OpenCommands, type TimedRun } from './open-commands.js';
import {
  type CancelOptions,
  followed,
  type LiveStatus,
  noteTransition,
  type RunHost,
  type RunKeeper,
  type RunResumption,
  type RunStart,
  type Start,
  startOf,
  tellFacts,
} from './run-host.js';
import { type AskingRun, ValuesInFlight } from './values-in-flight.js';

/** What takes effect once the journal has it: facts for observers, commands, a response. */
interface Pending {
  readonly transition: Advance;
  readonly events: readonly Event[];
  readonly delivery: Delivery | undefined;
  /** The answer to the delivery. */
  readonly response: Json;
  /** Rows of the host that are written with it. */
  readonly noted: readonly HostRow[];
}

/**
 * A run in this process: executes the engine's commands and returns their answers as events, in batches. A question
 * stays open until it is answered. Only the engine decides what runs next. The run yields to the event loop at
 * intervals, so that other work, a cancellation of the run included, is not delayed.
 *
 * A transition takes effect only after its journal has it. If a write fails, the run continues from what was
 * written; see {@link JournalWriter}.
 *
 * Starts with {@link go}. When the run is over, its timers are cleared and its calls in flight are aborted. Objects that
 * a waiting run does not need are released: many runs wait at once.
 */
export class LiveRun implements CallingRun, TimedRun, AskingRun {
  readonly #host: RunHost;
  readonly #context: SharedContext;
  readonly #keeper: RunKeeper;
  readonly clock: Clock;
  readonly #mask: RunMask;
  readonly #open: OpenCommands;
  readonly #writer: JournalWriter<Pending>;
  #incoming: Incoming | undefined;
  #calls: CallsInFlight | undefined;
  #values: ValuesInFlight | undefined;
  #reader: InboxReader | undefined;
  #ref: string | undefined;
  /** From when the run goes here. */
  telemetry: RunTelemetry | undefined;
  readonly #origin: TraceCarrier | undefined;
  #state: RunState;
  /** What it starts with, until the start is safe. */
  #start: Start | undefined;
  /** The transition of the start, until it is taken. */
  #begun: Advance | undefined;
  /** The engine owes a continuation. */
  #more = false;
  /** Callbacks of {@link whenSafe}. */
  #waiting: (() => void)[] | undefined;
  #isBusy = false;
  /** It has work to do, and continues in a later turn of the event loop. */
  #isPaused = false;
  #isOver = false;
  /** Another process has it. */
  #isLost = false;
  /** Calls have returned, and those that return in the same microtask are awaited. */
  #isGathering = false;

  constructor(run: RunStart | RunResumption, host: RunHost, keeper: RunKeeper) {
    const { graph, context } = run;
    const { clock = processClock, journal = UNRECORDED, holdsUnsafeCalls } = host;
    this.#host = host;
    this.#context = context;
    this.#keeper = keeper;
    this.clock = clock;
    this.#open = new OpenCommands(this);
    if ('loaded' in run) {
      const { loaded } = run;
      this.#state = restore(planOf(graph), loaded.rows);
      this.#origin = host.telemetry && carrierIn(loaded.hostRows);
      const { input } = this.#state;
      this.#mask = run.mask ?? new RunMask(graph, { input, rows: loaded.hostRows });
      this.#writer = new JournalWriter(journal, graph, loaded);
      const { commands, more } = outstanding(this.#state);
      this.#more = more;
      // The process that holds it has its calls in flight.
      if (isUntouchedFork(loaded)) for (const command of commands) this.#open.take(command);
      else this.#open.takeOver(commands, this.#state, holdsUnsafeCalls && loaded.holder !== 'other');
      return;
    }
    this.#start = startOf(run, host, clock.now());
    const { input } = this.#start;
    this.#mask = run.mask ?? new RunMask(graph, { input });
    this.#writer = new JournalWriter(journal, graph, { run: run.runId, seq: 0, epoch: 0 });
    this.#begun = start(planOf(graph), input, this.#start.ids);
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
    if (this.#isLost) return 'busy';
    if (this.#isOver) return 'over';
    if (this.#isBusy || !this.isSafe || this.#hasWork) return 'busy';
    if (this.#state.run.status !== 'running') return 'over';
    if (this.#open.isHostBusy || this.#values?.isEmpty === false) return 'busy';
    return this.#open.asks.size > 0 || this.#open.held.length > 0 ? 'asking' : 'sleeping';
  }

  /** When the first time comes that moves the run on, in ms since the epoch. What only bounds a wait is none. */
  get nextTime(): number {
    return this.#open.nextTime;
  }

  /** The open questions, the oldest first. */
  get asks(): Asks {
    return this.#open.asks;
  }

  /** Calls that may have been made before, and are not made again. */
  get heldCalls(): OpenCommands['held'] {
    return this.#open.held;
  }

  isOpen(command: string): boolean {
    return this.#open.has(command);
  }

  /** Whether nothing of the state has still to be written. */
  get isSafe(): boolean {
    return !this.#isLost && this.#writer.isSafe;
  }

  get seq(): number {
    return this.#writer.seq;
  }

  /** Whether the start of the run is safe. */
  get hasBegun(): boolean {
    return this.#writer.hasBegun;
  }

  /** Starts the run, or continues it after a restart. */
  go(): void {
    if (this.#begun !== undefined || this.#state.run.status === 'running')
      this.telemetry = followed(this.#host, this.#state, this.#origin);
    if (this.#begun === undefined) this.#readInbox();
    this.#supply([...this.#open.asks.values()]);
    this.#work();
  }

  /** Calls back when nothing of the state has still to be written: at once, or later. */
  whenSafe(look: () => void): void {
    if (this.#isOver || this.#writer.journal.isVolatile || (this.isSafe && !this.#isBusy)) {
      look();
      return;
    }
    this.#waiting ??= [];
    this.#waiting.push(look);
  }

  /** Takes something that was sent to the run. A pause does not delay it. */
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

  /** Fails an action that the user could not or would not answer. */
  refuse(action: string, failure: Failure): void {
    this.#feedAtOnce({ kind: 'actionFailed', at: this.clock.now(), command: action, failure });
  }

  /** Cancels the run; see the `cancelled` event of the engine. */
  cancel(reason: string, { compensate = false, code, by }: CancelOptions = {}): void {
    this.#feedAtOnce({
      kind: 'cancelled',
      at: this.clock.now(),
      reason,
      ...(compensate ? { compensate } : {}),
      ...defined({ code, by }),
    });
  }

  /** Leaves the run as it is. Nothing of it goes on in this process. */
  leave(): void {
    if (!this.#isOver) this.#letGo();
  }

  timesUp(ids: readonly string[]): void {
    const at = this.clock.now();
    for (const command of ids) this.#in.add({ kind: 'timerFired', at, command });
    this.#workUnlessPaused();
  }

  /** What must not be shown of a call that is about to be made. */
  maskOf(call: Call): CallMask {
    return this.#mask.ofCall(call, this.#state);
  }

  /** A call has come back. @param mask the one it was given, where it asked for one. */
  returned(event: Event, call: Call, mask: CallMask | undefined): void {
    if (mask !== undefined) this.#mask.returned(call, mask);
    if (this.#isOver) return;
    this.#in.add(this.#open.checked(event));
    if (this.#isGathering || this.#isPaused) return;
    // Calls that come back one right after the other are taken in together: a transition has its price.
    this.#isGathering = true;
    // `queueMicrotask` would make an async resource for each.
    void SETTLED.then(() => {
      this.#isGathering = false;
      this.#workUnlessPaused();
    });
  }

  /** Takes an event from outside. A pause does not delay it. */
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
    if (this.#isBusy || this.#isOver || this.#writer.isWriting) return;
    this.#isBusy = true;
    const { turns } = this.clock;
    try {
      for (let steps = 0; this.#hasWork; steps += 1) {
        if (this.#waiting !== undefined && this.isSafe) this.#callWaiting();
        // A run that is over has little left to do, and must not be seen half ended.
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
    if (this.#values?.isEmpty !== false) this.#writer.release();
    this.#open.trim();
    this.#incoming = undefined;
    if (this.#calls?.isEmpty === true) this.#calls = undefined;
  }

  get #hasWork(): boolean {
    return (
      this.#writer.hasWritten ||
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

  /** Events go before calls that are still to be made: they may cancel these calls. */
  #step(): void {
    const incoming = this.#incoming;
    const written = this.#writer.takeWritten();
    if (written !== undefined) {
      const { pending, reloaded } = written;
      if (reloaded === undefined) this.#accept(pending);
      else this.#goOnFrom(reloaded, pending);
    } else if (this.#begun !== undefined) {
      const begun = this.#begun;
      this.#begun = undefined;
      this.#take(begun, NO_EVENTS);
    } else if (this.#more) {
      this.#take(advance(this.#state.plan, this.#state, NO_EVENTS), NO_EVENTS);
    } else if (incoming?.hasEvents === true) {
      const events = this.#open.withNotStarted(incoming.takeEvents());
      this.#take(advance(this.#state.plan, this.#state, events), events);
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

  #openDelivery(delivery: Delivery): void {
    const opened = delivery.open(this.#state);
    const events = opened === undefined ? NO_EVENTS : this.#open.withNotStarted([opened]);
    const command = opened !== undefined && 'command' in opened ? opened.command : undefined;
    const isLate = command !== undefined && !this.#open.has(command);
    const transition = advance(this.#state.plan, this.#state, events);
    const isOpenStill = command !== undefined && commandOf(this.#state, command) !== undefined;
    const isTaken = opened !== undefined && !isLate && !isOpenStill;
    this.#take(transition, events, delivery, delivery.respond(isTaken));
  }

  #take(transition: Advance, given: readonly Event[], delivery?: Delivery, response: Json = null): void {
    const { state, consumed } = transition;
    this.#state = state;
    const isWhole = consumed >= given.length;
    if (!isWhole) this.#in.putBack(given.slice(consumed));
    const events = isWhole ? given : given.slice(0, consumed);
    const item = delivery?.item;
    const noted = [
      ...(this.#start === undefined || this.telemetry === undefined
        ? []
        : carrierRows(this.telemetry.carrier)),
      ...noteTransition(this.#keeper, this.#mask, { events, facts: transition.facts, state }),
    ];
    const pending = { transition, events, delivery, response, noted };
    // Rows are made when they are asked for.
    const { journal } = this.#writer;
    const changes = journal.isVolatile ? NO_CHANGES : transition.changes;
    const isNew = changes.length > 0 || item !== undefined || noted.length > 0;
    const written = isNew ? this.#write(pending, changes) : undefined;
    if (written === undefined) this.#accept(pending);
    else
      written.then(
        () => this.#workUnlessPaused(),
        (fault) => this.#break(fault),
      );
  }

  #workUnlessPaused(): void {
    if (!this.#isPaused) this.#work();
  }

  #write(pending: Pending, changes: Advance['changes']): Promise<void> | undefined {
    const { transition, events, delivery, response, noted } = pending;
    const item = delivery?.item;
    const consumes = item === undefined ? {} : { consumed: [{ id: item, response }] };
    const released = !isLocal(this.#writer.journal) && this.#waitsAfter(transition, events) ? RELEASED : {};
    const hostRows = noted.length === 0 ? {} : { hostRows: noted };
    return this.#writer.write({ events, changes, ...hostRows, ...consumes, ...released }, pending);
  }

  /** Whether the run is over, or only waits, once a transition has taken effect: then any process may go on with it. */
  #waitsAfter({ state, commands, more }: Advance, events: readonly Event[]): boolean {
    if (more || (this.#incoming?.size ?? 0) > 0 || this.#values?.isEmpty === false) return false;
    if (state.run.status !== 'running') return true;
    const settled = new Set<string>();
    for (const event of events) {
      if ('command' in event && commandOf(state, event.command) === undefined) settled.add(event.command);
    }
    for (const command of commands) {
      if (command.kind === 'cancelTimer') settled.add(command.timer);
      if (command.kind === 'cancelCall') settled.add(command.call);
    }
    return this.#open.waitsAfter(commands, settled);
  }

  /** Everything of a transition is safe. */
  #accept({ transition, events, delivery, response }: Pending): void {
    const { state, commands, facts, more } = transition;
    this.#start = undefined;
    this.#more = more;
    this.#open.decided(events);
    for (const command of commands) this.#open.take(command);
    for (const event of events) {
      if ('command' in event && commandOf(state, event.command) === undefined)
        this.#open.settle(event.command);
    }
    this.#values?.trim((id) => this.#open.has(id));
    this.#supply(commands);
    this.#supply(refusedIn(events, state));
    this.#tell(facts, delivery, response);
    for (const command of commands) if (command.kind === 'cancelCall') this.#calls?.abort(command.call);
    this.#readInbox();
  }

  /** What an action asks, without secrets. */
  shown(node: string, action: Action): Action {
    return this.#mask.action(node, action);
  }

  /** The client that may be asked for the value of a model. */
  get peer(): CallContext['peer'] {
    return this.#context.modelPeer ?? this.#context.peer;
  }

  supplied(event: Event): void {
    this.#feedAtOnce(event);
  }

  /** Asks for values of models. */
  #supply(commands: Iterable<Command>): void {
    for (const command of commands) {
      if (command.kind !== 'requestAction' || command.action.mode !== 'model') continue;
      if (this.#incoming?.answered.has(command.id) === true) continue;
      this.#values ??= new ValuesInFlight(this, this.#host.values);
      this.#values.ask(command);
    }
  }

  /** From the start of the run on, there is an inbox in its journal. */
  #readInbox(): void {
    const keeper = this.#keeper;
    if (keeper.receive === undefined || this.#writer.journal.isVolatile || this.#reader !== undefined) return;
    this.#reader = new InboxReader(
      this.#writer.journal,
      this.#state.run.id,
      (item) => {
        const delivery = keeper.receive?.(item);
        if (delivery !== undefined) this.deliver(delivery);
      },
      (items) => keeper.inboxRead?.(items),
      (fault) => this.#break(fault),
    );
  }

  /** Continues from what was written after a failed write. Calls in flight that the state still expects are kept. */
  #goOnFrom(
    { state, wasWritten, hostRows }: Reloaded,
    { transition, events, delivery, response, noted }: Pending,
  ): void {
    if (!wasWritten) {
      // The delivery is opened again, which makes its event again.
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
    if (wasWritten) this.#open.decided(events);
    this.#open.clear();
    this.#expectOwed();
    this.#supply([...this.#open.asks.values()]);
    this.#calls?.abortAll((id) => this.#open.has(id));
    if (wasWritten) this.#tell(transition.facts, delivery, response);
    this.#readInbox();
  }

  /** Expects what the state still wants answered. Calls that are in flight or have returned are not made again. */
  #expectOwed(): void {
    const { commands, more } = outstanding(this.#state);
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
    this.#begun = start(this.#state.plan, this.#start.input, this.#start.ids);
    this.#state = this.#begun.state;
  }

  #tell(facts: readonly Fact[], delivery: Delivery | undefined, response: Json): void {
    if (delivery?.item !== undefined) this.#reader?.forget(delivery.item);
    delivery?.done(response);
    tellFacts(this.#keeper, facts, this.#state, this.telemetry);
  }

  #break(fault: unknown): void {
    if (this.#isOver) return;
    const waiting = this.#incoming?.deliveries ?? [];
    const lost = [this.#writer.pending?.delivery, ...waiting];
    this.#letGo();
    const isShared = this.#keeper.lost !== undefined && !isLocal(this.#writer.journal);
    if (fault instanceof JournalConflictError && this.hasBegun && isShared) {
      this.#lose(lost);
      return;
    }
    for (const delivery of lost) delivery?.failed(fault);
    this.#keeper.broken(fault);
    this.#callWaiting();
  }

  /** Another process has written to the run. */
  #lose(deliveries: readonly (Delivery | undefined)[]): void {
    this.#isLost = true;
    const events = [...(this.#writer.pending?.events ?? []), ...(this.#incoming?.events ?? [])];
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    this.#keeper.lost?.({
      deliveries: deliveries.filter((each) => each !== undefined),
      cancellations: events.filter((event) => event.kind === 'cancelled'),
      waiting,
    });
  }

  #letGo(): void {
    this.#isOver = true;
    this.#open.stopTimer();
    this.#reader?.stop();
    this.#calls?.abortAll();
    this.#values?.trim();
    this.telemetry?.end();
  }
}

const NO_EVENTS: readonly Event[] = [];

const NO_CHANGES: Advance['changes'] = [];

const RELEASED = { releases: true } as const;

const SETTLED = Promise.resolve();

/** The actions that still wait for a value, of which a try did not fit. */
function refusedIn(events: readonly Event[], state: RunState): readonly Command[] {
  return events.flatMap((event) =>
    event.kind === 'valueRefused' ? (commandOf(state, event.command) ?? []) : [],
  );
}
