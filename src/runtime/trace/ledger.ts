import { defined } from '../../graph/defined.js';
import type { Json, JsonObject } from '../../graph/json.js';
import { kinds } from '../../graph/kinds/kinds.js';
import type { Node } from '../../graph/kinds/node.js';
import {
  ANY_ITEM,
  Instances,
  type NodeInstance,
  type ScopeInstance,
  visibleKey,
} from '../../plan/instances.js';
import type { Plan } from '../../plan/plan.js';
import type { Fact, Failure, RunState } from '../engine/contract.js';
import type { CompensationReport, NodeStatus, SkipReason } from '../engine/events.js';
import { inputOf, itemsOf, outputOf } from '../engine/read.js';
import type { StepMeta, StepStatus } from './messages.js';

type FactOf<K extends Fact['kind']> = Extract<Fact, { kind: K }>;

/** What the facts have said about a node. It changes with further facts about the node, until that begins again. */
export type NodeRecord = Readonly<Omit<OpenRecord, 'open'>>;

const NO_PARTS: ReadonlyMap<string, PartRecord> = new Map();

/** All of its fields are there from the start: a record changes with every fact. */
class OpenRecord {
  readonly node: NodeInstance;
  status: NodeStatus | undefined = undefined;
  reason: SkipReason | undefined = undefined;
  failure: Failure | undefined = undefined;
  /** Of one that failed or was cancelled: which of all that happened in the run this was. */
  endedAs: number | undefined = undefined;
  /** A call or read was issued for it: the latest. */
  issued: FactOf<'callIssued'> | FactOf<'resourceRequested'> | undefined = undefined;
  /** One of its own resources could not be read: it has not acted. */
  isUnread = false;
  /** How often the tool or resource was reached. */
  attempts = 0;
  /** Missing for a value that is absent. */
  output: Json | undefined = undefined;
  /** Its value is that of a fallback. */
  hasFallback = false;
  /** The arm that a branch took, and the node it leads to where the arm has no body. */
  choice: { readonly arm: string; readonly goto?: string } | undefined = undefined;
  /** The input of a workflow. */
  input: JsonObject | undefined = undefined;
  items: readonly Json[] | undefined = undefined;
  /** How many parts there are altogether. */
  count: number | undefined = undefined;
  /** How often a `goto` has jumped. */
  jumps = 0;
  /** What was undone by it. */
  undone: CompensationReport | undefined = undefined;
  /** By key of the scope: those that have begun in the latest attempt. Forgotten where nothing of them matters any more. */
  parts: ReadonlyMap<string, PartRecord> = NO_PARTS;

  constructor(node: NodeInstance) {
    this.node = node;
  }

  /** What the node has begun. */
  open(part: PartRecord): void {
    if (this.parts === NO_PARTS) this.parts = new Map();
    (this.parts as Map<string, PartRecord>).set(part.scope.key, part);
  }
}

/** What the facts have said about a list of nodes that runs. */
export interface PartRecord {
  readonly scope: ScopeInstance;
  status: 'running' | 'succeeded' | 'failed' | 'cancelled';
  /** What it gave: missing for what is absent, and where it has not succeeded. */
  value?: Json;
  /** By id. */
  readonly nodes: Map<string, OpenRecord>;
}

/**
 * Keeps account of a run by its facts. It remembers what the engine forgets: what happened in items and workflows that
 * failed. What happened in those that succeeded is of no use to anybody, and forgotten here as well.
 */
export class Ledger {
  readonly plan: Plan;
  readonly instances: Instances;
  readonly root: PartRecord;
  /** How the undoing of a cancelled run went. */
  undone: CompensationReport | undefined;
  /** Tools that a compensation has called, by the key of the step it took the effect back of. */
  readonly undoneSteps = new Set<string>();
  /** Commands of compensations, with the step each takes the effect back of. */
  readonly #compensations = new Map<string, string | undefined>();
  #ends = 0;

  constructor(plan: Plan) {
    this.plan = plan;
    this.instances = new Instances(plan);
    this.root = { scope: this.instances.root, status: 'running', nodes: new Map() };
  }

  /** The node of a key; nothing for one the plan does not have. */
  find(key: string): NodeInstance | undefined {
    // At the top a key is an id.
    const { root, byId } = this.plan.main;
    const planned = byId.get(key);
    if (planned?.scope === root) return this.instances.node(this.instances.root, planned);
    // A graph with a fault never runs: what there is to tell is about nodes at its top.
    return this.plan.fault === undefined ? this.instances.find(key) : undefined;
  }

