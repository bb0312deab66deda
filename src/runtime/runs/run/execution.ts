import { asksModel, isClientWork, mayAskModel, requestOf } from '../../engine/actions.js';
import type { ActionRequest, Advance, Command, Failure, RunState } from '../../engine/contract.js';
import type { Event } from '../../engine/events.js';
import { commandOf, commandsOf } from '../../engine/read.js';
import type { CallMask } from '../../secrets/call-mask.js';
import type { RunMask } from '../../secrets/run-mask.js';
import { type CallContext, runRef } from '../../tools/port.js';
import type { RunTelemetry } from '../../tools/telemetry.js';
import { type Call, CallsInFlight, type SharedContext, ValuesInFlight } from './calls-in-flight.js';
import type { Clock } from './clock.js';
import type { Incoming } from './inbox.js';
import { OpenCommands } from './open-commands.js';
import type { RunHost } from './run-host.js';

interface ExecutionOptions extends Pick<RunHost, 'calls'> {
  readonly values: RunHost['values'];
  readonly clock: Clock;
  readonly context: SharedContext;
  readonly mask: RunMask;
  /** Takes the events with which commands end. */
  readonly receive: (events: readonly Event[], source: 'call' | 'timer' | 'model') => void;
}

/**
 * Executes the commands of a run: makes calls, keeps the time, and asks models for values. It knows the run as the
 * journal has it: a command is executed only after it was accepted.
 */
export class Execution {
  readonly open: OpenCommands;
  readonly #options: ExecutionOptions;
  #state: RunState;
  #calls: CallsInFlight | undefined;
  #values: ValuesInFlight | undefined;
  #ref: string | undefined;
  telemetry: RunTelemetry | undefined;

  constructor(state: RunState, options: ExecutionOptions) {
    const { clock, receive } = options;
    this.#state = state;
    this.#options = options;
    const onTime = (ids: readonly string[]): void => {
      const at = clock.now();
      receive(
        ids.map((command) => ({ kind: 'timerFired', at, command })),
        'timer',
      );
    };
    // The deadline of a run is a time of day, and does not limit a compensation.
    const deadlineOf = (call: Call): number | undefined =>
      call.kind === 'callTool' && call.isCompensation ? undefined : state.run.deadlineAt;
    this.open = new OpenCommands(clock, onTime, options.calls.limits ? deadlineOf : undefined);
  }

  /** See `runRef`. */
  get ref(): string {
    this.#ref ??= runRef(this.#state.run.id);
    return this.#ref;
  }

  get workflow(): string {
    return this.#state.plan.graph.name;
  }

  get clock(): Clock {
    return this.#options.clock;
  }

  get state(): RunState {
    return this.#state;
  }

  /** Whether a call, a delay or a request to a model is in flight. */
  get isBusy(): boolean {
    return this.open.isHostBusy || this.#values?.isEmpty === false;
  }

  /** Whether a model is being asked for a value. */
  get asksModel(): boolean {
    return this.#values?.isEmpty === false;
  }

  /** Applies a transition that is safe: its commands are open, and what it settled is not. */
  accept({ commands }: Advance, events: readonly Event[], state: RunState, incoming?: Incoming): void {
    this.#state = state;
    this.open.decided(events);
    for (const command of commands) this.open.take(command);
    for (const event of events) {
      if ('command' in event && commandOf(state, event.command) === undefined)
        this.open.settle(event.command);
    }
    this.#values?.trim((id) => this.open.has(id));
    this.failHeldCalls();
    this.supply(commands, incoming);
    for (const event of events) {
      const command = event.kind === 'valueRefused' ? commandOf(state, event.command) : undefined;
      // It still waits for a value: the last try did not fit.
      if (command !== undefined) this.supply([command], incoming);
    }
  }

