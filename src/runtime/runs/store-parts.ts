import type { SchemaCompiler } from '../../formats/json-schema/schema-compiler.js';
import type { Json } from '../../graph/json.js';
import type { Graph } from '../../graph/model.js';
import type { Failure } from '../engine/contract.js';
import { capabilityText, type MissingCapabilities } from '../tools/capabilities.js';
import { thrownText } from '../tools/exceptions.js';
import type { Log } from '../tools/log.js';
import { runRef } from '../tools/port.js';
import type { idleRunsOf } from './idle-runs.js';
import type { Clock } from './run/clock.js';
import type { RunHost } from './run/run-host.js';
import { isLocal, type OpenRun, type RunJournal } from './store/journal.js';
import { UnreadableRunError } from './store/store-error.js';

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
  readonly idle: ReturnType<typeof idleRunsOf>;
  readonly waits: CapabilityWaits;
  /** A run is over, at a time in ms since the epoch. */
  readonly onEnd: (run: string, at: number) => void;
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

interface WaitParts {
  readonly journal: RunJournal;
  readonly clock: Clock;
  readonly log: Log;
  readonly missing?: MissingCapabilities;
  /** After so many ms a run is reported. */
  readonly limitMs: number;
  /** A graph by its hash; undefined for one that this process cannot read, which loading reports. */
  readonly graphOf: (hash: string) => Promise<Graph | undefined>;
}

/**
 * Runs that need a process, and that this one leaves to others because it lacks their needs. A deploy leaves runs so for
 * moments; only those that wait for longer are reported, each once.
 */
export class CapabilityWaits {
  readonly #parts: WaitParts;
  readonly #limitMs: number;
  /** Since when, in ms since the epoch. */
  readonly #since = new Map<string, number>();
  readonly #reported = new Set<string>();

  constructor(parts: WaitParts) {
    this.#parts = parts;
    // Of a journal of one process there is no other server.
    this.#limitMs = isLocal(parts.journal) ? 0 : parts.limitMs;
  }

  /** Of the runs that need a process, those that this one can continue. Others that were left before have a process. */
  async capable(orphans: readonly OpenRun[]): Promise<readonly OpenRun[]> {
    const waiting = new Set<string>();
    const capable: OpenRun[] = [];
    for (const orphan of orphans) {
      if (await this.#leaves(orphan)) waiting.add(orphan.run);
      else capable.push(orphan);
    }
    for (const run of this.#since.keys()) {
      if (waiting.has(run)) continue;
      this.#since.delete(run);
      this.#reported.delete(run);
    }
    return capable;
  }

  /** Whether a run was reported, and still waits. */
  isReported(run: string): boolean {
    return this.#reported.has(run);
  }

  async #leaves({ run, graphHash }: OpenRun): Promise<boolean> {
    const { missing, graphOf, clock, log, journal } = this.#parts;
    const graph = missing && (await graphOf(graphHash));
    const needs = graph === undefined ? [] : (missing?.(graph) ?? []);
    if (needs.length === 0 || (await isCancelledPlainly(journal, run))) return false;
    const now = clock.now();
    const since = this.#since.get(run) ?? now;
    this.#since.set(run, since);
    if (now - since < this.#limitMs || this.#reported.has(run)) return true;
    this.#reported.add(run);
    const ref = runRef(run);
    log(
      `Run ${ref} waits for a server that has ${needs.map(capabilityText).join(' and ')}: this one does not, and no other one has taken it for ${this.#limitMs} ms`,
      { event: 'run.waits_for_capability', level: 'warning', run: ref },
    );
    await journal.leases.leave?.(run, needs);
    return true;
  }
}

/**
 * Whether a run is to be cancelled without undoing. Each process may take such a run, also one that lacks tools: no
 * step of it runs again.
 */
export async function isCancelledPlainly(journal: RunJournal, run: string): Promise<boolean> {
  const items = await journal.inbox(run);
  return items.some(
    ({ kind, content: { command, compensate } }) =>
      (kind === 'cancel' || (kind === 'operator' && command === 'cancel')) && compensate !== true,
  );
}
