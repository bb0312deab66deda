import type { Graph } from '../../graph/model.js';
import { capabilityText, type MissingCapabilities } from '../tools/capabilities.js';
import type { Log } from '../tools/log.js';
import { runRef } from '../tools/port.js';
import type { Clock } from './run/clock.js';
import { isLocal, type OpenRun, type RunJournal } from './store/journal.js';

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
