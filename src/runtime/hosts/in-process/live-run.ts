import type { Json, JsonObject } from '../../../graph/json.js';
import type { Graph } from '../../../graph/model.js';
import type { ToolSafety } from '../../../graph/tool-safety.js';
import { unreachable } from '../../../graph/unreachable.js';
import type { CallMask } from '../../catalogue/call-mask.js';
import type { CallPort } from '../../catalogue/port.js';
import { thrownText } from '../../catalogue/thrown.js';
import type { Command, Event, Fact, Failure, RunState, StartIds } from '../../engine/contract.js';
import type { InboxItem, Journal } from '../journal.js';
import { RunMask } from '../run-mask.js';
import { runRef } from '../run-ref.js';
import { toolsOf } from '../tools-of.js';
import { type Call, type CallingRun, CallsInFlight, type SharedContext } from './calls-in-flight.js';
import { type Clock, processClock } from './clock.js';
import { copyJson } from './copy-json.js';
import { InboxReader } from './inbox-reader.js';
import { JournalWriter, type Reloaded } from './journal-writer.js';
import { begin, isOpen, owed, proceed, type Transition } from './machine.js';
import { type Ask, awaited, OpenCommands } from './open-commands.js';
import { Queue } from './queue.js';
import { RunTimer, type TimedRun } from './run-timer.js';
import type { Turns } from './turns.js';

/** What a run in this process needs. */
export interface LiveRunOptions {
  /** Must not change while the run lasts, nor afterwards. */
  readonly graph: Graph;
  /** Values of the graph's inputs, already checked, coerced and filled with defaults. */
  readonly input: JsonObject;
  /** Unique: idempotency keys are made from it. */
  readonly runId: string;
  /** How tools and resources are reached. */
  readonly calls: CallPort;
  /** What every call of the run is given; read anew for each call. */
  readonly context: SharedContext;
  /** How long attempts may take altogether, in ms from now. Without it only each attempt's own limit holds. */
  readonly deadlineMs?: number;
  /** Told every fact, in order, with the run as it is then. What it throws does not change the run. */
  readonly observe?: (fact: Fact, state: RunState) => void;
  /** Told what `observe` threw. Without it a process warning says so. */
  readonly onObserverError?: (error: unknown, fact: Fact) => void;
  /** What must not be shown of the run: it is told every fact first. Default: one of its own, for secret inputs. */
  readonly mask?: RunMask;
  /** How calls of a tool may be repeated. Default: each call may have an effect of its own. */
  readonly toolSafety?: (tool: string) => ToolSafety;
  /** Default: the process's own clock. */
  readonly clock?: Clock;
  /** Where its transitions are written. Default: nowhere. */
  readonly journal?: Journal;
}

/** What holds a run. */
export interface RunKeeper {
  /** The run has got as far as it gets for now: it is over, or waits for something. */
  changed(): void;
  /** The run is lost to this process, by a fault of the engine or of the journal. Nothing of it goes on. */
  broken(fault: unknown): void;
  /** Makes a delivery of what was sent to the run's inbox in the journal. Default: nothing is taken from there. */
  receive?(item: InboxItem): Delivery;
}

/** How a run is given up. */
export interface CancelOptions {
  readonly compensate?: boolean;
  /** The code of the run's failure. Default: `E_CANCELLED`. */
  readonly code?: string;
  /** Who gives it up. */
  readonly by?: JsonObject;
}

/** Something sent to a run from outside, which the run takes in when its turn comes. */
export interface Delivery {
  /** Id of its item in the journal's inbox, where it came from there. */
  readonly item?: string;
  /**
   * Looks at the run, of which everything is safe, and says what it is to take in: nothing where the answer is known
   * already. Called again where nothing of it could be written.
   */
  open(state: RunState): Event | undefined;
  /** What the sender is told. @param isTaken whether the run took the event in. */
  respond(isTaken: boolean): Json;
  /** Everything is safe; observers are told next. */
  done(response: Json): void;
  /** The run is lost to this process. */
  failed(fault: unknown): void;
}