  /** A cancelled run, and a task, do not wait for calls that no process makes: what became of them is not known. */
  failHeldCalls(): void {
    const isCancelled = this.#state.run.cancelling !== undefined;
    if (!isCancelled && this.#state.plan.graph.task !== true) return;
    const failure = isCancelled ? LEFT_UNKNOWN : LOST;
    const at = this.clock.now();
    const events = this.open.heldCalls.map(
      ({ id: command }) => ({ kind: 'toolFailed', at, command, failure, attempted: true }) as const,
    );
    if (events.length > 0) this.#options.receive(events, 'timer');
  }

  /** Aborts the calls that a transition has cancelled. */
  abortCancelled(commands: readonly Command[]): void {
    for (const command of commands) if (command.kind === 'cancelCall') this.#calls?.abort(command.call);
  }

  /** Continues from another state. Calls that are in flight or have returned are not made again. */
  adopt(state: RunState, incoming: Incoming): void {
    const { answered } = incoming;
    this.#state = state;
    this.open.clear();
    for (const command of commandsOf(state)) {
      if (this.#calls?.has(command.id) === true || answered.has(command.id)) this.open.expect(command);
      else this.open.take(command);
    }
    this.supply(this.open.asks.values(), incoming);
    this.#calls?.abortAll((id) => this.open.has(id));
  }

  /**
   * Asks models for the values of actions, unless an answer has arrived already. An action that cannot be shown as it is
   * fails.
   */
  supply(commands: Iterable<Command>, incoming?: Incoming): void {
    for (const command of commands) {
      if (command.kind !== 'requestAction' || incoming?.answered.has(command.id) === true) continue;
      const failure = this.#secretIn(command);
      if (failure !== undefined)
        this.supplied({ kind: 'actionFailed', at: this.clock.now(), command: command.id, failure });
      if (failure !== undefined || !mayAskModel(command.action)) continue;
      this.#values ??= new ValuesInFlight(this, this.#options.values);
      this.#values.ask(command);
    }
  }

  /** Makes the next call that is not made yet. */
  makeCall(): void {
    const call = this.open.nextCall();
    if (call === undefined) return;
    const { calls, context, mask } = this.#options;
    this.#calls ??= new CallsInFlight(calls, this, context);
    this.#calls.make(call, mask.isEmpty ? undefined : this.maskOf(call));
  }

  /** Whether nothing ends by itself once a transition has taken effect. */
  waitsAfter({ state, commands }: Advance, events: readonly Event[]): boolean {
    const settled = new Set<string>();
    for (const event of events) {
      if ('command' in event && commandOf(state, event.command) === undefined) settled.add(event.command);
    }
    for (const command of commands) {
      if (command.kind === 'cancelTimer') settled.add(command.timer);
      if (command.kind === 'cancelCall') settled.add(command.call);
    }
    const failsAtOnce = commands.some(
      (each) => each.kind === 'requestAction' && this.#secretIn(each) !== undefined,
    );
    return !failsAtOnce && !this.asksModel && this.open.waitsAfter(commands, settled);
  }

  /** Releases what is not needed while the run waits. */
  trim(): void {
    this.open.trim();
    if (this.#calls?.isEmpty === true) this.#calls = undefined;
  }

  /** Aborts what is in flight, and forgets all times. */
  stop(): void {
    this.open.stopTimer();
    this.#calls?.abortAll();
    this.#values?.trim();
    this.telemetry?.end();
  }

  maskOf(call: Call): CallMask {
    return this.#options.mask.ofCall(call, this.#state);
  }

  returned(event: Event, call: Call, mask: CallMask | undefined): void {
    if (mask !== undefined) this.#options.mask.returned(call, mask);
    this.#options.receive([this.open.checked(event)], 'call');
  }

  /** A compensation is repeated in any case. */
  lost(call: Call): void {
    this.open.lose(call);
    this.failHeldCalls();
    this.#options.receive([], 'call');
  }

  /** The client that may be asked for the value of a model. */
  get peer(): CallContext['peer'] {
    const { context } = this.#options;
    return context.modelPeer ?? context.peer;
  }

  /** Why an action for a model or a client cannot be done: its secrets are masked. */
  #secretIn({ node, action }: ActionRequest): Failure | undefined {
    const { mask } = this.#options;
    if (mask.isEmpty || !(asksModel(action) || isClientWork(action))) return undefined;
    const [actual, shown] = [action, mask.action(node, action)].map((each) =>
      JSON.stringify(requestOf(each)),
    );
    if (actual === shown) return undefined;
    return action.type === 'ask' ? SECRET_MESSAGE : SECRET_WORK;
  }

  supplied(event: Event): void {
    this.#options.receive([event], 'model');
  }
}

const SECRET_MESSAGE: Failure = {
  code: 'E_MODEL_VALUE',
  message: 'The message for the model holds a secret: leave it out.',
};

const SECRET_WORK: Failure = {
  code: 'E_WORK_SECRET',
  message: 'The work for the client holds a secret, which is not shown to it: leave it out.',
};

const LEFT_UNKNOWN: Failure = {
  code: 'E_CANCELLED',
  message: 'The run was cancelled. The call was in flight when its server stopped, and is not made again.',
  outcomeUnknown: true,
};

const LOST: Failure = {
  code: 'E_CALL_LOST',
  message: 'The server stopped before the call returned. It may have taken effect, and is not made again.',
  outcomeUnknown: true,
};
