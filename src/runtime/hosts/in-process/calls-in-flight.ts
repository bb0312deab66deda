import type { CallContext, CallPort } from '../../catalogue/port.js';
import { thrownText } from '../../catalogue/thrown.js';
import type { Command, Event, Failure } from '../../engine/contract.js';
import type { Clock } from './clock.js';

/** A command that is carried out through the port. */
export type Call = Extract<Command, { kind: 'callTool' | 'readResource' }>;

/** What every call of one run has in common. */
export type SharedContext = Pick<CallContext, 'requestId' | 'auth' | 'progress'>;

/** The calls of a run that have not come back, each with its own means of aborting it. */
export class CallsInFlight {
  readonly #port: CallPort;
  readonly #shared: SharedContext;
  readonly #clock: Clock;
  readonly #controllers = new Map<string, AbortController>();

  constructor(port: CallPort, shared: SharedContext, clock: Clock) {
    this.#port = port;
    this.#shared = shared;
    this.#clock = clock;
  }

  /** Makes the call and says how it ended. Never rejects: a port that does so has a fault, which becomes a failure. */
  async make(call: Call): Promise<Event> {
    const controller = new AbortController();
    this.#controllers.set(call.id, controller);
    try {
      return call.kind === 'callTool'
        ? await this.#callTool(call, controller.signal)
        : await this.#readResource(call, controller.signal);
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

  async #callTool(call: Extract<Call, { kind: 'callTool' }>, signal: AbortSignal): Promise<Event> {
    const context = this.#conthrownText(call.id, signal, call.idempotencyKey);
    // The tool gets a copy: what it does to its input must not reach the run's state.
    const outcome = await this.#port.callTool(call.tool, structuredClone(call.input), context);
    const answer = { at: this.#clock.now(), command: call.id };
    if (outcome.ok) return { kind: 'toolReturned', ...answer, value: outcome.value };
    return { kind: 'toolFailed', ...answer, failure: outcome.failure, attempted: outcome.attempted };
  }

  async #readResource(call: Extract<Call, { kind: 'readResource' }>, signal: AbortSignal): Promise<Event> {
    const context = this.#conthrownText(call.id, signal);
    const outcome = await this.#port.readResource(call.resource, call.uri, context);
    const answer = { at: this.#clock.now(), command: call.id };
    if (outcome.ok) return { kind: 'resourceRead', ...answer, value: outcome.value };
    return { kind: 'resourceFailed', ...answer, failure: outcome.failure };
  }

  #broken(call: Call, fault: unknown): Event {
    const answer = { at: this.#clock.now(), command: call.id, failure: internalFailure(fault) };
    return call.kind === 'callTool'
      ? { kind: 'toolFailed', ...answer, attempted: true }
      : { kind: 'resourceFailed', ...answer };
  }

  #conthrownText(id: string, signal: AbortSignal, idempotencyKey?: string): CallContext {
    const { requestId, auth, progress } = this.#shared;
    return {
      signal,
      requestId,
      ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
      ...(auth === undefined ? {} : { auth }),
      progress: (...report) => {
        // A call that is over has nothing more to say.
        if (this.#controllers.has(id)) progress(...report);
      },
    };
  }
}

/** Nobody knows how far a call got that broke in the port itself. */
function internalFailure(fault: unknown): Failure {
  const message = `The call broke inside the server: ${thrownText(fault)}`;
  return { code: 'E_INTERNAL', message, outcomeUnknown: true };
}
