import type { RunState } from './contract.js';
import { ADVANCE_BUDGET, Evaluation } from './evaluation.js';
import type { Plan, PlannedNode } from './plan.js';
import { Recorder } from './recorder.js';

/** One step of the machine while it is under way: one `start` or one `advance`. */
export interface Turn {
  readonly plan: Plan;
  /** Ms since the epoch, as the host read it. */
  readonly at: number;
  readonly recorder: Recorder;
  readonly evaluation: Evaluation;
  /** Nodes whose dependencies have all settled and that were not looked at yet. */
  readonly due: DueNodes;
}

/**
 * Opens a turn.
 *
 * `at` is taken as it comes. It is only ever used to say when a timer is due and whether the deadline has passed, so
 * a clock that steps back disturbs nothing: a limit stays as long as it is, measured from the host's present time.
 */
export function openTurn(plan: Plan, state: RunState, at: number): Turn {
  return {
    plan,
    at,
    recorder: new Recorder(state),
    evaluation: new Evaluation(state, ADVANCE_BUDGET),
    due: new DueNodes(),
  };
}

/** Nodes to look at, handed out in declaration order whatever order they come in. */
export class DueNodes {
  #nodes: PlannedNode[] = [];
  #next = 0;

  add(planned: PlannedNode): void {
    let low = this.#next;
    let high = this.#nodes.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = this.#nodes[middle];
      if (other !== undefined && other.index < planned.index) low = middle + 1;
      else high = middle;
    }
    this.#nodes.splice(low, 0, planned);
  }

  take(): PlannedNode | undefined {
    const planned = this.#nodes[this.#next];
    if (planned !== undefined) this.#next += 1;
    return planned;
  }
}
