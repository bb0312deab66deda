import type { Json } from '../../graph/json.js';
import type { Graph } from '../../graph/model.js';
import type { Fact, RunState } from '../engine/contract.js';
import type { UpstreamReference } from '../upstream/port.js';
import type { CallOrigin } from './port.js';

/**
 * Reports requests, runs and calls to a system outside: what `openTelemetry()` of `stepwright/opentelemetry` makes. It
 * changes none of them, and no method throws.
 */
export interface Telemetry {
  /** Does the work of a request in its context. */
  request<T>(request: ObservedRequest, work: () => Promise<T>): Promise<T>;
  /** Follows a run from its start, or from where this process resumes it. */
  run(run: ObservedRun): RunTelemetry;
  /** The identity of the span around, for a process that executes what is started here. Empty without a propagator. */
  carrier(): TraceCarrier;
  /** Makes a call of a run that another process started, in a span under the one that its carrier names. */
  remoteCall<T extends CallReport>(call: ObservedRemoteCall, make: () => Promise<T>): Promise<T>;
  /** Calls a tool of an upstream server. @param send gets what belongs in the `_meta` of the request. */
  upstream<T>(reference: UpstreamReference, send: (meta: TraceCarrier) => Promise<T>): Promise<T>;
  /** The file of the store has a fault that stays. */
  storeFault(problem: 'replaced' | 'damaged'): void;
}

/** The identity of a span as text, for another process: `traceparent` and the like, by name. */
export type TraceCarrier = Readonly<Record<string, string>>;

export interface ObservedRequest {
  /** Missing for a method that the server does not have. */
  readonly method: string | undefined;
  readonly params: unknown;
  readonly requestId: string;
  /** Whether it came over a pipe, or a network. Missing where that is not known. */
  readonly transport?: 'pipe' | 'http';
  readonly protocolVersion?: string;
}

export interface ObservedRun {
  readonly graph: Graph;
  /** Names the run; see `runRef`. */
  readonly ref: string;
  /** Of the process that began it. Missing where it begins here, and where that process had no telemetry. */
  readonly origin?: TraceCarrier | undefined;
}

export interface RunTelemetry {
  /** Kept with the run, for `origin`. Empty without a propagator. */
  readonly carrier: TraceCarrier;
  /** Takes the run's facts, each once and in order, with the run after them. */
  observe(fact: Fact, state: RunState): void;
  /** Makes a call of the run in the context of its span, which ends with the fact of the command. */
  inCall<T>(call: ObservedCall, make: () => T): T;
  /** The run no longer executes in this process. */
  end(): void;
}

export interface ObservedCall {
  readonly kind: 'callTool' | 'readResource' | 'evaluate';
  /** The id of its command. */
  readonly id: string;
  /** The key of its node. */
  readonly node: string;
  readonly tool?: string;
  readonly resource?: string;
  /** Counts from 1. Missing for a call that counts none. */
  readonly attempt?: number;
  readonly isCompensation?: true;
  readonly undoes?: string;
}

/** A call of a tool or a read, of a run that this process does not follow. */
export interface ObservedRemoteCall extends Pick<ObservedCall, 'tool' | 'resource'> {
  readonly carrier: TraceCarrier;
  readonly origin: Extract<CallOrigin, { readonly source: 'workflow' }>;
}

interface CallReport {
  readonly ok: boolean;
  readonly failure?: { readonly code: string };
}

/** The members of a host's row that may hold a carrier. */
interface CarrierRow {
  readonly table: 'run';
  readonly key: string;
  readonly row: Json;
}

const KEY = 'trace';

/** The row that keeps a carrier with its run; none for an empty one. */
export function carrierRows(carrier: TraceCarrier): readonly CarrierRow[] {
  return Object.keys(carrier).length === 0 ? [] : [{ table: 'run', key: KEY, row: carrier }];
}

/** The carrier among the rows of a run. */
export function carrierIn(
  rows: readonly { readonly table: string; readonly key: string; readonly row: Json }[],
): TraceCarrier | undefined {
  return rows.find(({ table, key }) => table === 'run' && key === KEY)?.row as TraceCarrier | undefined;
}