  /** What is known of a node; nothing where it has not begun. */
  record(node: NodeInstance): NodeRecord | undefined {
    return this.part(node.scope)?.nodes.get(node.planned.node.id);
  }

  /** What is known of a list of nodes; nothing where it has not begun, or nothing of it matters any more. */
  part(scope: ScopeInstance): PartRecord | undefined {
    if (scope.container === undefined) return this.root;
    return this.record(scope.container)?.parts.get(scope.key);
  }

  /** The node that a reference to a step names in a scope. */
  seenFrom(at: ScopeInstance, id: string): NodeInstance | undefined {
    const key = visibleKey(at, id);
    return key === undefined ? undefined : this.instances.find(key);
  }

  /** Whether a fact is about a compensation that is made. */
  isCompensation(fact: Fact): boolean {
    if (fact.kind === 'callIssued') return fact.isCompensation === true;
    return fact.kind === 'callReturned' && this.#compensations.has(fact.command);
  }

  /** Takes the run's facts, each once and in order. @param state the run after the fact. */
  observe(fact: Fact, state: RunState): void {
    if (fact.kind === 'finished') return;
    if (fact.node === undefined) {
      if (fact.kind === 'compensated') this.undone = fact.report;
      return;
    }
    const node = this.find(fact.node);
    if (node === undefined) return;
    if (this.#undoing(fact)) return;
    switch (fact.kind) {
      case 'nodeStarted':
        this.#starts(node, state);
        return;
      case 'callIssued':
      case 'resourceRequested':
        this.#open(node).issued = fact;
        return;
      case 'callReturned':
        this.#returned(this.#open(node), fact);
        return;
      case 'retrying':
        this.#retries(this.#open(node), fact.failure);
        return;
      case 'branchTaken':
        this.#open(node).choice = { arm: fact.arm, ...defined({ goto: fact.goto }) };
        return;
      case 'partStarted':
        this.#partStarted(this.#open(node), fact, state);
        return;
      case 'partEnded':
        this.#partEnded(node, fact);
        return;
      case 'answered':
        this.#open(node).output = fact.value;
        return;
      case 'waiting':
        this.#open(node).status = 'waiting';
        return;
      case 'jumped':
        for (const { node: again } of [...node.planned.slice, node.planned]) {
          this.part(node.scope)?.nodes.delete(again.id);
        }
        this.#open(node).jumps = fact.visit;
        return;
      case 'compensated':
        this.#open(node).undone = fact.report;
        return;
      case 'handled':
        if (fact.fallbackNode !== undefined) this.#ended(this.#open(node), 'handled', fact.failure);
        else this.#fellBack(this.#open(node), fact.value);
        return;
      case 'nodeSucceeded':
        this.#succeeded(this.#open(node), fact, state);
        return;
      case 'nodeFailed':
        this.#ended(this.#open(node), 'failed', fact.failure);
        return;
      case 'nodeSkipped': {
        const record = this.#open(node);
        record.status = 'skipped';
        record.reason = fact.reason;
        return;
      }
      case 'nodeCancelled': {
        const record = this.#open(node);
        this.#ended(record, 'cancelled', record.failure);
        return;
      }
      case 'resourceShown':
        this.#open(node).isUnread = !fact.outcome.ok;
        return;
      case 'stateSet':
      case 'reminded':
      case 'valueRefused':
      case 'compensating':
      case 'compensationSkipped':
        return;
      default:
        fact satisfies never;
    }
  }

  /** A compensation is not an attempt of the node that makes it. */
  #undoing(fact: Fact): boolean {
    if (!this.isCompensation(fact)) return false;
    if (fact.kind === 'callIssued') this.#compensations.set(fact.command, fact.undoes);
    if (fact.kind === 'callReturned' && fact.outcome.ok) {
      const undone = this.#compensations.get(fact.command);
      if (undone !== undefined) this.undoneSteps.add(undone);
    }
    return true;
  }

