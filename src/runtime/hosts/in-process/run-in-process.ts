import type { Json, JsonObject } from '../../../graph/json.js';
import type { Graph } from '../../../graph/model.js';
import { unreachable } from '../../../graph/unreachable.js';
import { valuesOf } from '../../catalogue/mask.js';
import type { CallPort } from '../../catalogue/port.js';
import { thrownText } from '../../catalogue/thrown.js';
import { advance } from '../../engine/advance.js';
import type { Advance, Command, Event, Fact, Failure, RunState, RunStatus } from '../../engine/contract.js';
import { start } from '../../engine/start.js';
import { DerivedSecrets } from '../derived-secrets.js';
import { type Call, CallsInFlight, type SharedContext } from './calls-in-flight.js';
import { type Clock, callAt, processClock } from './clock.js';

/** A run to carry out in this process, from its start to its end. */
export interface InProcessRun {
  /** Must not change while the run lasts, nor afterwards. */
  readonly graph: Graph;
  /** Values of the graph's inputs, already checked, coerced and filled with defaults. */
  readonly input: JsonObject;
  /** Unique: idempotency keys are made from it. */
  readonly runId: string;
  /** How tools and resources are reached. */
  readonly calls: CallPort;
  /** What every call of the run is given. */
  readonly context: SharedContext;
  /** Aborted when the caller no longer wants the run: it ends as cancelled. */
  readonly signal?: AbortSignal;
  /** How long attempts may take altogether, in ms from now. Without it only each attempt's own limit holds. */
  readonly deadlineMs?: number;
  /** Told every fact, in order, with the run as it stands then. What it throws does not change the run. */
  readonly observe?: (fact: Fact, state: RunState) => void;
  /** Told what `observe` threw. Without it a process warning says so. */
  readonly onObserverError?: (error: unknown, fact: Fact) => void;
  /** Default: the process's own clock. */
  readonly clock?: Clock;
}

/** How a run ended. */
export interface RunOutcome {
  readonly status: Exclude<RunStatus, 'running'>;
  /** Missing where the run did not succeed, and for a value that is absent. */
  readonly result?: Json;
  readonly failure?: Failure;
  /** The node the failure comes from. */
  readonly node?: string;
  readonly state: RunState;
}

/**
 * Carries out a run: takes the engine's commands, makes the calls, keeps the timers and feeds the answers back.
 * What runs next is the engine's decision alone.
 *
 * Never rejects for anything a tool, a resource, an observer or the caller does; a rejection is a fault of the engine.
 * When the promise settles, no timer and no listener of the run is left, and calls that never came back are aborted.
 */
export function runInProcess(run: InProcessRun): Promise<RunOutcome> {
  return new Promise((resolve, reject) => {
    new Hands(run, resolve, reject).begin();
  });
}

/** A run under way: its inbox of events, the commands still to be carried out, and what is in flight. */
class Hands {
  readonly #run: InProcessRun;
  readonly #clock: Clock;
  readonly #resolve: (outcome: RunOutcome) => void;
  readonly #reject: (fault: unknown) => void;
  readonly #inbox: Event[] = [];
  readonly #toDo: Command[] = [];
  readonly #calls: CallsInFlight;
  readonly #timers = new Map<string, () => void>();
  readonly #derived: DerivedSecrets;
  /** What tools and validators may repeat, and nobody else may show. */
  #secrets: readonly Json[];
  #state: RunState | undefined;
  #isBusy = false;
  #isOver = false;

  constructor(run: InProcessRun, resolve: (outcome: RunOutcome) => void, reject: (fault: unknown) => void) {
    this.#run = run;
    this.#clock = run.clock ?? processClock;
    const secret = new Set(run.graph.inputs.filter((input) => input.secret === true).map(({ name }) => name));
    this.#derived = new DerivedSecrets(run.graph, (name) => secret.has(name));
    this.#secrets = valuesOf(run.input, [...secret]);
    const calling = { id: run.runId, workflow: run.graph.name, secrets: () => this.#secrets };
    this.#calls = new CallsInFlight(run.calls, calling, run.context, this.#clock);
    this.#resolve = resolve;
    this.#reject = reject;
  }

  begin(): void {
    const { graph, input, runId, deadlineMs, signal } = this.#run;
    const at = this.#clock.now();
    const deadline = deadlineMs === undefined ? {} : { deadlineAt: at + deadlineMs };
    const ids = { runId, at, random: Math.random(), ...deadline };
    this.#accept(start(graph, structuredClone(input), ids));
    signal?.addEventListener('abort', this.#onAbort, { once: true });
    if (signal?.aborted) this.#onAbort();
    this.#work();
  }

  readonly #onAbort = (): void => {
    const reason: unknown = this.#run.signal?.reason;
    this.#feed({ kind: 'cancelled', at: this.#clock.now(), reason: thrownText(reason) });
  };

  /** Takes an event in. A call may answer, or the caller abort, in the middle of the work: then it waits its turn. */
  #feed(event: Event): void {
    if (this.#isOver) return;
    this.#inbox.push(event);
    this.#work();
  }

  #work(): void {
    if (this.#isBusy || this.#isOver) return;
    this.#isBusy = true;
    try {
      while (this.#takeEvent() || this.#takeCommand());
      this.#endIfDone();
    } catch (fault) {
      this.#letGo();
      this.#reject(fault);
    }
    this.#isBusy = false;
  }

  #takeEvent(): boolean {
    const event = this.#inbox.shift();
    if (event === undefined || this.#state === undefined) return false;
    this.#accept(advance(this.#run.graph, this.#state, event));
    return true;
  }

  #takeCommand(): boolean {
    const command = this.#toDo.shift();
    if (command === undefined) return false;
    this.#carryOut(command);
    return true;
  }

  #accept({ state, commands, facts }: Advance): void {
    this.#state = state;
    this.#toDo.push(...commands);
    for (const fact of facts) {
      const revealed = this.#derived.revealedBy(fact, state);
      const news = revealed.filter((value) => !this.#secrets.includes(value));
      if (news.length > 0) this.#secrets = [...this.#secrets, ...news];
      this.#tell(fact, state);
    }
  }

  #tell(fact: Fact, state: RunState): void {
    const { observe, onObserverError = warn } = this.#run;
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
    return this.#state !== undefined && Object.hasOwn(this.#state.commands, command.id);
  }

  async #call(command: Call): Promise<void> {
    this.#feed(await this.#calls.make(command));
  }

  #startTimer(id: string, dueAt: number): void {
    const cancel = callAt(this.#clock, dueAt, () => {
      this.#timers.delete(id);
      this.#feed({ kind: 'timerFired', at: this.#clock.now(), command: id });
    });
    this.#timers.set(id, cancel);
  }

  #endIfDone(): void {
    const state = this.#state;
    if (state === undefined || state.run.status === 'running') return;
    const { status, result, failure, failedNode } = state.run;
    this.#letGo();
    this.#resolve({
      status,
      ...(result === undefined ? {} : { result }),
      ...(failure === undefined ? {} : { failure }),
      ...(failedNode === undefined ? {} : { node: failedNode }),
      state,
    });
  }

  /** Nothing of the run outlives it. */
  #letGo(): void {
    this.#isOver = true;
    this.#run.signal?.removeEventListener('abort', this.#onAbort);
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
    this.#calls.abortAll();
  }
}

function warn(error: unknown): void {
  process.emitWarning(`an observer of a workflow run failed: ${thrownText(error)}`, 'StepwrightWarning');
}
