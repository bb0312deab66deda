import { defined } from '../../graph/defined.js';
import { Budget, EXPRESSION_BUDGET } from '../../graph/expression/evaluate.js';
import { references } from '../../graph/expression/traversal.js';
import type { Expr, RefExpr } from '../../graph/expression/tree.js';
import { isUnknown, Unknown } from '../../graph/expression/value.js';
import { isJsonObject, type Json, type JsonObject, type JsonSchema, type Value } from '../../graph/json.js';
import type { Graph } from '../../graph/model.js';
import { valueExpressions } from '../../graph/nodes.js';
import type { ToolSafety } from '../../graph/tool-safety.js';
import type { NodeInstance, ScopeInstance } from '../../plan/instances.js';
import { type Plan, rollsBack } from '../../plan/plan.js';
import { answerSchema } from '../engine/actions.js';
import type { Command, Fact, RunState } from '../engine/contract.js';
import { advance, start } from '../engine/engine.js';
import { type Evaluated, Evaluation } from '../engine/evaluation.js';
import type { Event } from '../engine/events.js';
import { type Remains, scopeOf } from '../engine/read.js';
import { LOST, Rehearsal, type StoppedState } from '../engine/rehearsal.js';
import type { RunMask } from '../secrets/run-mask.js';
import { type Ledger, type NodeRecord, nameOf, stepStateOf } from './ledger.js';
import { ITEMS_IN_FULL } from './messages.js';
import { outputField } from './sentences.js';

/** What the hand-off of a run is written from. */
export interface HandOffContext {
  readonly graph: Graph;
  readonly state: RunState;
  readonly safety: (tool: string) => ToolSafety;
  /** Whether only steps of workflows may call a tool. */
  readonly isPrivate: (tool: string) => boolean;
  /** The tool that starts the workflow again, if it has one. */
  readonly workflowTool?: string | undefined;
  readonly ledger: Ledger;
  readonly secrets: RunMask;
  readonly remains: Remains;
}

export interface PlannedRunContext {
  readonly graph: Graph;
  readonly state: RunState;
  readonly ledger: Ledger;
  readonly secrets: RunMask;
  /** Keys of failed nodes that run again. */
  readonly again: ReadonlySet<string>;
}

type Path = readonly (string | number)[];

/** How the nodes of a run were when it stopped, by its facts. */
export class OpenNodes {
  readonly #run: PlannedRunContext;
  readonly #states = new Map<string, StoppedState>();
  /** Messages by the keys of the nodes that ask with them. */
  readonly #supplied = new Map<string, string>();

  constructor(run: PlannedRunContext) {
    this.#run = run;
  }

  get state(): RunState {
    return this.#run.state;
  }

