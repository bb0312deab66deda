import type { Json, JsonSchema } from '../../../graph/json.js';
import type { Failure } from '../../engine/contract.js';
import type { CallContext } from '../../tools/port.js';

/** A value that a step asks a model for. */
export interface ValueRequest {
  readonly message: string;
  readonly schema: JsonSchema;
  readonly workflow: string;
  /** Key of the node that asks. */
  readonly step: string;
  /** Names the run in logs; see `runRef`. */
  readonly run: string;
  /** The client of the request in flight, if there is one. */
  readonly peer: CallContext['peer'];
  /** Aborted when the step no longer waits. */
  readonly signal: AbortSignal;
}

export type SuppliedValue =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly failure: Failure };

/** Asks a model for values. It does not reject: a fault is a failure. */
export interface ValuePort {
  /** Undefined where no model can be asked: the caller supplies the value. */
  supply(request: ValueRequest): Promise<SuppliedValue> | undefined;
}

/** The values of a run that a model is being asked for. */
export class ValuesInFlight {
  readonly #port: ValuePort;
  readonly #inFlight = new Map<string, AbortController>();

  constructor(port: ValuePort) {
    this.#port = port;
  }

  /** @param supplied gets the value, unless the step no longer waits for it. */
  ask(id: string, request: Omit<ValueRequest, 'signal'>, supplied: (value: SuppliedValue) => void): void {
    if (this.#inFlight.has(id)) return;
    const controller = new AbortController();
    const asked = this.#port.supply({ ...request, signal: controller.signal });
    if (asked === undefined) return;
    this.#inFlight.set(id, controller);
    void asked.then((value) => {
      if (this.#inFlight.get(id) !== controller) return;
      this.#inFlight.delete(id);
      supplied(value);
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
}
