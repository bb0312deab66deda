import { loadRe2 } from '../../../formats/json-schema/regular-expression.js';
import { defined } from '../../../graph/defined.js';
import { useRegexLibrary } from '../../../graph/expression/python/texts.js';
import type { Json, JsonObject } from '../../../graph/json.js';
import { planOf } from '../../../plan/compile.js';
import type { Advance, Failure, RunState } from '../../engine/contract.js';
import { advance, start } from '../../engine/engine.js';
import type { Event } from '../../engine/events.js';
import { commandOf, commandsOf } from '../../engine/read.js';
import { restore } from '../../engine/snapshot.js';
import { RunMask } from '../../secrets/run-mask.js';
import { carrierIn, carrierRows, type TraceCarrier } from '../../tools/telemetry.js';
import { copyJson } from '../../tools/to-json.js';
import { type HostRow, isLocal, isUncalled, JournalConflictError } from '../store/journal.js';
import { UNRECORDED, withLeases } from '../store/local-journal.js';
import { type Clock, processClock, type Turns } from './clock.js';
import type { LiveStatus } from './envelope.js';
import { Execution } from './execution.js';
import { type Delivery, InboxReader, Incoming } from './inbox.js';
import { JournalWriter, type Reloaded } from './journal-writer.js';
import { follow, isEnded, isSafe, type LiveState } from './live-state.js';
import type { OpenCommands } from './open-commands.js';
import {
  type Recorder,
  type RunEvent,
  type RunHost,
  type RunResumption,
  type RunStart,
  startOf,
} from './run-host.js';

// Loaded with the first regular expression of a run.
useRegexLibrary(loadRe2);

/** See {@link LiveState}. */
type Writing = Extract<LiveState, { kind: 'writing' }>;

interface CancelOptions {
  readonly compensate?: boolean;
  /** The code of the run's failure. Default: `E_CANCELLED`. */
  readonly code?: string;
  /** Who cancels it. */
  readonly by?: JsonObject;
}

/**
 * A run in this process: executes the engine's commands and returns their answers as events, in batches. A question
 * stays open until it is answered. Only the engine decides what runs next. The run yields to the event loop at
 * intervals, so that other work, a cancellation of the run included, is not delayed. Its states are those of
 * {@link LiveState}; what happens is reported as {@link RunEvent}s.
 *
 * A transition takes effect only after its journal has it. If a write fails, the run continues from what was
 * written; see {@link JournalWriter}.
 *
 * Starts with {@link go}. When the run is over, its timers are cleared and its calls in flight are aborted. Objects that
 * a waiting run does not need are released: many runs wait at once.
 */
export class LiveRun {
  readonly clock: Clock;
  readonly #host: RunHost;
  readonly #emit: (event: RunEvent) => void;
  readonly #mask: RunMask;
  readonly #record: Recorder | undefined;
  readonly #readsInbox: boolean;
  readonly #execution: Execution;
  readonly #open: OpenCommands;
  readonly #writer: JournalWriter;
  readonly #origin: TraceCarrier | undefined;
  #live: LiveState;
  #state: RunState;
  #incoming: Incoming | undefined;
  #reader: InboxReader | undefined;
  /** Callbacks of {@link whenSafe}. */
  #watchers: (() => void)[] | undefined;