  /** Starts a new record if the node has begun before. */
  #starts(node: NodeInstance, state: RunState): void {
    this.undoneSteps.delete(node.key);
    const part = this.#part(node.scope);
    if (part === undefined) return;
    const record = new OpenRecord(node);
    record.status = 'running';
    record.jumps = part.nodes.get(node.planned.node.id)?.jumps ?? 0;
    if (node.planned.node.kind === 'workflow') record.input = inputOf(state, node.key);
    part.nodes.set(node.planned.node.id, record);
  }

  /** What an attempt did inside is over and done with. */
  #retries(record: OpenRecord, failure: Failure): void {
    record.parts = NO_PARTS;
    record.undone = undefined;
    record.failure = failure;
  }

  #returned(record: OpenRecord, { attempted, outcome }: FactOf<'callReturned'>): void {
    if (attempted) record.attempts += 1;
    if (outcome.ok) record.output = outcome.value;
    else record.failure = outcome.failure;
  }

  #partStarted(record: OpenRecord, { arm, index, count }: FactOf<'partStarted'>, state: RunState): void {
    const { node } = record;
    const part = index ?? node.planned.parts.findIndex((each) => each.arm === arm);
    record.count = count;
    const items = index === undefined ? undefined : itemsOf(state, node.key);
    if (items !== undefined) record.items = items;
    this.#part(this.instances.part(node, part));
  }

  /** An item that succeeded is in the result of its loop, and nowhere else. */
  #partEnded(node: NodeInstance, { arm, index, outcome }: FactOf<'partEnded'>): void {
    const part = index ?? node.planned.parts.findIndex((each) => each.arm === arm);
    const { key } = this.instances.part(node, part);
    const record = this.record(node)?.parts.get(key);
    if (record === undefined) return;
    record.status = outcome.status;
    if (outcome.status !== 'succeeded') return;
    if (outcome.value !== undefined) record.value = outcome.value;
    if (index !== undefined) record.nodes.clear();
  }

  #fellBack(record: OpenRecord, value: Json | undefined): void {
    record.output = value;
    record.hasFallback = true;
  }

  /** If the scope around ends at the same time, the state no longer has the output: the value is in the fact. */
  #succeeded(record: OpenRecord, { value }: FactOf<'nodeSucceeded'>, state: RunState): void {
    const { kind } = record.node.planned.node;
    const reported = kind === 'foreach' && !record.hasFallback ? itemsIn(record) : value;
    const output = outputOf(state, record.node.key);
    if (output !== undefined) record.output = output;
    else if (reported !== undefined) record.output = reported;
    if (kind === 'foreach' || kind === 'workflow') record.parts = NO_PARTS;
    record.failure = undefined;
    record.status = 'succeeded';
  }

  #ended(record: OpenRecord, status: NodeStatus, failure: Failure | undefined): void {
    this.#ends += 1;
    record.endedAs = this.#ends;
    record.status = status;
    record.failure = failure;
  }

  /** The record of a node. One whose scope has not begun is of no use to anybody, and not kept. */
  #open(node: NodeInstance): OpenRecord {
    const nodes = this.#part(node.scope)?.nodes;
    const { id } = node.planned.node;
    const existing = nodes?.get(id);
    if (existing !== undefined) return existing;
    const record = new OpenRecord(node);
    nodes?.set(id, record);
    return record;
  }

  /** The list of nodes that runs in a scope, from its first node on. */
  #part(scope: ScopeInstance): PartRecord | undefined {
    if (scope.container === undefined) return this.root;
    const record = this.part(scope.container.scope)?.nodes.get(scope.container.planned.node.id);
    const existing = record?.parts.get(scope.key);
    if (existing !== undefined || record === undefined) return existing;
    const part: PartRecord = { scope, status: 'running', nodes: new Map() };
    record.open(part);
    return part;
  }
}

function itemsIn({ parts }: NodeRecord): Json[] {
  const values = [...parts.values()].sort((one, other) => one.scope.part - other.scope.part);
  return values.map(({ value }) => value ?? null);
}

/** Every node in declaration order, each after the nodes inside it; without those inside nodes that succeeded or were handled. */
export function* recordsIn({ scope, nodes }: PartRecord): Generator<NodeRecord> {
  for (const { node } of scope.plan.nodes) {
    const record = nodes.get(node.id);
    if (record === undefined) continue;
    if (record.status !== 'succeeded' && record.status !== 'handled') {
      for (const part of record.parts.values()) yield* recordsIn(part);
    }
    yield record;
  }
}

/** Failures of a call that never began for want of time: nothing has happened, so that it can be made as planned. */
export const NOT_BEGUN: ReadonlySet<string> = new Set(['E_DEADLINE', 'E_CANCELLED']);

/** The state of a step when its run has stopped. */
export interface StepState {
  readonly status: StepStatus;
  readonly failure?: Failure;
  /** Meaningful for a failed step: 0 when nothing was called, so that nothing can have happened. */
  readonly attempts: number;
}