  stoppedState(key: string): StoppedState {
    const cached = this.#states.get(key);
    if (cached !== undefined) return cached;
    const node = this.#run.ledger.instances.find(key);
    const own = this.#own(node);
    const around = node.scope.container && this.stoppedState(node.scope.container.key).kind;
    // Where what is around it is over, what has not settled never will.
    const isOver = around === 'settled' || around === 'skipped' || around === 'lost';
    const neverEnds = isOver && own.kind !== 'settled' && own.kind !== 'skipped';
    const stoppedState: StoppedState = neverEnds
      ? { kind: this.#run.ledger.record(node) ? 'lost' : 'skipped' }
      : own;
    this.#states.set(key, stoppedState);
    return stoppedState;
  }

  #own(node: NodeInstance): StoppedState {
    const { ledger, again } = this.#run;
    if (ledger.undoneSteps.has(node.key)) return { kind: 'lost' };
    const record = ledger.record(node);
    if (again.has(node.key)) return { kind: 'again' };
    if (record === undefined) return { kind: 'pending' };
    const { node: model } = node.planned;
    const isOpen = record.parts.size > 0;
    const { status } = stepStateOf(record);
    switch (status) {
      case 'completed': {
        // Nothing starts behind a result that was reached.
        if (model.kind === 'return') return { kind: 'pending' };
        const hasValue = record.output !== undefined || record.hasFallback;
        // Its value may be forgotten with the scope around it, and is computed again.
        if (!hasValue && model.kind === 'compute' && model.function === undefined) return { kind: 'pending' };
        if (!hasValue && isOpen) return this.#open(record);
        const { goto } = record.choice ?? {};
        return { kind: 'settled', value: record.output, ...defined({ goto }) };
      }
      case 'skipped':
        return { kind: this.#isStillWanted(record) ? 'pending' : 'skipped' };
      case 'handled': {
        const { onError } = model;
        const fallbackNode = onError !== undefined && 'fallbackNode' in onError ? onError.fallbackNode : '';
        return { kind: 'handled', failure: record.failure, fallbackNode };
      }
      case 'failed': {
        if (isOpen) return isRolledBack(node, ledger.plan) ? { kind: 'lost' } : this.#open(record);
        const isFree = record.issued === undefined && this.#lacked(node);
        return { kind: isFree || record.failure?.code === 'E_NOBODY_TO_ASK' ? 'pending' : 'lost' };
      }
      default:
        return isOpen ? this.#open(record) : { kind: 'pending' };
    }
  }

  #open({ node, parts, items, input: inputs }: NodeRecord): StoppedState {
    const all = [...parts.values()];
    const unfinished = all.filter(({ status }) => status !== 'succeeded').map(({ scope }) => scope.part);
    if (node.planned.node.kind !== 'foreach') {
      const input = defined({ input: inputs });
      return { kind: 'open', parts: all.map(({ scope }) => scope.part), ...input };
    }
    const listed = unfinished.slice(0, ITEMS_IN_FULL);
    const values = all
      .filter(({ scope }) => !listed.includes(scope.part))
      .map(
        ({ status, value, scope }) => [scope.part, status === 'succeeded' ? (value ?? null) : LOST] as const,
      );
    return { kind: 'open', parts: listed, values: new Map(values), ...defined({ items }) };
  }

  /** Whether a node was skipped only because others were that can still be done. */
  #isStillWanted({ node: { planned, scope }, reason }: NodeRecord): boolean {
    if (reason !== 'not_selected' && reason !== 'upstream_skipped') return false;
    return [...planned.joins, ...planned.routers].some((each) =>
      this.isOpen(this.#run.ledger.instances.node(scope, each)),
    );
  }

  /** Whether something of a node is still to be done. */
  isOpen({ key }: NodeInstance): boolean {
    const { kind } = this.stoppedState(key);
    return kind === 'pending' || kind === 'again' || kind === 'open';
  }

  /** Whether a node failed only for want of what can still be had. */
  #lacked({ planned, scope }: NodeInstance): boolean {
    const { when } = planned.node;
    const exprs = [...valueExpressions(planned.node), ...(when === undefined ? [] : [when])];
    return exprs.flatMap(references).some(({ ref }) => {
      const step = ref.root === 'steps' ? this.#run.ledger.seenFrom(scope, String(ref.path[0])) : undefined;
      const stoppedState = step === undefined ? undefined : this.stoppedState(step.key).kind;
      return stoppedState === 'pending' || stoppedState === 'again';
    });
  }

  /** The first item of a loop that has not begun. */
  firstOpenItem(loop: NodeInstance): number {
    return this.#run.ledger.record(loop)?.parts.size ?? 0;
  }

  areMany(items: number): boolean {
    return items > ITEMS_IN_FULL;
  }

  /** Takes the message of a value that the reader of the hand-off supplies in a call. */
  supply(key: string, message: string): void {
    this.#supplied.set(key, message);
  }

  promised(key: string): Json {
    const { node } = this.#run.ledger.instances.find(key).planned;
    const message = this.#supplied.get(key);
    if (message !== undefined) return Unknown.value({ sources: [nameOf(key)], text: () => `<${message}>` });
    const step = nameOf(key);
    const promised = placeholder(step, outputField(step, ''), (path) => outputField(step, path));
    return node.kind === 'ask' ? answerPromised(answerSchema(node), promised) : promised;
  }

  anyItem(key: string): { readonly item: Json; readonly index: Json } {
    const loop = nameOf(key);
    const place = `<place of the item of ${loop}, from 0>`;
    return {
      item: placeholder(loop, `<item of ${loop}>`, (path) => `<field '${path}' from item of ${loop}>`),
      index: placeholder(loop, place, () => place),
    };
  }
}

