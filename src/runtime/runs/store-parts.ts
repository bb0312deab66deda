import type { SchemaCompiler } from '../../formats/json-schema/schema-compiler.js';
import type { Json } from '../../graph/json.js';
import type { Failure } from '../engine/contract.js';
import type { MissingCapabilities } from '../tools/capabilities.js';
import { thrownText } from '../tools/exceptions.js';
import type { Log } from '../tools/log.js';
import { runRef } from '../tools/port.js';
import type { CapabilityWaits } from './capability-waits.js';
import type { Clock } from './run/clock.js';
import type { RunHost } from './run/run-host.js';
import type { RunJournal } from './store/journal.js';
import { UnreadableRunError } from './store/store-error.js';

/** A run, as the parts of its store use it. */
export interface KeptRun {
  readonly id: string;
  readonly endedAt: number | undefined;
  /** Cancels it: it was idle for too long. @param ms for how long. */
  expire(ms: number): void;
}

export interface StoreParts extends RunHost {
  readonly clock: Clock;
  readonly journal: RunJournal;
  readonly schemas: SchemaCompiler;
  /** The inputs of a tool with secret values. */
  readonly secretInputs: (tool: string) => readonly string[];
  /** Whether only steps of workflows may call a tool. Default: no tool is private. */
  readonly isPrivate?: (tool: string) => boolean;
  /** The needs of a graph's runs that this process lacks. Default: it has all. */
  readonly missing?: MissingCapabilities;
  /** Why a value cannot be what a call of a tool returned. Default: it can. */
  readonly resultFailure?: (tool: string, value: Json) => Failure | undefined;
  /** Log of internal errors; clients never receive it. */
  readonly log: Log;
  /** Receives a run when it waits for an answer without a request, and when that ends. */
  readonly idle: { add(run: KeptRun): void; delete(run: KeptRun): void };
  readonly waits: CapabilityWaits;
  readonly onEnd: (run: KeptRun) => void;
  /** How long a finished run is kept at most, in ms. */
  readonly keptMs: number;
}

/** The runs that this version cannot read, or whose part of the store is damaged, by their ids. Each is logged once. */
export class UnreadableRuns {
  readonly #faults = new Map<string, UnreadableRunError>();
  readonly #host: Pick<StoreParts, 'log' | 'telemetry'>;

  constructor(host: Pick<StoreParts, 'log' | 'telemetry'>) {
    this.#host = host;
  }

  get(id: string): UnreadableRunError | undefined {
    return this.#faults.get(id);
  }

  /** Takes note of a run that could not be read, and returns its fault. */
  add(id: string, error: unknown): UnreadableRunError {
    const ref = runRef(id);
    const isDamaged = !(error instanceof Error && error.name === 'StateVersionError');
    const fault = new UnreadableRunError(ref, isDamaged, error);
    this.#faults.set(id, fault);
    this.#host.log(
      `Run ${ref} does not go on in this process, and stays in the store as it is: ${thrownText(error).replaceAll(id, ref)}`,
      { event: 'run.not_resumed', run: ref },
    );
    if (isDamaged) this.#host.telemetry?.storeFault('damaged');
    return fault;
  }
}