export function isListed({ kind }: Pick<Node, 'kind'>): boolean {
  return kinds[kind].isStep;
}

/**
 * Whether a trace says that a step is skipped. A run that stops at a failure says by its hand-off what it left undone at
 * the top.
 */
export function isSkipAnnounced({ scope }: NodeInstance, reason: SkipReason): boolean {
  const isAtTop = scope.container === undefined;
  return !isAtTop || reason !== 'upstream_failed' || !scope.workflow.plan.failFast;
}

/** The state of a step. @param goesOn the run is not over, so that calls in flight are not lost. */
export function stepStateOf(record: NodeRecord | undefined, goesOn = false): StepState {
  const { status, failure, attempts = 0, issued, reason } = record ?? {};
  const fault = defined({ failure });
  switch (status) {
    case 'succeeded':
      return { status: 'completed', attempts };
    case 'failed':
    case 'handled':
      return { status, attempts, ...fault };
    case 'skipped':
      // What a failure kept from starting can still be done; what a condition left out was not wanted.
      return { status: reason === 'upstream_failed' ? 'pending' : 'skipped', attempts };
    case 'running':
    case 'waiting':
      if (goesOn) return { status, attempts };
      return issued === undefined
        ? { status: 'pending', attempts }
        : { status: 'failed', attempts: Math.max(1, attempts), ...fault };
    case 'cancelled':
      return attempts === 0 ? { status: 'pending', attempts } : { status: 'failed', attempts, ...fault };
    case 'pending':
    case 'ready':
    case undefined:
      return { status: 'pending', attempts };
    default:
      return status satisfies never;
  }
}

/**
 * The status of each step; steps of arms and branches follow the step around them. Of steps in loops and other workflows
 * only those that failed are listed: they run any number of times.
 */
export function stepsMeta(ledger: Ledger, goesOn: boolean): StepMeta[] {
  const steps: StepMeta[] = [];
  const visit = (scope: ScopeInstance, inherited: StepStatus | undefined): void => {
    const around = scope.container === undefined ? {} : { in: scope.key };
    for (const planned of scope.plan.nodes) {
      const node = ledger.instances.node(scope, planned);
      const record = ledger.record(node);
      const status = record === undefined ? (inherited ?? 'pending') : statusOf(record, goesOn);
      if (isListed(planned.node) || hasFailed(status)) {
        steps.push({ name: node.key, status, ...around, ...itemCountOf(record) });
      }
      if (planned.node.kind === 'foreach' || planned.node.kind === 'workflow')
        steps.push(...failedInside(record));
      else
        for (const part of node.planned.parts.map((_body, part) => ledger.instances.part(node, part)))
          visit(part, ledger.part(part) ? undefined : statusBeforeStart(status, record));
    }
  };
  visit(ledger.instances.root, undefined);
  return steps;
}

/** What the trace calls skipped is skipped, also where a failure was the reason. */
function statusOf(record: NodeRecord, goesOn: boolean): StepStatus {
  const { node, status, reason } = record;
  if (status === 'skipped' && reason !== undefined && isSkipAnnounced(node, reason)) return 'skipped';
  return stepStateOf(record, goesOn).status;
}

/** The status of the steps of a body that has not begun. */
function statusBeforeStart(status: StepStatus, record: NodeRecord | undefined): StepStatus {
  const isDecided = record?.choice !== undefined;
  return isDecided || status === 'completed' || status === 'skipped' || status === 'handled'
    ? 'skipped'
    : 'pending';
}

/** Whether it failed, also where another step took over. */
function hasFailed(status: StepStatus): boolean {
  return status === 'failed' || status === 'handled';
}

function failedInside(record: NodeRecord | undefined): StepMeta[] {
  if (record === undefined || record.status === 'succeeded' || record.status === 'handled') return [];
  return [...record.parts.values()].flatMap((part) =>
    [...recordsIn(part)].flatMap((inside) => {
      const { status } = stepStateOf(inside);
      return hasFailed(status) ? [{ name: inside.node.key, status, in: inside.node.scope.key }] : [];
    }),
  );
}

function itemCountOf(record: NodeRecord | undefined): Pick<StepMeta, 'items'> {
  if (record?.count === undefined || record.node.planned.node.kind !== 'foreach') return {};
  return { items: record.count };
}

/** A key without `[*]`, the index that means every item. */
export function nameOf(key: string): string {
  return key.replaceAll(`[${ANY_ITEM}]`, '');
}
