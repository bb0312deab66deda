import type { Fact } from '../engine/contract.js';

/** A call of which nobody knows what it did: it was given up, or had no answer in time. */
export interface UnknownCall {
  /** The key of the node that made it, or of the one it was to undo. */
  readonly step: string;
  readonly tool: string;
}

/** The same, and whether it was to undo that node. */
export interface UnknownOutcome extends UnknownCall {
  readonly isUndo: boolean;
}

/** The calls of a run that may have taken effect although nothing came back. */
export class UnknownOutcomes {
  readonly #changesNothing: (tool: string) => boolean;
  /** Calls in flight, by command. */
  readonly #issued = new Map<string, UnknownOutcome & { readonly key: string }>();
  readonly #unknown = new Map<string, UnknownOutcome>();

  /** @param changesNothing whether a tool only reads: then there is nothing to wonder about. */
  constructor(changesNothing: (tool: string) => boolean) {
    this.#changesNothing = changesNothing;
  }

  /** Takes the run's facts, each once and in order. */
  note(fact: Fact): void {
    if (fact.kind === 'callIssued') {
      const { command, tool, node, undoes, isCompensation } = fact;
      if (this.#changesNothing(tool)) return;
      const step = undoes ?? node;
      const isUndo = undoes !== undefined;
      // Whoever undoes a step with a tool, it is the same call; a `compensate` node may make several for no step.
      const key = isUndo ? `undo ${step} ${tool}` : isCompensation ? `${command} ${step}` : step;
      this.#issued.set(command, { step, tool, isUndo, key });
    } else if (fact.kind === 'callReturned') this.#returned(fact);
  }

  /** An attempt that succeeds is the same call as those before it; one that fails takes nothing back. */
  #returned({ command, outcome }: Extract<Fact, { kind: 'callReturned' }>): void {
    const call = this.#issued.get(command);
    if (call === undefined) return;
    this.#issued.delete(command);
    const { key, ...unknown } = call;
    if (outcome.ok) this.#unknown.delete(key);
    else if (outcome.failure.outcomeUnknown === true) this.#unknown.set(key, unknown);
  }

  /** In the order in which they were given up. */
  get all(): readonly UnknownOutcome[] {
    return [...this.#unknown.values()];
  }

  clear(): void {
    this.#issued.clear();
    this.#unknown.clear();
  }
}
