import type { SchemaCompiler } from '../../formats/json-schema/schema-compiler.js';
import type { Json } from '../../graph/json.js';
import type { Failure } from '../engine/contract.js';
import type { MissingCapabilities } from '../tools/capabilities.js';
import type { Log } from '../tools/log.js';
import type { CapabilityWaits } from './capability-waits.js';
import type { Clock } from './run/clock.js';
import type { RunHost } from './run/run-host.js';
import type { RunJournal } from './store/journal.js';

/** A run, as the parts of its store use it. */
export interface KeptRun {
  readonly id: string;
  readonly endedAt: number | undefined;
  /** Cancels it: it was idle for too long. @param ms for how long. */
  expire(ms: number): void;
}

/** What the runs of a store share. */
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
