import { type Json, type JsonSchema, unreachable } from '../../../graph/json.js';
import { mayAskModel, textOf } from '../../engine/actions.js';
import type { Command, DelegateAction, Event, Failure, RunState } from '../../engine/contract.js';
import { refusedValues } from '../../engine/read.js';
import type { CallContext } from '../../tools/port.js';
import { copyJson } from '../../tools/to-json.js';
import type { Clock } from './clock.js';

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
  ask({ id, node: step, action }: Extract<Command, { kind: 'requestAction' }>): void {
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
