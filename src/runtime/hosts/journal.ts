import type { Graph } from '../../graph/model.js';
import type { Change, Event } from '../engine/contract.js';

/** One step of a run: what happened, and what changed by it. */
export interface JournalEntry {
  /** The run's id. */
  readonly run: string;
  /** Place of the step in its run. The start is 0. */
  readonly seq: number;
  /** What the step answered; missing for the start. */
  readonly event?: Event;
  /** The rows of the run's state that were written or deleted: those of all steps in order add up to the state. */
  readonly changes: readonly Change[];
}

/**
 * Where the steps of runs are written down before anything of them is carried out: a tool is called, a question put and
 * a timer set only when what led to it is safe.
 *
 * It holds what runs hold, secrets included, and so belongs where nobody reads it who must not know them.
 */
export interface Journal {
  /**
   * A run begins.
   *
   * @param graph with all workflows it runs among its tasks. The run goes on with this one alone.
   * @throws whatever keeps it from being written down: then the run does not begin.
   */
  open(run: string, graph: Graph): void;
  /**
   * A run takes a step. When this returns, the step is safe.
   *
   * @throws whatever keeps it from being written down: then nothing of the step is carried out, and the run is lost.
   */
  append(entry: JournalEntry): void;
  /** Nobody will ask for a run any more. */
  forget(run: string): void;
}