/**
 * What moves a run on: calls or delays that end by themselves (`busy`), answers and perhaps times (`asking`), times
 * alone (`sleeping`), or nothing any more (`over`).
 */
export type Standing = 'busy' | 'asking' | 'sleeping' | 'over';

/** What is told and carried out once it is safe. */
interface Pending {
  readonly transition: Transition;
  readonly events: readonly Event[];
  readonly delivery: Delivery | undefined;
  /** To the delivery. */
  readonly response: Json;
}

/**
 * A run under way: its inbox, the commands still to be carried out, and what is in flight. It takes the engine's commands,
 * makes the calls, keeps the time and feeds the answers back, all that came meanwhile at once. What it asks for stays
 * open until it is answered. What runs next is the engine's decision alone. It pauses now and then, so that whatever else
 * goes on in the process has its turn, a cancellation of this run included.
 *
 * With a journal, nothing of a transition is carried out or told before it is written. If that fails, the run goes on
 * from what was written; see {@link JournalWriter}.
 *
 * Begins with {@link go}. When it is over no timer of it is left, and calls that never came back are aborted.
 */
export class LiveRun implements CallingRun, TimedRun {
  readonly #options: LiveRunOptions;
  readonly #keeper: RunKeeper;
  readonly #clock: Clock;
  #events: Event[] = [];
  readonly #deliveries = new Queue<Delivery>();
  /** Calls still to be made. */
  readonly #toDo = new Queue<Call>();
  readonly #open = new OpenCommands();
  readonly #calls: CallsInFlight;
  readonly #timer: RunTimer;
  readonly #mask: RunMask;
  readonly #writer: JournalWriter | undefined;
  #reader: InboxReader | undefined;
  readonly #input: JsonObject;
  readonly #ids: StartIds;
  #ref: string | undefined;
  #state: RunState;
  /** The start, until it is carried out. */
  #begun: Transition | undefined;
  /** The engine owes a continuation. */
  #more = false;
  /** Is being written. */
  #pending: Pending | undefined;
  /** Was written, or could not be, and is not carried out yet. */
  #written: { readonly pending: Pending; readonly reloaded: Reloaded | undefined } | undefined;
  /** Wait until everything is safe. */
  #waiting: (() => void)[] = [];
  #isBusy = false;
  /** It has work to do, and waits for the next turn of the event loop. */
  #isPaused = false;
  #isOver = false;

  constructor(options: LiveRunOptions, keeper: RunKeeper) {
    this.#options = options;
    this.#keeper = keeper;
    this.#clock = options.clock ?? processClock;
    const { graph, runId, deadlineMs, journal, toolSafety } = options;
    this.#input = copyOf(options.input);
    this.#mask = options.mask ?? new RunMask(graph, { input: this.#input });
    this.#calls = new CallsInFlight(options.calls, this, options.context, this.#clock);
    this.#timer = new RunTimer(this.#clock, this);
    const at = this.#clock.now();
    const deadline = deadlineMs === undefined ? {} : { deadlineAt: at + deadlineMs };
    const tools = toolSafety === undefined ? {} : { tools: toolsOf(graph, toolSafety) };
    this.#ids = { runId, at, random: Math.random(), ...tools, ...deadline };
    this.#begun = begin(graph, this.#input, this.#ids);
    this.#state = this.#begun.state;
    this.#writer = journal && new JournalWriter(journal, runId, graph);
  }

  /** See `runRef`. */
  get ref(): string {
    this.#ref ??= runRef(this.#options.runId);
    return this.#ref;
  }

  get workflow(): string {
    return this.#options.graph.name;
  }

  /** As it is now. It is changed in place by whatever happens next; see {@link whenSafe}. */
  get state(): RunState {
    return this.#state;
  }

