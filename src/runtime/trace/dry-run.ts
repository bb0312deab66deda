import { Budget } from '../../graph/expression/evaluate.js';
import type { Expr, RefExpr } from '../../graph/expression/tree.js';
import { Unknown } from '../../graph/expression/unknown.js';
import type { JsonObject, Value } from '../../graph/json.js';
import type { NodeInstance, ScopeInstance } from '../../plan/instances.js';
import type { Command, Event, Fact, RunState } from '../engine/contract.js';
import { advance, start } from '../engine/engine.js';
import { type Evaluated, Evaluation } from '../engine/evaluation.js';
import { scopeOf } from '../engine/read.js';
import { Rehearsal } from '../engine/rehearsal.js';
import { OpenNodes, type StoppedRun } from './open-nodes.js';

/** What one expression may cost. See `Budget` for the unit. */
const EXPRESSION_BUDGET = 1_000_000;

/** How many facts are looked at before a dry run ends with what it has. */
const MAX_FACTS = 100_000;

/** Takes note of what a dry run does, step by step. */
export interface DryRunObserver {
  /** A node was reached. */
  observe(fact: Fact, node: NodeInstance): void;
  /** Gives what a call is to be answered with. */
  asked(node: NodeInstance, given: Value): Value;
}

/** What waits for an answer. */
interface Asked {
  readonly node: NodeInstance;
  readonly command: Extract<Command, { kind: 'evaluate' }>;
  /** Its place in declaration order. */
  readonly order: readonly number[];
}

/** Carries on with a run that stopped, on placeholders for what its calls would give. */
export class DryRun {
  readonly open: OpenNodes;
  readonly rehearsal: Rehearsal;
  readonly #run: StoppedRun;
  #state: RunState | undefined;
  /** In declaration order. */
  readonly #asked: Asked[] = [];
  /** Waits whose time is still to come, by the ids of their commands. */
  readonly #timers: string[] = [];

  constructor(run: StoppedRun) {
    this.#run = run;
    this.open = new OpenNodes(run);
    this.rehearsal = new Rehearsal(this.open);
  }

  /** Answers what is asked, one after the other in declaration order, until there is nothing more. */
  to(input: JsonObject, observer: DryRunObserver): void {
    const { plan, instances } = this.#run.ledger;
    // One node at a time: what a node has read is gone once the scope around it has ended.
    const limits = { activations: 1, rehearsal: this.rehearsal };
    let step = start(plan, input, { runId: 'dry-run', at: 0 }, limits);
    for (let facts = 0; facts < MAX_FACTS; facts += step.facts.length) {
      this.#state = step.state;
      for (const command of step.commands) {
        if (command.kind === 'evaluate') this.#ask(command);
        if (command.kind === 'startTimer' && command.purpose === 'wait') this.#timers.push(command.id);
      }
      for (const fact of step.facts) {
        if (fact.kind === 'finished' || fact.node === undefined) continue;
        const node = instances.find(fact.node);
        // It was begun, and is given up for a failure that the calls do not change.
        const place =
          fact.kind === 'nodeCancelled' ? this.#asked.findIndex((each) => each.node === node) : -1;
        for (const { command } of place < 0 ? [] : this.#asked.splice(place, 1))
          observer.asked(node, command.args[0]);
        observer.observe(fact, node);
      }
      const event = step.more ? undefined : this.#answer(observer);
      if (!step.more && event === undefined) return;
      step = advance(plan, step.state, event === undefined ? [] : [event], limits);
    }
  }

  /** Times pass before anything is asked. */
  #answer(observer: DryRunObserver): Event | undefined {
    const timer = this.#timers.shift();
    if (timer !== undefined) return { kind: 'timerFired', at: 0, command: timer };
    const first = this.#asked.shift();
    if (first === undefined) return undefined;
    const value = observer.asked(first.node, first.command.args[0]);
    const answer = { kind: 'evaluated', at: 0, command: first.command.id } as const;
    return value === undefined ? answer : { ...answer, value };
  }

  #ask(command: Asked['command']): void {
    const node = this.#run.ledger.instances.find(command.node);
    const asked = { node, command, order: [...node.scope.order, node.planned.index] };
    const before = this.#asked.findLastIndex((each) => isBefore(each, asked));
    this.#asked.splice(before + 1, 0, asked);
  }

  /** The value of an expression of a node, as it is now: with placeholders for secrets. */
  valueOf(expr: Expr, { scope }: NodeInstance): Evaluated<Value> {
    const state = this.#state;
    if (state === undefined) throw new Error('the dry run has not begun');
    const evaluation = new Evaluation(state, new Budget(EXPRESSION_BUDGET), scopeOf(state, scope));
    return evaluation.value(this.#run.secrets.isEmpty ? expr : (this.#shown(expr, scope) as Expr));
  }

  /** What a node's condition is: true where it has none. */
  conditionOf(node: NodeInstance): Value {
    const { when } = node.planned.node;
    if (when === undefined) return true;
    const value = this.valueOf(when, node);
    return value.ok ? value.value : undefined;
  }

  /** An expression in which what derives from secrets is not known. */
  #shown(part: unknown, at: ScopeInstance): unknown {
    if (Array.isArray(part)) return part.map((each) => this.#shown(each, at));
    if (typeof part !== 'object' || part === null) return part;
    const { kind } = part as { readonly kind?: unknown };
    if (kind === 'literal') return part;
    if (kind === 'ref') return this.#reference(part as RefExpr, at);
    return Object.fromEntries(Object.entries(part).map(([key, each]) => [key, this.#shown(each, at)]));
  }

  #reference(ref: RefExpr, at: ScopeInstance): Expr {
    if (ref.root === 'inputs' && at.workflow.node === undefined) return ref;
    const { secrets, ledger } = this.#run;
    const sources = secrets.sourcesOf(ref, at);
    if (sources === undefined) return ref;
    const [name, ...rest] = ref.path;
    const step = ref.root === 'steps' ? ledger.seenFrom(at, String(name)) : undefined;
    if (sources.length > 0 || step === undefined)
      return { kind: 'literal', value: Unknown.value({ sources }) };
    const promised: Expr = { kind: 'literal', value: this.open.promised(step.key) };
    return rest.reduce<Expr>(
      (of, key) => ({ kind: 'get', of, key: { kind: 'literal', value: key } }),
      promised,
    );
  }
}

/** Whether a node comes before another one in declaration order. */
function isBefore({ order: left }: Asked, { order: right }: Asked): boolean {
  const place = left.findIndex((index, at) => index !== right[at]);
  return (left[place] ?? 0) < (right[place] ?? Number.NEGATIVE_INFINITY);
}
