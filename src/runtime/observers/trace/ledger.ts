import { type Json, type JsonObject, ownProperty } from '../../../graph/json.js';
import type { Plan } from '../../../plan/plan.js';
import type {
  CompensationReport,
  Fact,
  Failure,
  NodeStatus,
  RunState,
  SkipReason,
} from '../../engine/contract.js';
import { Instances, type NodeInstance, type ScopeInstance, visibleKey } from '../../engine/instances.js';

type FactOf<K extends Fact['kind']> = Extract<Fact, { kind: K }>;

/** What the facts have said about a node. */
export interface NodeRecord {
  readonly node: NodeInstance;
  readonly status?: NodeStatus;
  readonly reason?: SkipReason;
  readonly failure?: Failure;
  /** Of one that failed or was cancelled: which of all that happened in the run this was. */
  readonly endedAs?: number;
  /** A call or read was issued for it: the latest. */
  readonly issued?: FactOf<'callIssued'> | FactOf<'resourceRequested'>;
  /** How often the tool or resource was reached. */
  readonly attempts: number;
  /** Missing for a value that is absent. */
  readonly output?: Json;
  /** The arm that a branch took, and the node it leads to where the arm has no body. */
  readonly taken?: { readonly arm: string; readonly goto?: string };
  /** What a workflow was given. */
  readonly given?: JsonObject;
  readonly items?: readonly Json[];
  /** How many parts there are altogether. */
  readonly count?: number;
  /** What was undone by it. */
  readonly undone?: CompensationReport;
  /** By key of the scope: those that have begun in the latest attempt. Forgotten where nothing of them matters any more. */
  readonly parts: Map<string, PartRecord>;
}

/** What the facts have said about a list of nodes that runs. */
export interface PartRecord {
  readonly scope: ScopeInstance;
  status: 'running' | 'succeeded' | 'failed' | 'cancelled';
  /** By id. */
  readonly nodes: Map<string, NodeRecord>;
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
    if (this.plan.fault === undefined) return this.instances.find(key);
    // A graph with a fault never runs: what there is to tell is about nodes at its top.
    const planned = this.plan.main.root.nodes.find(({ node }) => node.id === key);
    return planned === undefined ? undefined : this.instances.node(this.instances.root, planned);
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

