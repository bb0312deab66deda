import type { Graph } from '../../graph/model.js';
import { planOf } from '../../plan/plan.js';
import type { Fact, Failure } from '../engine/contract.js';
import { Instances } from '../engine/instances.js';

/** An item that failed in a loop that went on without it. */
export interface FailedItem {
  /** The key of the loop. */
  readonly step: string;
  /** Counted from 0. */
  readonly index: number;
  readonly failure: Failure;
}

/** The items of a run that failed in loops with `onItemError: 'continue'`: their values are null, and nothing else says why. */
export class FailedItems {
  readonly #instances: Instances;
  /** By loop and index. */
  readonly #failed = new Map<string, Map<number, Failure>>();

  constructor(graph: Graph) {
    this.#instances = new Instances(planOf(graph));
  }

  /** Takes the run's facts, each once and in order. */
  note(fact: Fact): void {
    switch (fact.kind) {
      case 'nodeStarted':
      case 'retrying':
        // The loop starts over, with items of its own.
        this.#failed.delete(fact.node);
        return;
      case 'partEnded': {
        const { node, index, outcome } = fact;
        if (index === undefined || outcome.status !== 'failed' || !this.#goesOn(node)) return;
        const items = this.#failed.get(node) ?? new Map<number, Failure>();
        this.#failed.set(node, items.set(index, outcome.failure));
        return;
      }
      default:
    }
  }

  /** By loop, then by index. */
  get all(): readonly FailedItem[] {
    return [...this.#failed].flatMap(([step, items]) =>
      [...items].sort(([one], [other]) => one - other).map(([index, failure]) => ({ step, index, failure })),
    );
  }

  clear(): void {
    this.#failed.clear();
  }

  #goesOn(key: string): boolean {
    const { node } = this.#instances.find(key).planned;
    return node.kind === 'foreach' && node.onItemError === 'continue';
  }
}
