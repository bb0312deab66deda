import { unreachable } from '../../../graph/unreachable.js';
import type { CallMask } from '../../catalogue/call-mask.js';
import type { CallContext, CallPort } from '../../catalogue/port.js';
import { thrownText } from '../../catalogue/thrown.js';
import type { Command, Event, Failure } from '../../engine/contract.js';
import type { Clock } from './clock.js';

/** A command that is carried out through the port. */
export type Call = Extract<Command, { kind: 'callTool' | 'readResource' | 'evaluate' }>;

/** What every call of one run has in common. */
export interface SharedContext extends Pick<CallContext, 'requestId' | 'principal'> {
  /** What a call reports of its progress, and the key of the node that makes it. */
  readonly progress: (progress: number, total?: number, message?: string, node?: string) => void;
  readonly auth?: CallContext['auth'] | undefined;
}

/** The run the calls belong to. */
export interface CallingRun {
  /** See `runRef`. */
  readonly ref: string;
  readonly workflow: string;
}

/** The calls of a run that have not come back, each with its own means of aborting it. */
export class CallsInFlight {
  readonly #port: CallPort;
  readonly #run: CallingRun;
  readonly #shared: SharedContext;
  readonly #clock: Clock;
  readonly #controllers = new Map<string, AbortController>();

  constructor(port: CallPort, run: CallingRun, shared: SharedContext, clock: Clock) {
    this.#port = port;
    this.#run = run;
    this.#shared = shared;
    this.#clock = clock;
  }

  /** Makes the call and says how it ended. Never rejects: a port that does so has a fault, which becomes a failure. */
  async make(call: Call, mask: CallMask): Promise<Event> {
    const controller = new AbortController();
    this.#controllers.set(call.id, controller);
    try {
      return await this.#carryOut(call, this.#context(call, controller.signal, mask));
    } catch (fault) {
      return this.#broken(call, fault);
    } finally {
      this.#controllers.delete(call.id);
    }
  }

  /** Aborts a call and forgets it; one that has come back is left alone. */
  abort(id: string): void {
    const controller = this.#controllers.get(id);
    this.#controllers.delete(id);
    controller?.abort();
  }

  /** Aborts whatever has not come back. */
  abortAll(): void {
    for (const id of [...this.#controllers.keys()]) this.abort(id);
  }

  #carryOut(call: Call, context: CallContext): Promise<Event> {
    switch (call.kind) {
      case 'callTool':
        return this.#callTool(call, context);
      case 'readResource':
        return this.#readResource(call, context);
      case 'evaluate':
        return this.#evaluate(call, context);
      default:
        return unreachable(call);
    }
  }

  async #callTool(call: Extract<Call, { kind: 'callTool' }>, context: CallContext): Promise<Event> {
    // The tool gets a copy: what it does to its input must not reach the run's state.
    const outcome = await this.#port.callTool(call.tool, structuredClone(call.input), context);
    const answer = { at: this.#clock.now(), command: call.id };
    if (outcome.ok) return { kind: 'toolReturned', ...answer, value: outcome.value };
    return { kind: 'toolFailed', ...answer, failure: outcome.failure, attempted: outcome.attempted };
  }

  async #readResource(call: Extract<Call, { kind: 'readResource' }>, context: CallContext): Promise<Event> {
    const outcome = await this.#port.readResource(call.resource, call.uri, context);
    const answer = { at: this.#clock.now(), command: call.id };
    if (outcome.ok) return { kind: 'resourceRead', ...answer, value: outcome.value };
    return { kind: 'resourceFailed', ...answer, failure: outcome.failure };
  }

  async #evaluate(call: Extract<Call, { kind: 'evaluate' }>, context: CallContext): Promise<Event> {
    const outcome = await this.#port.evaluate(call.function, structuredClone(call.args), context);
    const answer = { at: this.#clock.now(), command: call.id };
    if (!outcome.ok) return { kind: 'evaluationFailed', ...answer, failure: outcome.failure };
    return { kind: 'evaluated', ...answer, ...(outcome.value === undefined ? {} : { value: outcome.value }) };
  }

  #broken(call: Call, fault: unknown): Event {
    const failure = internalFailure(fault);
    const answer = { at: this.#clock.now(), command: call.id };
    switch (call.kind) {
      case 'callTool':
        return {
          kind: 'toolFailed',
          ...answer,
          failure: { ...failure, outcomeUnknown: true },
          attempted: true,
        };
      case 'readResource':
        return { kind: 'resourceFailed', ...answer, failure: { ...failure, outcomeUnknown: true } };
      case 'evaluate':
        return { kind: 'evaluationFailed', ...answer, failure };
      default:
        return unreachable(call);
    }
  }

  #context(call: Call, signal: AbortSignal, mask: CallMask): CallContext {
    const { requestId, auth, principal, progress } = this.#shared;
    const { ref: run, workflow } = this.#run;
    return {
      signal,
      requestId,
      ...(call.kind === 'callTool' ? { idempotencyKey: call.idempotencyKey } : {}),
      ...(auth === undefined ? {} : { auth }),
      ...(principal === undefined ? {} : { principal }),
      origin: { source: 'workflow', workflow, run, node: call.node },
      mask,
      progress: (value, total, message) => {
        // A call that is over has nothing more to say.
        if (this.#controllers.has(call.id)) progress(value, total, message, call.node);
      },
    };
  }
}

/** Nobody knows how far a call got that broke in the port itself. A function has no effect to wonder about. */
function internalFailure(fault: unknown): Failure {
  return { code: 'E_INTERNAL', message: `The call broke inside the server: ${thrownText(fault)}` };
}