  constructor(run: RunStart | RunResumption, host: RunHost, emit: (event: RunEvent) => void) {
    const { graph, context, record, readsInbox = false } = run;
    const { clock = processClock, holdsUnsafeCalls } = host;
    const journal = host.journal === undefined ? UNRECORDED : withLeases(host.journal);
    this.#host = host;
    this.#emit = emit;
    this.#record = record;
    this.#readsInbox = readsInbox;
    this.clock = clock;
    const isLoaded = 'loaded' in run;
    if (isLoaded) {
      const { loaded } = run;
      this.#state = restore(planOf(graph), loaded.rows);
      this.#origin = host.telemetry && carrierIn(loaded.hostRows);
      this.#mask = run.mask ?? new RunMask(graph, { input: this.#state.input, rows: loaded.hostRows });
      this.#writer = new JournalWriter(journal, graph, loaded);
      this.#live = FOLLOWING;
    } else {
      const started = startOf(run, host, clock.now());
      const first = start(planOf(graph), started.input, started.ids);
      this.#state = first.state;
      this.#mask = run.mask ?? new RunMask(graph, { input: started.input });
      this.#writer = new JournalWriter(journal, graph, { run: run.runId, seq: 0, epoch: 0 });
      this.#live = { kind: 'starting', start: started, first };
    }
    this.#execution = new Execution(this.#state, {
      calls: host.calls,
      values: host.values,
      clock,
      context,
      mask: this.#mask,
      receive: (events, source) => this.#receive(events, source),
    });
    this.#open = this.#execution.open;
    if (!isLoaded) return;
    const { loaded } = run;
    const commands = commandsOf(this.#state);
    // The process that holds it has its calls in flight.
    const holdsUnsafe = holdsUnsafeCalls === true && loaded.holder !== 'other';
    this.#open.takeOver(commands, this.#state, { mayBeMade: !isUncalled(loaded), holdsUnsafe });
  }

  /** As it is now. It is changed in place by what happens next; see {@link whenSafe}. */
  get state(): RunState {
    return this.#state;
  }

  get liveStatus(): LiveStatus {
    const { kind } = this.#live;
    if (kind === 'over') return 'over';
    if (kind === 'working' || kind === 'starting' || !this.isSafe || this.#hasWork) return 'busy';
    if (this.#state.run.status !== 'running') return 'over';
    if (this.#execution.isBusy) return 'busy';
    return this.#open.asks.size > 0 || this.#open.heldCalls.length > 0 ? 'asking' : 'sleeping';
  }

  /** When the next wait for a time ends, in ms since the epoch. Limits of other waits are left out. */
  get nextTime(): number {
    return this.#open.nextTime;
  }

  /** When the first of its times and limits comes, in ms since the epoch. */
  get nextDue(): number {
    return this.#open.nextDue;
  }

  /** The open questions, the oldest first. */
  get asks(): OpenCommands['asks'] {
    return this.#open.asks;
  }

  /** Calls that may have been made before, and are not made again. */
  get heldCalls(): OpenCommands['heldCalls'] {
    return this.#open.heldCalls;
  }

  /** Whether a command still expects an answer. */
  isOpen(command: string): boolean {
    return this.#open.has(command);
  }

  /** Whether the whole state is written. */
  get isSafe(): boolean {
    return isSafe(this.#live);
  }

  /** The number of its last entry in the journal. */
  get seq(): number {
    return this.#writer.seq;
  }

  /** Whether the start of the run is safe. */
  get hasStarted(): boolean {
    return this.#writer.seq > 0;
  }

  /**
   * Starts the run, or continues it after a restart.
   *
   * @param isCapable false where the run waits for its inbox, which has its cancellation: no call is made before.
   */
  go(isCapable = true): void {
    const live = this.#live;
    const { run, plan } = this.#state;
    if (live.kind === 'starting' || run.status === 'running')
      this.#execution.telemetry = this.#host.telemetry?.run({
        ...{ graph: plan.graph, ref: this.#execution.ref, origin: this.#origin },
      });
    if (live.kind === 'starting')
      this.#work(0, () => this.#take(live.first, NO_EVENTS, { start: live.start }));
    else if (!isCapable) {
      this.#readInbox();
      this.#become(WAITING);
    } else {
      this.#readInbox();
      this.#execution.failHeldCalls();
      this.#execution.supply(this.#open.asks.values(), this.#incoming);
      this.#work(0);
    }
  }

  /** Calls back when the whole state is written: at once, or later. */
  whenSafe(look: () => void): void {
    const { isVolatile } = this.#writer.journal;
    if (isVolatile || isEnded(this.#live) || (this.isSafe && this.#live.kind !== 'working')) {
      look();
      return;
    }
    this.#watchers ??= [];
    this.#watchers.push(look);
  }

  /** Takes a delivery, without a yield. A run that ended ignores it. */
  deliver(delivery: Delivery): void {
    if (isEnded(this.#live)) return;
    this.#in.deliver(delivery);
    this.#workAtOnce();
  }

  /** Answers an action. An answer that does not fit leaves it open. */
  answer(action: string, value: Json): void {
    const copy = copyJson(value);
    if (copy === undefined) throw new TypeError(`the answer to '${action}' is not JSON`);
    this.#feed({ kind: 'actionSubmitted', at: this.clock.now(), command: action, value: copy });
  }

  /** Actions are about to be in a response for the first time: their time limits begin. */
  deliverActions(actions: readonly string[]): void {
    if (isEnded(this.#live)) return;
    const at = this.clock.now();
    for (const command of actions) this.#in.add({ kind: 'actionDelivered', at, command });
    this.#workAtOnce();
  }

  /** Fails an action that the user could not or would not answer. */
  refuse(action: string, failure: Failure): void {
    this.#feed({ kind: 'actionFailed', at: this.clock.now(), command: action, failure });
  }

  /** Cancels the run; see the `cancelled` event of the engine. */
  cancel(reason: string, { compensate = false, code, by }: CancelOptions = {}): void {
    this.#feed({
      kind: 'cancelled',
      at: this.clock.now(),
      reason,
      ...(compensate ? { compensate } : {}),
      ...defined({ code, by }),
    });
  }

  /** Leaves the run as it is: no part of it continues in this process. */
  leave(): void {
    if (!isEnded(this.#live)) this.#end(OVER);
  }

  #become(next: LiveState): void {
    this.#live = follow(this.#live, next);
  }

  get #in(): Incoming {
    this.#incoming ??= new Incoming();
    return this.#incoming;
  }

  /** Takes the events with which commands end. */
  #receive(events: readonly Event[], source: 'call' | 'timer' | 'model'): void {
    if (isEnded(this.#live)) return;
    for (const event of events) this.#in.add(event);
    if (source === 'model') this.#workAtOnce();
    else if (source === 'timer') {
      const { kind } = this.#live;
      if (kind === 'waiting' || kind === 'gathering') this.#work(0);
    } else if (this.#live.kind === 'waiting') {
      // Calls that return one right after the other are taken together: a transition has its price.
      this.#become(GATHERING);
      // `queueMicrotask` would make an async resource for each.
      void SETTLED.then(() => {
        if (this.#live.kind === 'gathering') this.#work(0);
      });
    }
  }

  /** Takes an event from outside, without a yield. */
  #feed(event: Event): void {
    if (isEnded(this.#live)) return;
    this.#in.add(event);
    this.#workAtOnce();
  }

  #workAtOnce(): void {
    const { kind } = this.#live;
    if (kind === 'waiting' || kind === 'gathering' || kind === 'yielding') this.#work(1 + this.#in.size);
  }

  get #hasWork(): boolean {
    return (
      this.#state.run.remainingWork !== undefined ||
      (this.#incoming !== undefined && this.#incoming.size > 0) ||
      this.#open.hasCalls
    );
  }

  /**
   * Takes transitions and makes calls until there is no work, a write is in flight, or the turn is over.
   *
   * @param least so many steps are made in any case, without a yield.
   * @param first is done before them.
   */
  #work(least: number, first?: () => void): void {
    this.#become(WORKING);
    try {
      first?.();
      for (let steps = 0; this.#isWorking && this.#hasWork; steps += 1) {
        this.#callWatchers();
        // A run that is over has little left to do, and must not be seen half ended.
        if (steps >= least && this.#state.run.status === 'running' && this.clock.turns?.isOver)
          this.#yield(this.clock.turns);
        else this.#step();
      }
      if (!this.#isWorking) {
        if (!isEnded(this.#live)) this.#open.armTimer();
        return;
      }
      if (this.#state.run.status === 'running') this.#rest();
    } catch (fault) {
      this.#fail(fault);
      return;
    }
    if (this.#state.run.status === 'running') this.#become(WAITING);
    else this.#end(OVER);
    this.#emit(IDLE);
    this.#callWatchers();
  }

  /** A step may end it. */
  get #isWorking(): boolean {
    return this.#live.kind === 'working';
  }

  #yield(turns: Turns): void {
    this.#become(YIELDING);
    turns.wait(() => {
      // However late in the turn it is, one step is made.
      if (this.#live.kind === 'yielding') this.#work(1);
    });
  }

  /** There is no work until something arrives: releases what is not needed until then. */
  #rest(): void {
    this.#open.armTimer();
    if (this.#open.isHostBusy) return;
    if (!this.#execution.asksModel) this.#writer.release();
    this.#execution.trim();
    this.#incoming = undefined;
  }

  #callWatchers(): void {
    const watchers = this.#watchers;
    if (watchers === undefined) return;
    this.#watchers = undefined;
    for (const look of watchers) look();
  }

  /** Events go before calls that are still to be made: they may cancel these calls. */
  #step(): void {
    const incoming = this.#incoming;
    if (this.#state.run.remainingWork !== undefined) {
      this.#take(advance(this.#state.plan, this.#state, NO_EVENTS), NO_EVENTS);
    } else if (incoming?.hasEvents === true) {
      const events = this.#open.withNotStarted(incoming.takeEvents());
      this.#take(advance(this.#state.plan, this.#state, events), events);
    } else {
      const delivery = incoming?.takeDelivery();
      if (delivery !== undefined) this.#openDelivery(delivery);
      else this.#execution.makeCall();
    }
  }

  #openDelivery(delivery: Delivery): void {
    const event = delivery.open(this.#state);
    const events = event === undefined ? NO_EVENTS : this.#open.withNotStarted([event]);
    const command = event !== undefined && 'command' in event ? event.command : undefined;
    const isLate = command !== undefined && !this.#open.has(command);
    const transition = advance(this.#state.plan, this.#state, events);
    const isOpenStill = command !== undefined && commandOf(this.#state, command) !== undefined;
    const isAccepted = event !== undefined && !isLate && !isOpenStill;
    this.#take(transition, events, { delivery, response: delivery.respond(isAccepted) });
  }

  /** Writes a transition if there is anything to write, and accepts it when it is safe. */
  #take(
    transition: Advance,
    input: readonly Event[],
    { delivery, response = null, start }: Partial<Pick<Writing, 'delivery' | 'response' | 'start'>> = {},
  ): void {
    const { state, consumed } = transition;
    this.#state = state;
    const isWhole = consumed >= input.length;
    if (!isWhole) this.#in.putBack(input.slice(consumed));
    const events = isWhole ? input : input.slice(0, consumed);
    const hostRows = this.#rowsOf({ events, facts: transition.facts, state, isFirst: start !== undefined });
    const writing: Writing = { kind: 'writing', start, transition, events, delivery, response, hostRows };
    const { journal } = this.#writer;
    const { facts } = transition;
    journal.onTransition?.({ ...defined({ start }), events, facts }, state);
    const item = delivery?.isDirect === true ? undefined : delivery?.item;
    // Rows are made when they are read.
    const changes = journal.isVolatile ? NO_CHANGES : transition.changes;
    const isRecorded = changes.length > 0 || item !== undefined || hostRows.length > 0;
    const write = isRecorded
      ? this.#writer.write({
          ...{ events, changes },
          ...(hostRows.length === 0 ? {} : { hostRows }),
          ...(item === undefined ? {} : { consumed: [{ id: item, response }] }),
          ...(!isLocal(journal) && this.#waitsAfter(writing) ? RELEASED : {}),
        })
      : undefined;
    if (write === undefined) {
      this.#accept(writing);
      return;
    }
    this.#become(writing);
    write.then(
      (reloaded) => this.#onWriteEnd(writing, reloaded),
      (fault) => {
        if (this.#live === writing) this.#fail(fault);
      },
    );
  }

  /** What a transition shows beside the state is written with it, so that a restart loses none of it. */
  #rowsOf(transition: Parameters<Recorder['rowsOf']>[0]): readonly HostRow[] {
    const { facts, state, isFirst } = transition;
    const { telemetry } = this.#execution;
    for (const fact of facts) this.#mask.observe(fact, state);
    const learned = this.#mask.takeRows();
    const recorded = this.#record?.rowsOf(transition) ?? [];
    const carrier = isFirst && telemetry !== undefined ? carrierRows(telemetry.carrier) : [];
    return carrier.length + learned.length === 0 ? recorded : [...carrier, ...learned, ...recorded];
  }

  /** Whether the run is over, or only waits, once a transition has taken effect: then any process may continue it. */
  #waitsAfter({ transition, events }: Writing): boolean {
    if (transition.more || (this.#incoming?.size ?? 0) > 0) return false;
    return transition.state.run.status !== 'running' || this.#execution.waitsAfter(transition, events);
  }

  #onWriteEnd(writing: Writing, reloaded: Reloaded | undefined): void {
    if (this.#live !== writing) return;
    this.#work(0, () => {
      if (reloaded === undefined) this.#accept(writing);
      else this.#adopt(reloaded, writing);
    });
  }

  /** A transition is safe. */
  #accept(writing: Writing): void {
    const { transition, events } = writing;
    this.#execution.accept(transition, events, this.#state, this.#incoming);
    this.#report(writing);
    this.#execution.abortCancelled(transition.commands);
    this.#readInbox();
  }

  /** Continues from what is written after a failed write. Calls in flight that the state still expects are kept. */
  #adopt({ state, hasEntry, hostRows }: Reloaded, writing: Writing): void {
    const { events, delivery, start: started } = writing;
    if (!hasEntry) {
      // The delivery is opened again, which makes its event again.
      this.#in.putBack(delivery === undefined ? events : NO_EVENTS, delivery);
      this.#mask.putBack(writing.hostRows);
    }
    this.#record?.reload(hostRows);
    if (state === undefined) {
      if (started === undefined) throw new Error('the journal lost a run that it had');
      this.#take(start(this.#state.plan, started.input, started.ids), NO_EVENTS, { start: started });
      return;
    }
    this.#state = state;
    if (hasEntry) this.#open.decided(events);
    this.#execution.adopt(state, this.#in);
    if (hasEntry) this.#report(writing);
    this.#readInbox();
  }

  /** Responds to the sender of a delivery, and then reports the facts. */
  #report({ transition: { facts }, delivery, response }: Writing): void {
    if (delivery?.item !== undefined) this.#reader?.forget(delivery.item);
    delivery?.done(response);
    const state = this.#state;
    const { telemetry } = this.#execution;
    if (telemetry !== undefined) for (const fact of facts) telemetry.observe(fact, state);
    if (facts.length > 0) this.#emit({ kind: 'facts', facts, state });
  }

  /** From the start of the run on, there is an inbox in its journal. */
  #readInbox(): void {
    const { journal } = this.#writer;
    if (!this.#readsInbox || journal.isVolatile || this.#reader !== undefined) return;
    this.#reader = new InboxReader(
      journal,
      this.#state.run.id,
      (items, added) => this.#emit({ kind: 'inbox', items, added }),
      (fault) => this.#fail(fault),
    );
  }

  /** Whether another process may have written to the run. */
  get #isShared(): boolean {
    return this.hasStarted && !isLocal(this.#writer.journal);
  }

  #fail(fault: unknown): void {
    const live = this.#live;
    if (isEnded(live)) return;
    const { delivery, events = NO_EVENTS } = live.kind === 'writing' ? live : {};
    const { deliveries = [], events: queued = NO_EVENTS } = this.#incoming ?? {};
    const remaining = [...(delivery === undefined ? [] : [delivery]), ...deliveries];
    if (live.kind === 'writing' && fault instanceof JournalConflictError && this.#isShared) {
      const cancellations = [...events, ...queued].filter((event) => event.kind === 'cancelled');
      const watchers = this.#watchers ?? [];
      this.#watchers = undefined;
      this.#end(LOST);
      this.#emit({ kind: 'lost', fault, deliveries: remaining, cancellations, watchers });
      return;
    }
    this.#end(OVER);
    for (const each of remaining) each.failed(fault);
    this.#emit({ kind: 'failed', fault });
    this.#callWatchers();
  }

  /** No part of the run outlives it. */
  #end(state: LiveState): void {
    this.#become(state);
    this.#reader?.stop();
    this.#execution.stop();
  }
}

const FOLLOWING = { kind: 'following' } as const;
const WORKING = { kind: 'working' } as const;
const YIELDING = { kind: 'yielding' } as const;
const GATHERING = { kind: 'gathering' } as const;
const WAITING = { kind: 'waiting' } as const;
const LOST = { kind: 'lost' } as const;
const OVER = { kind: 'over' } as const;

const IDLE = { kind: 'idle' } as const;

const NO_EVENTS: readonly Event[] = [];
const NO_CHANGES: Advance['changes'] = [];

const RELEASED = { releases: true } as const;

const SETTLED = Promise.resolve();
