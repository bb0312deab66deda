import type { Json, JsonObject } from '../../../graph/json.js';
import type { Graph } from '../../../graph/model.js';
import { unreachable } from '../../../graph/unreachable.js';
import type { CallPort } from '../../catalogue/port.js';
import { thrownText } from '../../catalogue/thrown.js';
import { advance } from '../../engine/advance.js';
import { delayId } from '../../engine/commands.js';
import type { Advance, Command, Event, Fact, Failure, RunState } from '../../engine/contract.js';
import { start } from '../../engine/start.js';
import type { Journal } from '../journal.js';
import { RunMask } from '../run-mask.js';
import { runRef } from '../run-ref.js';
import { type Undone, undoneIn } from '../undone.js';
import { type Call, CallsInFlight, type SharedContext } from './calls-in-flight.js';
import { type Clock, callAt, processClock } from './clock.js';
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
  /** Told every fact, in order, with the run as it stands then. What it throws does not change the run. */
  readonly observe?: (fact: Fact, state: RunState) => void;
  /** Told what `observe` threw. Without it a process warning says so. */
  readonly onObserverError?: (error: unknown, fact: Fact) => void;
  /** What must not be shown of the run: it is told every fact first. Default: one of its own, for secret inputs. */
  readonly mask?: RunMask;
  /** Default: the process's own clock. */
  readonly clock?: Clock;
  /** Where its steps are written down. Default: nowhere. */
  readonly journal?: Journal;
}

/** Whoever looks after a run. */
export interface RunKeeper {
  /** The run has got as far as it gets for now: it is over, or waits for something. */
  changed(): void;
  /** A fault of the engine: the run is lost. Nothing of it goes on. */
  broken(fault: unknown): void;
}

/**
 * What moves a run on: calls or delays that end by themselves (`busy`), answers and perhaps times (`asking`), times
 * alone (`sleeping`), or nothing any more (`over`).
 */
export type Standing = 'busy' | 'asking' | 'sleeping' | 'over';

/**
 * A run under way: its inbox of events, the commands still to be carried out, and what is in flight. It takes the
 * engine's commands, makes the calls, keeps the timers and feeds the answers back, one event at a time. What it asks
 * for stays open until somebody answers. What runs next is the engine's decision alone. It pauses now and then, so that
 * whatever else goes on in the process has its turn, a cancellation of this run included.
 *
 * Begins with {@link go}. When it is over no timer of it is left, and calls that never came back are aborted.
 */
export class LiveRun {
  readonly #options: LiveRunOptions;
  readonly #keeper: RunKeeper;
  readonly #clock: Clock;
  readonly #inbox: Event[] = [];
  readonly #toDo: Command[] = [];
  readonly #calls: CallsInFlight;
  readonly #timers = new Map<string, () => void>();
  readonly #mask: RunMask;
  #state: RunState;
  /** How many steps were written down. */
  #written = 0;
  #isBusy = false;
  /** It has work to do, and waits for the next turn of the event loop. */
  #isPaused = false;
  #isOver = false;

  constructor(options: LiveRunOptions, keeper: RunKeeper) {
    this.#options = options;
    this.#keeper = keeper;
    this.#clock = options.clock ?? processClock;
    const { graph, input, runId, deadlineMs } = options;
    this.#mask = options.mask ?? new RunMask(graph, { input });
    const calling = { ref: runRef(runId), workflow: graph.name };
    this.#calls = new CallsInFlight(options.calls, calling, options.context, this.#clock);
    const at = this.#clock.now();
    const deadline = deadlineMs === undefined ? {} : { deadlineAt: at + deadlineMs };
    const begun = start(graph, structuredClone(input), { runId, at, random: Math.random(), ...deadline });
    this.#state = begun.state;
    options.journal?.open(runId, graph);
    this.#writeDown(begun);
    this.#accept(begun);
  }

  /** As it stands now. It is changed in place by whatever happens next. */
  get state(): RunState {
    return this.#state;
  }

