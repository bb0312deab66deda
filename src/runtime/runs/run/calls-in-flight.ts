import type { AuthInfo, Owner } from '../../../decorators/context.js';
import {
  isJsonObject,
  type Json,
  type JsonObject,
  type JsonSchema,
  unreachable,
} from '../../../graph/json.js';
import { sha256Hex } from '../../../graph/sha256.js';
import { mayAskModel, textOf } from '../../engine/actions.js';
import type { ActionRequest, Command, DelegateAction, Failure, RunState } from '../../engine/contract.js';
import type { Event } from '../../engine/events.js';
import { boundedFailure } from '../../engine/failures.js';
import { refusedValues } from '../../engine/read.js';
import { SmallMap } from '../../engine/tables.js';
import type { CallMask } from '../../secrets/call-mask.js';
import { thrownText } from '../../tools/exceptions.js';
import type {
  CallContext,
  CallOrigin,
  CallPort,
  EvaluationOutcome,
  ResourceOutcome,
  ToolOutcome,
} from '../../tools/port.js';
import type { RunTelemetry } from '../../tools/telemetry.js';
import { copyJson, toJson } from '../../tools/to-json.js';
import { message as sentence, toolTexts } from '../../tools/tool-texts.js';
import type { Clock } from './clock.js';

/** A command that is executed through the port. */
export type Call = Extract<Command, { kind: 'callTool' | 'readResource' | 'evaluate' }>;

export interface SharedContext extends Pick<CallContext, 'requestId' | 'principal' | 'peer'> {
  /** What a call reports of its progress, and the key of the node that makes it. */
  progress(progress: number, total?: number, message?: string, node?: string): void;
  readonly auth?: CallContext['auth'] | undefined;
  /** The client that may be asked for values of models, where that is not `peer`. */
  readonly modelPeer?: CallContext['peer'];
}

/** The run that calls and requests for values belong to. */
interface CallingRun {
  /** See `runRef`. */
  readonly ref: string;
  readonly workflow: string;
  readonly clock: Clock;
  readonly telemetry: RunTelemetry | undefined;
  /** What must not be shown of a call. Asked at most once for a call. */
  maskOf(call: Call): CallMask;
  /** Takes the event that a call ended with, and its mask if the port asked for one. */
  returned(event: Event, call: Call, mask: CallMask | undefined): void;
  /** The process that made the call is gone. */
  lost(call: Call): void;
}

/** The calls of a run that have not returned. Each of them can be aborted. */
export class CallsInFlight {
  readonly #port: CallPort;
  readonly #run: CallingRun;
  readonly #shared: SharedContext;
  readonly #inFlight = new SmallMap<CallInFlight>();

  constructor(port: CallPort, run: CallingRun, shared: SharedContext) {
    this.#port = port;
    this.#run = run;
    this.#shared = shared;
  }

