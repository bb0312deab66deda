import { Budget } from '../../../graph/expression/evaluate.js';
import { references } from '../../../graph/expression/references.js';
import { isJsonObject, type JsonObject, ownProperty } from '../../../graph/json.js';
import type { Compensation } from '../../../graph/model.js';
import { jsonText } from '../../catalogue/encode-text.js';
import type { Fact, Failure, RunState } from '../../engine/contract.js';
import { Evaluation } from '../../engine/evaluation.js';
import { type Instances, type NodeInstance, type ScopeInstance, visibleKey } from '../../engine/instances.js';

/** What one compensation may cost to work out. See `Budget` for the unit. */
const BUDGET = 1_000_000;

/** A compensation that should have been made: what it would take back stands. */
export interface Standing {
  readonly compensation: Compensation;
  readonly input: JsonObject;
  /** The step whose effect it takes back, where it is one step's, and else the one that undoes. */
  readonly step: NodeInstance;
  /** Where its input is read. */
  readonly at: ScopeInstance;
  /** How making it failed; missing for one that was not tried. */
  readonly failure?: Failure;
  /** It was tried without an answer: nobody knows whether it was made. A later try that fails tells nothing of that. */
  readonly outcomeUnknown?: true;
  /** The step has run again since, and what it did then is not to be taken back. */
  readonly ranAgain?: true;
}

/**
 * Keeps account of what is to be undone and was not. Inputs are worked out when undoing begins: the results they are
 * made of are forgotten when it ends.
 */
export class StandingWork {
  readonly #instances: Instances;
  readonly #open: Standing[] = [];
  /** By command: the compensations that are being made. */
  readonly #issued = new Map<string, Standing>();

  constructor(instances: Instances) {
    this.#instances = instances;
  }

  /** What stands although it should have been undone, in the order in which that was to be done. */
  get all(): readonly Standing[] {
    return this.#open.filter(({ compensation }) => compensation.ignoreError !== true);
  }

  /** Takes the run's facts, each once and in order. @param state the run as it stands after the fact. */
  observe(fact: Fact, state: RunState): void {
    if (fact.kind === 'compensating') {
      for (const each of this.#begun(fact.node, state)) {
        const place = this.#open.findIndex((known) => isSame(known, each));
        if (place < 0) this.#open.push(each);
        else this.#change(place, ({ ranAgain: _, ...known }) => known);
      }
    } else if (fact.kind === 'nodeStarted') {
      for (const [place, { step }] of this.#open.entries()) {
        if (step.key === fact.node) this.#change(place, (known) => ({ ...known, ranAgain: true }));
      }
    } else if (fact.kind === 'callIssued' && fact.isCompensation) {
      const made = this.#open.find(({ compensation: { tool }, input, step }) => {
        const isItsOwn = fact.undoes === undefined || step.key === fact.undoes;
        return isItsOwn && tool === fact.tool && jsonText(input) === jsonText(fact.input);
      });
      if (made !== undefined) this.#issued.set(fact.command, made);
    } else if (fact.kind === 'callReturned') this.#returned(fact);
  }

  #change(place: number, change: (known: Standing) => Standing): void {
    this.#open.splice(place, 1, ...this.#open.slice(place, place + 1).map(change));
  }

  #returned({ command, outcome }: Extract<Fact, { kind: 'callReturned' }>): void {
    const made = this.#issued.get(command);
    if (made === undefined) return;
    this.#issued.delete(command);
    const place = this.#open.findIndex((known) => isSame(known, made));
    if (place < 0) return;
    if (outcome.ok) this.#open.splice(place, 1);
    else {
      const { failure } = outcome;
      const unknown = failure.outcomeUnknown === true ? ({ outcomeUnknown: true } as const) : {};
      this.#change(place, (known) => ({ ...known, failure, ...unknown }));
    }
  }

  /** What a node, or the cancelled run, is about to undo. */
  #begun(owner: string | undefined, state: RunState): Standing[] {
    const by = owner === undefined ? undefined : this.#instances.find(owner);
    if (by?.planned.node.kind === 'compensate') {
      return by.planned.node.steps.flatMap((compensation) =>
        this.#standing(compensation, by.scope, state, named(compensation, by.scope, this.#instances) ?? by),
      );
    }
    const keys = ownProperty(state.items, owner ?? '') ?? [];
    return keys.flatMap((key) => {
      const effect = ownProperty(state.effects, String(key));
      if (effect?.input === undefined) return [];
      const step = this.#instances.find(effect.call);
      const { compensate } = step.planned.node;
      return compensate === undefined
        ? []
        : [{ compensation: compensate, input: effect.input, step, at: step.scope }];
    });
  }

  #standing(
    compensation: Compensation,
    at: ScopeInstance,
    state: RunState,
    step: NodeInstance,
  ): readonly Standing[] {
    const isDone = stepsIn(compensation, at).every((key) => {
      return key !== undefined && ownProperty(state.nodes, key)?.status === 'succeeded';
    });
    const input = new Evaluation(state, new Budget(BUDGET), at).value(compensation.input);
    if (!isDone || !input.ok || !isJsonObject(input.value)) return [];
    return [{ compensation, input: input.value, step, at }];
  }
}

/** Keys of the steps a compensation plainly refers to. */
function stepsIn({ input }: Compensation, at: ScopeInstance): (string | undefined)[] {
  return references(input)
    .filter(({ ref, guarded }) => ref.root === 'steps' && !guarded)
    .map(({ ref }) => visibleKey(at, String(ref.path[0])));
}

/** The one step that a compensation takes the effect back of. */
function named(
  compensation: Compensation,
  at: ScopeInstance,
  instances: Instances,
): NodeInstance | undefined {
  const [key, ...others] = new Set(stepsIn(compensation, at));
  return key === undefined || others.length > 0 ? undefined : instances.find(key);
}

function isSame(one: Standing, other: Standing): boolean {
  return (
    one.compensation === other.compensation &&
    one.step.key === other.step.key &&
    jsonText(one.input) === jsonText(other.input)
  );
}