/** A value that is not known, by the name it comes from. */
function placeholder(name: string, whole: string, field: (path: string) => string): Json {
  const text = (path: Path) => (path.length === 0 ? whole : field(path.join('.')));
  return Unknown.value({ sources: [name], text });
}

/** An answer of which only the fields are known. An object is not a condition, whatever its fields are. */
function answerPromised({ properties, required, additionalProperties }: JsonSchema, promised: Json): Json {
  const isClosed = additionalProperties === false && isJsonObject(properties) && Array.isArray(required);
  if (!isClosed || !isUnknown(promised)) return promised;
  const names = Object.keys(properties);
  if (!names.every((name) => required.includes(name))) return promised;
  return Object.fromEntries(names.map((name) => [name, promised.at(name)]));
}

/** Whether a node that failed has undone what was done inside. */
export function isRolledBack({ planned: { node } }: NodeInstance, { tasks }: Plan): boolean {
  if (node.kind === 'workflow') return tasks.get(node.workflow)?.graph.onFailure === 'undo';
  return rollsBack(node);
}

/** How many facts are looked at before a planned run ends with what it has. */
const MAX_FACTS = 100_000;

/** Takes note of what a planned run does, step by step. */
export interface PlannedRunObserver {
  /** A node was reached. */
  observe(fact: Fact, node: NodeInstance): void;
  /** Gives what a call is to be answered with. */
  asked(node: NodeInstance, input: Value): Value;
}

/** What waits for an answer. */
interface Asked {
  readonly node: NodeInstance;
  readonly command: Extract<Command, { kind: 'evaluate' }>;
  /** Its place in declaration order. */
  readonly order: readonly number[];
}

/** Carries on with a run that stopped, on placeholders for what its calls would give. */
export class PlannedRun {
  readonly open: OpenNodes;
  readonly rehearsal: Rehearsal;
  readonly #run: PlannedRunContext;
  #state: RunState | undefined;
  /** In declaration order. */
  readonly #asked: Asked[] = [];
  /** Waits whose time is still to come, by the ids of their commands. */
  readonly #timers: string[] = [];

  constructor(run: PlannedRunContext) {
    this.#run = run;
    this.open = new OpenNodes(run);
    this.rehearsal = new Rehearsal(this.open);
  }

  /** Answers what is asked, one after the other in declaration order, until there is nothing more. */
  to(input: JsonObject, observer: PlannedRunObserver): void {
    const { plan, instances } = this.#run.ledger;
    // One node at a time: what a node has read is gone once the scope around it has ended.
    const limits = { activations: 1, rehearsal: this.rehearsal };
    let step = start(plan, input, { runId: 'planned-run', at: 0 }, limits);
    for (let facts = 0; facts < MAX_FACTS; facts += step.facts.length) {
      this.#state = step.state;
      for (const command of step.commands) {
        if (command.kind === 'evaluate') this.#ask(command);
        if (command.kind === 'startTimer' && command.purpose === 'wait') this.#timers.push(command.id);
      }
      for (const fact of step.facts) {
        if (fact.kind === 'finished' || fact.node === undefined) continue;
        const node = instances.find(fact.node);
        // It began, and was cancelled for a failure that the calls do not change.
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
  #answer(observer: PlannedRunObserver): Event | undefined {
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
    if (state === undefined) throw new Error('the planned run has not begun');
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
function isBefore({ order: one }: Asked, { order: right }: Asked): boolean {
  const place = one.findIndex((index, at) => index !== right[at]);
  return (one[place] ?? 0) < (right[place] ?? Number.NEGATIVE_INFINITY);
}