  get standing(): Standing {
    if (this.#isOver) return 'over';
    if (this.#isBusy || !this.isSafe || this.#hasWork) return 'busy';
    if (this.#state.run.status !== 'running') return 'over';
    if (this.#open.isHostBusy) return 'busy';
    return this.#open.asks.size > 0 ? 'asking' : 'sleeping';
  }

  /** When the first time comes that moves the run on, in ms since the epoch. What only bounds a wait is none. */
  get nextTime(): number {
    return this.#timer.nextTime;
  }

  /** What it asks for, the oldest first. */
  get asks(): ReadonlyMap<string, Ask> {
    return this.#open.asks;
  }

  /** Whether a command still wants an answer. */
  isOpen(command: string): boolean {
    return this.#open.has(command);
  }

  /** Whether nothing of the state has still to be written. */
  get isSafe(): boolean {
    return this.#pending === undefined && this.#written === undefined;
  }

  /** Whether the start of the run is safe. */
  get hasBegun(): boolean {
    return this.#writer?.hasBegun ?? true;
  }

  /** Carries out what the start, or a cancellation before it, has left to do. */
  go(): void {
    this.#work();
  }

  /** Calls back when nothing of the state has still to be written: at once, or later. */
  whenSafe(look: () => void): void {
    if (this.#isOver || this.#writer === undefined || (this.isSafe && !this.#isBusy)) look();
    else this.#waiting.push(look);
  }

  /** Takes something in from outside. It is not kept waiting by a pause. */
  deliver(delivery: Delivery): void {
    this.#deliveries.push(delivery);
    this.#workAtOnce();
  }

  /** Answers an action. An answer that does not fit leaves it open. */
  answer(action: string, value: Json): void {
    const copy = copyJson(value);
    if (copy === undefined) throw new TypeError(`the answer to '${action}' is not JSON`);
    this.#feedAtOnce({ kind: 'actionSubmitted', at: this.#clock.now(), command: action, value: copy });
  }

  /** The user who was asked could not or would not answer. */
  refuse(action: string, failure: Failure): void {
    this.#feedAtOnce({ kind: 'actionFailed', at: this.#clock.now(), command: action, failure });
  }

  /** Gives the run up; see the `cancelled` event of the engine. */
  cancel(reason: string, { compensate = false, code, by }: CancelOptions = {}): void {
    this.#feedAtOnce({
      kind: 'cancelled',
      at: this.#clock.now(),
      reason,
      ...(compensate ? { compensate } : {}),
      ...(code === undefined ? {} : { code }),
      ...(by === undefined ? {} : { by }),
    });
  }

  timesUp(ids: readonly string[]): void {
    const at = this.#clock.now();
    for (const command of ids) this.#events.push({ kind: 'timerFired', at, command });
    if (!this.#isPaused) this.#work();
  }

  /** What must not be shown of a call that is about to be made. */
  maskOf(call: Call): CallMask {
    return this.#mask.ofCall(call, this.#state);
  }

  /** A call has come back. @param mask the one it was given, where it asked for one. */
  returned(event: Event, call: Call, mask: CallMask | undefined): void {
    if (mask !== undefined) this.#mask.returned(call, mask);
    this.#feed(event);
  }

  /** Takes an event in. A call may answer, or the caller abort, in the middle of the work: then it waits its turn. */
  #feed(event: Event): void {
    if (this.#isOver) return;
    this.#events.push(event);
    if (!this.#isPaused) this.#work();
  }

  /** The same for what does not come of the run's own doing: it is not kept waiting by a pause. */
  #feedAtOnce(event: Event): void {
    if (this.#isOver) return;
    this.#events.push(event);
    this.#workAtOnce();
  }

  #workAtOnce(): void {
    this.#work(1 + this.#events.length + this.#deliveries.length);
  }

  /** @param least how many steps are made in any case, without a pause. */
  #work(least = 0): void {
    if (this.#isBusy || this.#isOver || this.#pending !== undefined) return;
    this.#isBusy = true;
    const { turns } = this.#clock;
    try {
      for (let steps = 0; this.#hasWork; steps += 1) {
        if (this.#waiting.length > 0 && this.isSafe) this.#callWaiting();
        // What is left to do for a run that is over is little, and it is not to be seen half ended.
        if (steps >= least && this.#state.run.status === 'running' && turns?.isOver) {
          this.#pause(turns);
          this.#timer.arm();
          return;
        }
        this.#step();
        if (this.#pending !== undefined) {
          this.#timer.arm();
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
    this.#timer.arm();
    if (this.#open.isHostBusy) return;
    this.#open.trim();
    this.#calls.trim();
  }

  get #hasWork(): boolean {
    return (
      this.#written !== undefined ||
      this.#begun !== undefined ||
      this.#more ||
      this.#events.length > 0 ||
      this.#deliveries.length > 0 ||
      this.#toDo.length > 0
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
    if (this.#waiting.length === 0) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const look of waiting) look();
  }

  /** What comes in goes before calls that are still to be made: it may be that they are not wanted any more. */
  #step(): void {
    const { graph } = this.#options;
    if (this.#written !== undefined) {
      const { pending, reloaded } = this.#written;
      this.#written = undefined;
      if (reloaded === undefined) this.#accept(pending);
      else this.#goOnFrom(reloaded, pending);
    } else if (this.#begun !== undefined) {
      const begun = this.#begun;
      this.#begun = undefined;
      this.#take(begun, []);
    } else if (this.#more) {
      this.#take(proceed(graph, this.#state, []), []);
    } else if (this.#events.length > 0) {
      const events = this.#takeEvents();
      this.#take(proceed(graph, this.#state, events), events);
    } else if (this.#deliveries.length > 0) {
      this.#openDelivery();
    } else {
      const call = this.#toDo.shift();
      // An event that came in meanwhile may have given it up.
      if (call === undefined || !this.#open.has(call.id)) return;
      this.#calls.make(call, this.#mask.isEmpty ? undefined : this.maskOf(call));
    }
  }

  /** All that came in. A cancellation goes alone: what was not made until then has done nothing. */
  #takeEvents(): readonly Event[] {
    const events = this.#events;
    const end = events.findIndex(({ kind }) => kind === 'cancelled');
    if (end > 0) return events.splice(0, end);
    if (end === 0) return events.splice(0, 1).map((event) => this.#withNotStarted(event));
    this.#events = [];
    return events;
  }

  /** A cancellation with the calls and reads that wait to be made. */
  #withNotStarted(event: Event): Event {
    if (event.kind !== 'cancelled') return event;
    const notStarted = [...this.#toDo].flatMap(({ kind, id }) => (kind === 'evaluate' ? [] : [id]));
    return notStarted.length === 0 ? event : { ...event, notStarted };
  }

  #openDelivery(): void {
    const delivery = this.#deliveries.shift();
    if (delivery === undefined) return;
    const opened = delivery.open(this.#state);
    const events = opened === undefined ? [] : [this.#withNotStarted(opened)];
    const isLate = opened !== undefined && 'command' in opened && !this.#open.has(opened.command);
    const transition = proceed(this.#options.graph, this.#state, events);
    const isOpenStill = opened !== undefined && 'command' in opened && isOpen(this.#state, opened.command);
    const isTaken = opened !== undefined && !isLate && !isOpenStill;
    this.#take(transition, events, delivery, delivery.respond(isTaken));
  }

  #take(transition: Transition, events: readonly Event[], delivery?: Delivery, response: Json = null): void {
    const { state, changes, consumed } = transition;
    this.#state = state;
    if (consumed < events.length) this.#events.unshift(...events.slice(consumed));
    const pending = { transition, events: events.slice(0, consumed), delivery, response };
    const item = delivery?.item;
    if (this.#writer === undefined || (changes.length === 0 && item === undefined)) {
      this.#accept(pending);
      return;
    }
    this.#pending = pending;
    const consumes = item === undefined ? {} : { consumed: [{ id: item, response }] };
    this.#writer.write({ events: pending.events, changes, ...consumes }).then(
      (reloaded) => {
        this.#pending = undefined;
        this.#written = { pending, reloaded };
        if (!this.#isPaused) this.#work();
      },
      (fault) => this.#break(fault),
    );
  }

  /** Everything of a transition is safe. */
  #accept({ transition, events, delivery, response }: Pending): void {
    const { state, commands, facts, more } = transition;
    this.#more = more;
    for (const command of commands) this.#register(command);
    for (const event of events) {
      if ('command' in event && !isOpen(state, event.command)) this.#open.settle(event.command);
    }
    this.#tell(facts, delivery, response);
    for (const command of commands) if (command.kind === 'cancelCall') this.#calls.abort(command.call);
    this.#readInbox();
  }

  /** From the start of the run on, there is an inbox in its journal. */
  #readInbox(): void {
    const { journal, runId } = this.#options;
    const keeper = this.#keeper;
    if (keeper.receive === undefined || journal === undefined || this.#reader !== undefined) return;
    this.#reader = new InboxReader(
      journal,
      runId,
      (item) => {
        const delivery = keeper.receive?.(item);
        if (delivery !== undefined) this.deliver(delivery);
      },
      (fault) => this.#break(fault),
    );
  }

  /** The state was dropped: goes on from what was written. Calls in flight are kept where they are still wanted. */
  #goOnFrom({ state, wasWritten }: Reloaded, { transition, events, delivery, response }: Pending): void {
    if (!wasWritten) {
      if (delivery !== undefined) this.#deliveries.unshift(delivery);
      else this.#events.unshift(...events);
    }
    if (state === undefined) {
      this.#begun = begin(this.#options.graph, this.#input, this.#ids);
      this.#state = this.#begun.state;
      return;
    }
    this.#state = state;
    const { commands, more } = owed(state);
    this.#more = more;
    this.#open.clear();
    this.#timer.clear();
    this.#toDo.clear();
    const returned = new Set(this.#events.map((event) => ('command' in event ? event.command : '')));
    for (const command of commands) {
      if (!this.#calls.has(command.id) && !returned.has(command.id)) this.#register(command);
      else this.#expect(command);
    }
    this.#calls.abortAll((id) => this.#open.has(id));
    if (wasWritten) this.#tell(transition.facts, delivery, response);
    this.#readInbox();
  }

  /** Waits for the answer to a command, or for its time. */
  #expect(command: Exclude<Command, { kind: 'cancelTimer' | 'cancelCall' }>): void {
    this.#open.add(command);
    const { id, dueAt } = command;
    if (dueAt === undefined) return;
    if (awaited(command) === 'time') this.#timer.addTime(id, dueAt);
    else this.#timer.addLimit(id, dueAt);
  }

  #register(command: Command): void {
    switch (command.kind) {
      case 'callTool':
      case 'readResource':
      case 'evaluate':
        this.#expect(command);
        this.#toDo.push(command);
        return;
      case 'requestAction':
      case 'startTimer':
        this.#expect(command);
        return;
      case 'cancelTimer':
        this.#open.settle(command.timer);
        return;
      case 'cancelCall':
        this.#open.settle(command.call);
        return;
      default:
        unreachable(command);
    }
  }

  #tell(facts: readonly Fact[], delivery: Delivery | undefined, response: Json): void {
    if (delivery?.item !== undefined) this.#reader?.forget(delivery.item);
    delivery?.done(response);
    for (const fact of facts) {
      this.#mask.observe(fact, this.#state);
      this.#observe(fact);
    }
  }

  #observe(fact: Fact): void {
    const { observe, onObserverError = warn } = this.#options;
    try {
      observe?.(fact, this.#state);
    } catch (error) {
      try {
        onObserverError(error, fact);
      } catch (second) {
        warn(second);
      }
    }
  }

  #break(fault: unknown): void {
    if (this.#isOver) return;
    const lost = [this.#pending?.delivery, this.#written?.pending.delivery, ...this.#deliveries];
    this.#letGo();
    for (const delivery of lost) delivery?.failed(fault);
    this.#keeper.broken(fault);
    this.#callWaiting();
  }

  /** Nothing of the run outlives it. */
  #letGo(): void {
    this.#isOver = true;
    this.#timer.clear();
    this.#reader?.stop();
    this.#calls.abortAll();
  }
}

function copyOf(input: JsonObject): JsonObject {
  return (copyJson(input) as JsonObject | undefined) ?? structuredClone(input);
}

function warn(error: unknown): void {
  process.emitWarning(`an observer of a workflow run failed: ${thrownText(error)}`, 'StepwrightWarning');
}