  get standing(): Standing {
    if (this.#isOver || this.#state.run.status !== 'running') return 'over';
    if (this.#hasWork) return 'busy';
    let isAsking = false;
    for (const command of Object.values(this.#state.commands)) {
      if (command.kind === 'requestAction') isAsking = true;
      else if (command.kind !== 'startTimer' || command.id.endsWith(delayId(''))) return 'busy';
    }
    return isAsking ? 'asking' : 'sleeping';
  }

  /** What was undone in a run that is over, and what still stands; nothing in any other. */
  undone(): Undone {
    const { status } = this.#state.run;
    if (status === 'running') return { steps: [], standing: [] };
    return undoneIn(this.#options.graph, this.#state);
  }

  /** Carries out what the start, or a cancellation before it, has left to do. */
  go(): void {
    this.#work();
  }

  /** Answers an action. False where the answer does not fit: the action is open as before. */
  answer(action: string, value: Json): boolean {
    const waitsItsTurn = this.#isBusy;
    this.#feedAtOnce({ kind: 'actionSubmitted', at: this.#clock.now(), command: action, value });
    return waitsItsTurn || !Object.hasOwn(this.#state.commands, action);
  }

  /** Whoever was asked could not or would not answer. */
  refuse(action: string, failure: Failure): void {
    this.#feedAtOnce({ kind: 'actionFailed', at: this.#clock.now(), command: action, failure });
  }

  /** Gives the run up; see the `cancelled` event of the engine. */
  cancel(reason: string, { compensate = false, code }: { compensate?: boolean; code?: string } = {}): void {
    this.#feedAtOnce({
      kind: 'cancelled',
      at: this.#clock.now(),
      reason,
      ...(compensate ? { compensate } : {}),
      ...(code === undefined ? {} : { code }),
    });
  }

  /** Takes an event in. A call may answer, or the caller abort, in the middle of the work: then it waits its turn. */
  #feed(event: Event): void {
    if (this.#isOver) return;
    this.#inbox.push(event);
    if (!this.#isPaused) this.#work();
  }

  /** The same for what does not come of the run's own doing: it is not kept waiting by a pause. */
  #feedAtOnce(event: Event): void {
    if (this.#isOver) return;
    this.#inbox.push(event);
    this.#work(this.#inbox.length);
  }

  /** @param least how many steps are made in any case, without a pause. */
  #work(least = 0): void {
    if (this.#isBusy || this.#isOver) return;
    this.#isBusy = true;
    const { turns } = this.#clock;
    try {
      for (let steps = 0; this.#hasWork; steps += 1) {
        // What is left to do for a run that is over is little, and nobody is to see it half ended.
        if (steps >= least && this.#state.run.status === 'running' && turns?.isOver) {
          this.#pause(turns);
          return;
        }
        if (!this.#takeEvent()) this.#takeCommand();
      }
    } catch (fault) {
      this.#letGo();
      this.#keeper.broken(fault);
      return;
    } finally {
      this.#isBusy = false;
    }
    if (this.#state.run.status !== 'running') this.#letGo();
    this.#keeper.changed();
  }

  get #hasWork(): boolean {
    return this.#inbox.length > 0 || this.#toDo.length > 0;
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

  #takeEvent(): boolean {
    const next = this.#inbox.shift();
    if (next === undefined) return false;
    const event = next.kind === 'cancelled' ? { ...next, ...this.#notStarted() } : next;
    const step = advance(this.#options.graph, this.#state, event);
    this.#writeDown(step, event);
    this.#accept(step);
    return true;
  }

  /** The calls and reads that wait to be made. */
  #notStarted(): { readonly notStarted?: readonly string[] } {
    const notStarted = this.#toDo.flatMap(({ kind, id }) =>
      kind === 'callTool' || kind === 'readResource' ? [id] : [],
    );
    return notStarted.length === 0 ? {} : { notStarted };
  }

  /** Before anything of a step is carried out or told. One that changed nothing was none. */
  #writeDown({ changes }: Advance, event?: Event): void {
    const { journal, runId: run } = this.#options;
    if (journal === undefined || changes.length === 0) return;
    journal.append({ run, seq: this.#written, ...(event === undefined ? {} : { event }), changes });
    this.#written += 1;
  }

  #takeCommand(): void {
    const command = this.#toDo.shift();
    if (command !== undefined) this.#carryOut(command);
  }

  #accept({ state, commands, facts }: Advance): void {
    this.#state = state;
    this.#toDo.push(...commands);
    for (const fact of facts) {
      this.#mask.observe(fact, state);
      this.#tell(fact, state);
    }
  }

  #tell(fact: Fact, state: RunState): void {
    const { observe, onObserverError = warn } = this.#options;
    try {
      observe?.(fact, state);
    } catch (error) {
      try {
        onObserverError(error, fact);
      } catch (second) {
        warn(second);
      }
    }
  }

  #carryOut(command: Command): void {
    switch (command.kind) {
      case 'callTool':
      case 'readResource':
      case 'evaluate':
        if (this.#isOutstanding(command)) void this.#call(command);
        return;
      case 'requestAction':
        // It stands in the state until somebody answers it.
        return;
      case 'startTimer':
        this.#startTimer(command.id, command.dueAt);
        return;
      case 'cancelTimer':
        this.#timers.get(command.timer)?.();
        this.#timers.delete(command.timer);
        return;
      case 'cancelCall':
        this.#calls.abort(command.call);
        return;
      default:
        unreachable(command);
    }
  }

  /** False when an event that came in meanwhile has given the command up. */
  #isOutstanding(command: Command): boolean {
    return Object.hasOwn(this.#state.commands, command.id);
  }

  async #call(command: Call): Promise<void> {
    const mask = this.#mask.ofCall(command, this.#state);
    const event = await this.#calls.make(command, mask);
    this.#mask.returned(command, mask);
    this.#feed(event);
  }

  #startTimer(id: string, dueAt: number): void {
    const cancel = callAt(this.#clock, dueAt, () => {
      this.#timers.delete(id);
      this.#feed({ kind: 'timerFired', at: this.#clock.now(), command: id });
    });
    this.#timers.set(id, cancel);
  }

  /** Nothing of the run outlives it. */
  #letGo(): void {
    this.#isOver = true;
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
    this.#calls.abortAll();
  }
}

function warn(error: unknown): void {
  process.emitWarning(`an observer of a workflow run failed: ${thrownText(error)}`, 'StepwrightWarning');
}
