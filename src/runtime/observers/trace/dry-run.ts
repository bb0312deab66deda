import { Budget } from '../../../graph/expression/evaluate.js';
import type { Expr } from '../../../graph/expression/tree.js';
import { isUnknown } from '../../../graph/expression/unknown.js';
import type { Json, JsonObject, Value } from '../../../graph/json.js';
import type { Arm, BranchNode } from '../../../graph/model.js';
import type { NodeInstance } from '../../../plan/instances.js';
import { type Plan, planOf } from '../../../plan/plan.js';
import type { Fact, RunState } from '../../engine/contract.js';
import { advance, start } from '../../engine/engine.js';
import { type Evaluated, Evaluation } from '../../engine/evaluation.js';
import { ANY_ITEM, type Finding, isLost, residualKey, type Stopped } from './open-nodes.js';
import { Residual } from './residual.js';

/** What one expression may cost. See `Budget` for the unit. */
const EXPRESSION_BUDGET = 1_000_000;

/** How many nodes are looked at altogether before a dry run ends with what it has. */
const MAX_NODES = 100_000;

/** Nodes are looked at one after the other: what a node has read is gone once the scope around it has ended. */
const ONE_BY_ONE = { activations: 1 };

/** Takes note of what a dry run does, step by step. */
export interface DryRunObserver {
  /** A node was reached. */
  observe(fact: Fact, node: NodeInstance, run: DryRun): void;
  /** Gives what a call is to be answered with. */
  asked(node: NodeInstance, given: Value, run: DryRun): Json;
}

/**
 * Carries on with a run that stopped, on placeholders for what its calls would give. Where a placeholder would decide
 * something, the run begins anew with what was found out: all arms that may be taken are, and a loop over unknown items
 * has one that stands for all. `observerOf` makes an observer for each of these runs; that of the last one counts.
 */
export function carryOn<O extends DryRunObserver>(
  context: Stopped,
  input: JsonObject,
  observerOf: (residual: Residual) => O,
): O {
  const found = new Map<string, Finding>();
  for (let looked = 0; ; ) {
    const run = new DryRun(new Residual(context, found));
    const observer = observerOf(run.residual);
    const news = run.to(input, observer);
    looked += run.residual.nodes.size;
    if (news.size === 0 || looked > MAX_NODES) return observer;
    for (const [node, finding] of news) found.set(residualKey(node.key), finding);
  }
}

/** What waits for an answer. */
interface Asked {
  readonly node: NodeInstance;
  readonly command: string;
  readonly given: Value;
  /** Its place in declaration order. */
  readonly order: readonly number[];
}

/** One run of a residual graph. */
export class DryRun {
  readonly residual: Residual;
  readonly #plan: Plan;
  /** In declaration order. */
  readonly #asked: Asked[] = [];
  #state: RunState | undefined;

  constructor(residual: Residual) {
    this.residual = residual;
    this.#plan = planOf(residual.toGraph());
  }