  /** Takes the run's facts, each once and in order. @param state the run as it stands after the fact. */
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
      case 'nodeStarted': {
        const given = ownProperty(state.inputs, node.key);
        // It begins anew where it has begun before.
        this.undoneSteps.delete(node.key);
        const fresh = { node, attempts: 0, parts: new Map<string, PartRecord>() };
        this.#put({ ...fresh, status: 'running', ...(given === undefined ? {} : { given }) });
        return;
      }
      case 'callIssued':
      case 'resourceRequested':
        this.#change(node, { issued: fact });
        return;
      case 'callReturned':
        this.#returned(node, fact);
        return;
      case 'retrying':
        this.#retries(node, fact.failure);
        return;
      case 'branchTaken':
        this.#change(node, {
          taken: { arm: fact.arm, ...(fact.goto === undefined ? {} : { goto: fact.goto }) },
        });
        return;
      case 'partStarted':
        this.#partStarted(node, fact, state);
        return;
      case 'partEnded':
        this.#partEnded(node, fact);
        return;
      case 'answered':
        this.#change(node, { output: fact.value });
        return;
      case 'waiting':
        this.#change(node, { status: 'waiting' });
        return;
      case 'jumped':
        for (const { node: again } of [...node.planned.slice, node.planned]) {
          this.part(node.scope)?.nodes.delete(again.id);
        }
        return;
      case 'compensated':
        this.#change(node, { undone: fact.report });
        return;
      case 'handled':
        if (fact.fallbackNode !== undefined) {
          this.#ends += 1;
          this.#change(node, { status: 'handled', failure: fact.failure, endedAs: this.#ends });
        }
        return;
      case 'nodeSucceeded':
        this.#succeeded(node, state);
        return;
      case 'nodeFailed':
        this.#ends += 1;
        this.#change(node, { status: 'failed', failure: fact.failure, endedAs: this.#ends });
        return;
      case 'nodeSkipped':
        this.#change(node, { status: 'skipped', reason: fact.reason });
        return;
      case 'nodeCancelled':
        this.#ends += 1;
        this.#change(node, { status: 'cancelled', endedAs: this.#ends });
        return;
      case 'stateSet':
      case 'compensating':
      case 'compensationSkipped':
        return;
      default:
        fact satisfies never;
    }
  }

  /** A compensation is no attempt of the node that makes it. */
  #undoing(fact: Fact): boolean {
    if (!this.isCompensation(fact)) return false;
    if (fact.kind === 'callIssued') this.#compensations.set(fact.command, fact.undoes);
    if (fact.kind === 'callReturned' && fact.outcome.ok) {
      const undone = this.#compensations.get(fact.command);
      if (undone !== undefined) this.undoneSteps.add(undone);
    }
    return true;
  }

  /** What an attempt did inside is over and done with. */
  #retries(node: NodeInstance, failure: Failure): void {
    const { undone: _undone, ...record } = this.record(node) ?? { node, attempts: 0, parts: new Map() };
    record.parts.clear();
    this.#put({ ...record, failure });
  }

  #returned(node: NodeInstance, { attempted, outcome }: FactOf<'callReturned'>): void {
    const attempts = (this.record(node)?.attempts ?? 0) + (attempted ? 1 : 0);
    const told = outcome.ok ? { output: outcome.value } : { failure: outcome.failure };
    this.#change(node, { attempts, ...told });
  }

  #partStarted(node: NodeInstance, { arm, index, count }: FactOf<'partStarted'>, state: RunState): void {
    const part = index ?? node.planned.parts.findIndex((each) => each.arm === arm);
    const items = ownProperty(state.items, node.key);
    this.#change(node, { count, ...(items === undefined || index === undefined ? {} : { items }) });
    this.#open(this.instances.part(node, part));
  }

  /** An item that succeeded is in the result of its loop, and nowhere else. */
  #partEnded(node: NodeInstance, { arm, index, outcome }: FactOf<'partEnded'>): void {
    const part = index ?? node.planned.parts.findIndex((each) => each.arm === arm);
    const { key } = this.instances.part(node, part);
    const record = this.record(node)?.parts.get(key);
    if (record !== undefined) record.status = outcome.status;
    if (index !== undefined && record !== undefined && outcome.status === 'succeeded') record.nodes.clear();
  }

  #succeeded(node: NodeInstance, { outputs }: RunState): void {
    const { kind } = node.planned.node;
    const output = ownProperty(outputs, node.key);
    const record = this.record(node);
    if (kind === 'foreach' || kind === 'workflow') record?.parts.clear();
    const { failure: _failure, ...kept } = record ?? { node, attempts: 0, parts: new Map() };
    this.#put({ ...kept, status: 'succeeded', ...(output === undefined ? {} : { output }) });
  }

  #open(scope: ScopeInstance): PartRecord | undefined {
    if (scope.container === undefined) return this.root;
    const record = this.record(scope.container);
    const known = record?.parts.get(scope.key);
    if (known !== undefined || record === undefined) return known;
    const part: PartRecord = { scope, status: 'running', nodes: new Map() };
    record.parts.set(scope.key, part);
    return part;
  }

  #change(node: NodeInstance, news: Partial<NodeRecord>): void {
    const { attempts = 0, parts = new Map(), ...known } = this.record(node) ?? {};
    this.#put({ ...known, attempts, parts, ...news, node });
  }

  #put(record: NodeRecord): void {
    this.#open(record.node.scope)?.nodes.set(record.node.planned.node.id, record);
  }
}

/** Every node that was not made up for by what stands around it, in declaration order, each behind what stands inside. */
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