  /**
   * Makes the call. A port that throws or rejects has a fault, which becomes a failure of the call.
   *
   * @param mask what must not be shown of it. Default: made when the port asks for it.
   */
  make(call: Call, mask?: CallMask): void {
    const context = new CallInFlight(call, this.#run, this.#shared, mask);
    this.#inFlight.set(call.id, context);
    const finish = (event: Event): void => {
      if (!context.isOver) this.#inFlight.delete(call.id);
      context.isOver = true;
      this.#run.returned(event, call, context.askedMask);
    };
    const { telemetry } = this.#run;
    const send = (): Promise<Outcome> => this.#send(call, context);
    (telemetry === undefined ? send() : telemetry.inCall(call, send)).then(
      (outcome) => {
        if ('isTimedOut' in outcome)
          finish({ kind: 'timerFired', at: this.#run.clock.now(), command: call.id });
        else if (!('isLost' in outcome) || context.isOver) finish(this.#eventOf(call, outcome));
        else {
          this.#inFlight.delete(call.id);
          context.isOver = true;
          this.#run.lost(call);
        }
      },
      (fault) => finish(this.#broken(call, fault)),
    );
  }

  has(id: string): boolean {
    return this.#inFlight.has(id);
  }

  /** Aborts a call and forgets it. A call that has returned is not affected. */
  abort(id: string): void {
    this.#inFlight.delete(id)?.abort();
  }

  /** Aborts the calls that have not returned. @param stays whether a call continues. */
  abortAll(stays: (id: string) => boolean = () => false): void {
    for (const id of [...this.#inFlight.keys()]) if (!stays(id)) this.abort(id);
  }

  get isEmpty(): boolean {
    return this.#inFlight.size === 0;
  }

  #send(call: Call, context: CallContext): Promise<Outcome> {
    const port = this.#port;
    try {
      switch (call.kind) {
        case 'callTool':
          return Promise.resolve(port.callTool(call.tool, this.#copyOf(call.input), context));
        case 'readResource':
          return Promise.resolve(port.readResource(call.resource, call.uri, context));
        case 'evaluate':
          return Promise.resolve(port.evaluate(call.function, this.#copyOf(call.args), context));
        default:
          return unreachable(call);
      }
    } catch (fault) {
      return Promise.reject(fault);
    }
  }

  #eventOf(call: Call, outcome: Outcome): Event {
    try {
      const at = this.#run.clock.now();
      const received = outcome.ok ? this.#received(outcome.value) : outcome;
      if (received.ok) return returnedEvent(call, at, received.value);
      // The tool has returned a value that is not JSON.
      const unusable: Reach = { attempted: true, acted: true };
      const reach = outcome.ok ? unusable : 'attempted' in outcome ? reachOf(outcome) : { attempted: true };
      return failedEvent(call, at, this.#failure(received.failure), reach);
    } catch (fault) {
      return this.#broken(call, fault);
    }
  }

  /** The failure of a call that the port broke. Whether it took effect is unknown; a function has no effect. */
  #broken(call: Call, fault: unknown): Event {
    const failure = {
      code: 'E_INTERNAL',
      message: `The call broke inside the server: ${thrownText(fault)}`,
      ...(call.kind === 'evaluate' ? {} : { outcomeUnknown: true as const }),
    };
    return failedEvent(call, this.#run.clock.now(), failure, { attempted: true });
  }

  /** A copy of the input of a call: what the port does to it must not change the state of the run. */
  #copyOf<T extends JsonObject | readonly Json[]>(input: T): T {
    if (this.#port.isolates === true) return input;
    return (copyJson(input) as T | undefined) ?? structuredClone(input);
  }

  /** A copy of the value of a call: later changes to the original must not change the state of the run. */
  #received(value: Json | undefined): Received {
    if (value === undefined || this.#port.isolates === true) return { ok: true, value };
    const copy = copyJson(value);
    if (copy !== undefined) return { ok: true, value: copy };
    const json = toJson(value);
    if (json.ok) return json;
    const message = sentence(toolTexts.resultNotJson(json.pointer, json.problem));
    return {
      ok: false,
      failure: { code: 'E_RESULT_NOT_JSON', message, details: { pointer: json.pointer } },
    };
  }

  /** A failure of a port that is not JSON is a fault of the port. */
  #failure(failure: Failure): Failure {
    if (this.#port.isolates === true) return boundedFailure(failure);
    const copy = copyJson(failure);
    if (!isJsonObject(copy) || typeof copy.code !== 'string' || typeof copy.message !== 'string') {
      throw new Error('it failed with something that is not a failure');
    }
    return boundedFailure(copy as unknown as Failure);
  }
}

type Outcome = ToolOutcome | ResourceOutcome | EvaluationOutcome;

type Received =
  | { readonly ok: true; readonly value: Json | undefined }
  | { readonly ok: false; readonly failure: Failure };

function returnedEvent({ kind, id: command }: Call, at: number, value: Json | undefined): Event {
  switch (kind) {
    case 'callTool':
      return { kind: 'toolReturned', at, command, value: value ?? null };
    case 'readResource':
      if (!isJsonObject(value)) throw new Error('the resource was read as something that is not an object');
      return { kind: 'resourceRead', at, command, value };
    case 'evaluate':
      return value === undefined
        ? { kind: 'evaluated', at, command }
        : { kind: 'evaluated', at, command, value };
    default:
      return unreachable(kind);
  }
}

/** How far a failed call reached. */
type Reach = Pick<Extract<Event, { readonly kind: 'toolFailed' }>, 'attempted' | 'acted'>;

function reachOf({ attempted, acted }: Reach): Reach {
  return { attempted, ...(acted && { acted }) };
}

function failedEvent({ kind, id: command }: Call, at: number, failure: Failure, reach: Reach): Event {
  switch (kind) {
    case 'callTool':
      return { kind: 'toolFailed', at, command, failure, ...reach };
    case 'readResource':
      return { kind: 'resourceFailed', at, command, failure };
    case 'evaluate':
      return { kind: 'evaluationFailed', at, command, failure };
    default:
      return unreachable(kind);
  }
}

/** A call in flight, as the port sees it. Members that few ports use are made on demand. */
class CallInFlight implements CallContext {
  readonly requestId: string;
  /** It has returned, or was aborted. */
  isOver = false;
  declare readonly auth?: AuthInfo;
  declare readonly principal?: Owner;
  readonly #call: Call;
  readonly #run: CallingRun;
  readonly #shared: SharedContext;
  #controller: AbortController | undefined;
  #idempotencyKey: string | undefined;
  #mask: CallMask | undefined;

  constructor(call: Call, run: CallingRun, shared: SharedContext, mask: CallMask | undefined) {
    const { requestId, auth, principal } = shared;
    this.#call = call;
    this.#run = run;
    this.#shared = shared;
    this.#mask = mask;
    this.requestId = requestId;
    if (auth !== undefined) this.auth = auth;
    if (principal !== undefined) this.principal = principal;
  }

  get progress(): CallContext['progress'] {
    return (value, total, message) => {
      // A call that is over reports no progress.
      if (!this.isOver) this.#shared.progress(value, total, message, this.#call.node);
    };
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    return this.#controller.signal;
  }

  get isAborted(): boolean {
    return this.#controller?.signal.aborted ?? false;
  }

  get dueAt(): number {
    return this.#call.dueAt;
  }

  get idempotencyKey(): string | undefined {
    if (this.#call.kind !== 'callTool') return undefined;
    this.#idempotencyKey ??= sha256Hex(this.#call.key);
    return this.#idempotencyKey;
  }

  get mask(): CallMask {
    this.#mask ??= this.#run.maskOf(this.#call);
    return this.#mask;
  }

  get peer(): CallContext['peer'] {
    return this.#shared.peer;
  }

  get askedMask(): CallMask | undefined {
    return this.#mask;
  }

  get origin(): CallOrigin {
    const { ref: run, workflow } = this.#run;
    return { source: 'workflow', workflow, run, node: this.#call.node };
  }

  abort(): void {
    this.isOver = true;
    this.#controller ??= new AbortController();
    this.#controller.abort();
  }
}

/** A value that a step asks a model for. */
interface ValueRequest {
  readonly message: string;
  readonly schema: JsonSchema;
  /** Any text fits: no JSON is wanted. */
  readonly isText?: true;
  readonly workflow: string;
  /** Key of the node that asks. */
  readonly step: string;
  /** Names the run in logs; see `runRef`. */
  readonly run: string;
  /** The client of the request in flight, if there is one. */
  readonly peer: CallContext['peer'];
  /** What was wrong with the value before this one. Empty at first. */
  readonly errors: readonly string[];
  /** Aborted when the step no longer waits. */
  readonly signal: AbortSignal;
}

type SuppliedValue =
  | { readonly kind: 'value'; readonly value: Json }
  /** One that does not fit: what is wrong with it, a sentence each. */
  | { readonly kind: 'unfit'; readonly problems: readonly string[] }
  | { readonly kind: 'failure'; readonly failure: Failure };

/** Asks a model for values, once each. It does not reject: a fault is a failure. */
export interface ValuePort {
  /** Undefined where no model can be asked: the caller supplies the value. */
  supply(request: ValueRequest): Promise<SuppliedValue> | undefined;
}

/** The run that needs the values. */
interface AskingRun {
  /** See `runRef`. */
  readonly ref: string;
  readonly workflow: string;
  readonly clock: Clock;
  readonly state: RunState;
  /** The client that may be asked now. */
  readonly peer: CallContext['peer'];
  /** Takes the event that a request ended with. */
  supplied(event: Event): void;
}

/** The values of a run that a model is being asked for: each try is an event of the run. */
export class ValuesInFlight {
  readonly #run: AskingRun;
  readonly #port: ValuePort | undefined;
  readonly #inFlight = new Map<string, AbortController>();

  /** @param port missing where only callers supply values. */
  constructor(run: AskingRun, port: ValuePort | undefined) {
    this.#run = run;
    this.#port = port;
  }

  /** Asks for the value of an action, unless it is being asked for. Other actions are left alone. */
  ask({ id, node: step, action }: ActionRequest): void {
    if (!mayAskModel(action) || this.#inFlight.has(id)) return;
    const run = this.#run;
    const message = textOf(action);
    const supply = (supplied: SuppliedValue): void => {
      const event = action.type === 'delegate' ? responseOf(action, supplied) : supplied;
      if (event !== undefined) run.supplied(this.#eventOf(id, event));
    };
    const controller = new AbortController();
    const { workflow, ref, peer } = run;
    const errors = refusedValues(run.state, id).at(-1) ?? [];
    const { signal } = controller;
    const wanted = action.type === 'delegate' ? wantedOf(action) : { schema: action.schema };
    const asked = this.#port?.supply({
      ...{ message, ...wanted, workflow, step, run: ref, peer, errors, signal },
    });
    if (asked === undefined) return;
    this.#inFlight.set(id, controller);
    void asked.then((supplied) => {
      if (this.#inFlight.get(id) !== controller) return;
      this.#inFlight.delete(id);
      supply(supplied);
    });
  }

  get isEmpty(): boolean {
    return this.#inFlight.size === 0;
  }

  /** Aborts those that no step waits for any more. */
  trim(isOpen: (id: string) => boolean = () => false): void {
    for (const [id, controller] of this.#inFlight) {
      if (isOpen(id)) continue;
      this.#inFlight.delete(id);
      controller.abort();
    }
  }

  #eventOf(command: string, supplied: SuppliedValue): Event {
    const at = this.#run.clock.now();
    switch (supplied.kind) {
      case 'value': {
        const value = copyJson(supplied.value);
        if (value === undefined) throw new TypeError(`the value for '${command}' is not JSON`);
        return { kind: 'actionSubmitted', at, command, value };
      }
      case 'unfit':
        return { kind: 'valueRefused', at, command, problems: supplied.problems };
      case 'failure':
        return { kind: 'actionFailed', at, command, failure: supplied.failure };
      default:
        return unreachable(supplied);
    }
  }
}

/** What a model is asked for in the place of an agent. */
function wantedOf({ schema, json }: DelegateAction): Pick<ValueRequest, 'schema' | 'isText'> {
  if (json !== true) return { schema: { type: 'string' }, isText: true };
  const { response = {} } = (schema.properties ?? {}) as { readonly response?: JsonSchema };
  return { schema: response };
}

/** What a model supplied, as the result of an agent. Undefined where the caller has to do the task after all. */
function responseOf({ json }: DelegateAction, supplied: SuppliedValue): SuppliedValue | undefined {
  if (supplied.kind === 'value') return { kind: 'value', value: { response: supplied.value } };
  return supplied.kind === 'unfit' && json === true ? supplied : undefined;
}
