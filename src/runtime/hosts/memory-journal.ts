import type { Graph } from '../../graph/model.js';
import type { RunState } from '../engine/contract.js';
import { fold } from '../engine/fold.js';
import type { Journal, JournalEntry } from './journal.js';

/** A run as a journal has it. */
export interface JournaledRun {
  readonly graph: Graph;
  /** In order, from the start. */
  readonly entries: readonly JournalEntry[];
  /** What the entries add up to. */
  readonly state: RunState;
}

/**
 * A journal in memory: it ends with the process. It keeps text, as one on disk would, so that what it gives back is as
 * it was when it was written, whatever has become of the run.
 */
export class MemoryJournal implements Journal {
  readonly #runs = new Map<string, { readonly graph: string; readonly entries: string[] }>();

  /** @throws Error for an id that is taken: idempotency keys are made from it. */
  open(run: string, graph: Graph): void {
    if (this.#runs.has(run)) throw new Error(`the journal has a run '${run}' already`);
    this.#runs.set(run, { graph: JSON.stringify(graph), entries: [] });
  }

  /** @throws Error for a run that was not opened, and for a step that is not the next one. */
  append(entry: JournalEntry): void {
    const { run, seq } = entry;
    const known = this.#runs.get(run);
    if (known === undefined) throw new Error(`the journal has no run '${run}'`);
    const next = known.entries.length;
    if (seq !== next) throw new Error(`step ${seq} of run '${run}' is not the next one, which is ${next}`);
    known.entries.push(JSON.stringify(entry));
  }

  forget(run: string): void {
    this.#runs.delete(run);
  }

  /** The ids of its runs, in the order in which they began. */
  get runs(): readonly string[] {
    return [...this.#runs.keys()];
  }

  /** What was written down of a run; nothing for one it does not have, or whose first step was not written. */
  read(run: string): JournaledRun | undefined {
    const known = this.#runs.get(run);
    if (known === undefined || known.entries.length === 0) return undefined;
    const entries = known.entries.map((text) => JSON.parse(text) as JournalEntry);
    const graph = JSON.parse(known.graph) as Graph;
    return { graph, entries, state: fold(entries.flatMap(({ changes }) => changes)) };
  }
}