  /** Runs to the end, or to the first thing that it has to begin anew with. Gives what was found out. */
  to(input: JsonObject, observer: DryRunObserver): Map<NodeInstance, Finding> {
    const { nodes } = this.residual;
    const news = new Map<NodeInstance, Finding>();
    let step = start(this.#plan, input, { runId: 'dry-run', at: 0 }, ONE_BY_ONE);
    for (;;) {
      this.#state = step.state;
      for (const fact of step.facts) {
        const node = 'node' in fact && fact.node !== undefined ? nodes.get(fact.node) : undefined;
        if (node === undefined) continue;
        const finding = this.residual.finding(node) === undefined ? this.#found(fact, node) : undefined;
        if (finding !== undefined) return news.set(node, finding);
        observer.observe(fact, node, this);
        if (fact.kind === 'callIssued') this.#ask(node, fact.command, fact.input.given);
        if (fact.kind !== 'callReturned') continue;
        // It was begun, and is given up for a failure that the calls do not change.
        const place = this.#asked.findIndex(({ command }) => command === fact.command);
        for (const { given } of place < 0 ? [] : this.#asked.splice(place, 1))
          if (node.planned.node.kind !== 'foreach') observer.asked(node, given, this);
      }
      if (step.more) {
        step = advance(this.#plan, step.state, [], ONE_BY_ONE);
        continue;
      }
      const first = this.#asked.shift();
      if (first === undefined) return news;
      const { node, command, given } = first;
      const isLoop = node.planned.node.kind === 'foreach' && !isLost(given);
      if (isLoop) news.set(node, { kind: 'items', ...(Array.isArray(given) ? { items: given } : {}) });
      const value = isLoop ? this.residual.promised(node) : observer.asked(node, given, this);
      const answer = { kind: 'toolReturned', at: 0, command, value } as const;
      step = advance(this.#plan, step.state, [answer], ONE_BY_ONE);
    }
  }

  #ask(node: NodeInstance, command: string, given: Value): void {
    const asked = { node, command, given, order: [...node.scope.order, node.planned.index] };
    const before = this.#asked.findLastIndex((each) => isBefore(each, asked));
    this.#asked.splice(before + 1, 0, asked);
  }

  /** The value of an expression of a node, as it is now. */
  valueOf(expr: Expr, node: NodeInstance): Evaluated<Value> {
    if (this.#state === undefined) throw new Error('the dry run has not begun');
    const { scope } = this.#state.find(residualKey(node.key));
    const evaluation = new Evaluation(this.#state, new Budget(EXPRESSION_BUDGET), scope);
    return evaluation.value(this.residual.expr(expr, node.scope));
  }

  /** What a node's condition is: true where it has none. */
  conditionOf(node: NodeInstance): Value {
    const { when } = node.planned.node;
    if (when === undefined) return true;
    const value = this.valueOf(when, node);
    return value.ok ? value.value : undefined;
  }

  #found(fact: Fact, node: NodeInstance): Finding | undefined {
    const { node: model } = node.planned;
    if (this.residual.standing(node) !== 'pending') return undefined;
    switch (fact.kind) {
      case 'callIssued':
        return isTaken(node, fact.input.given) ? undefined : { kind: 'refused' };
      case 'nodeStarted': {
        const isMissing = !this.residual.isAgain(node) && isLost(this.conditionOf(node));
        return isMissing ? { kind: 'lost' } : undefined;
      }
      case 'branchTaken':
        return model.kind === 'branch' ? this.#armsOf(node, model) : undefined;
      case 'nodeSkipped': {
        if (fact.reason !== 'condition_false' || (model.kind !== 'error' && model.kind !== 'return'))
          return undefined;
        return this.conditionOf(node) === true && !this.#isInside(node) ? { kind: 'ends' } : undefined;
      }
      default:
        return undefined;
    }
  }

  /** The arms that may be taken, where more than one is. */
  #armsOf(node: NodeInstance, model: BranchNode): Finding | undefined {
    const arms: Arm[] = [];
    for (const arm of model.cases) {
      const condition = this.valueOf(arm.when, node);
      if (!condition.ok) return undefined;
      if (isLost(condition.value)) return { kind: 'lost' };
      if (isUnknown(condition.value)) arms.push(arm);
      else if (condition.value === true) {
        return arms.length === 0 ? undefined : { kind: 'arms', arms: [...arms, arm], isComplete: true };
      }
    }
    if (arms.length === 0) return undefined;
    const { else: last } = model;
    return last === undefined
      ? { kind: 'arms', arms, isComplete: false }
      : { kind: 'arms', arms: [...arms, last], isComplete: true };
  }

  /** Whether it hangs on what is not known whether a node is reached. */
  #isInside({ scope: { container, part } }: NodeInstance): boolean {
    if (container === undefined) return false;
    const isOpen = part === ANY_ITEM || this.residual.finding(container)?.kind === 'arms';
    return isOpen || this.#isInside(container);
  }
}

/** Whether the engine takes the items of a loop, the address of a resource, the arguments of a function, a question. */
function isTaken({ planned: { node } }: NodeInstance, given: Value): boolean {
  switch (node.kind) {
    case 'foreach':
      return isUnknown(given) || (Array.isArray(given) && given.length <= node.max);
    case 'resource':
      return isText(given);
    case 'compute':
      return isUnknown(given) || Array.isArray(given);
    case 'ask': {
      const { message, options } = given as JsonObject;
      if (!isText(message) || node.mode !== 'choice' || isUnknown(options)) return isText(message);
      if (!Array.isArray(options) || options.length === 0 || !options.every(isText)) return false;
      return new Set(options).size === options.length;
    }
    default:
      return true;
  }
}

function isText(value: unknown): boolean {
  return typeof value === 'string' || isUnknown(value);
}

/** Whether a node comes before another one in declaration order. */
function isBefore({ order: left }: Asked, { order: right }: Asked): boolean {
  const place = left.findIndex((index, at) => index !== right[at]);
  return (left[place] ?? 0) < (right[place] ?? Number.NEGATIVE_INFINITY);
}
