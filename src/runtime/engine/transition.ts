import { Budget } from '../../graph/expression/evaluate.js';
import type { Plan } from '../../plan/plan.js';
import type { Advance } from './contract.js';
import { Evaluation, errorOf } from './evaluation.js';
import type { Command, Fact, OwedCommand } from './events.js';
import { NodeRecord, type ScopeRecord } from './records.js';
import type { Change, Completion, GoOn, Row } from './rows.js';
import type { RunRecord, RunState } from './state.js';
import type { Tracked } from './tables.js';

/** What the expressions of the start, or of one event, may cost together. See `Budget` for the unit. */
export const ADVANCE_BUDGET = 1_000_000;

/** What one `start` or `advance` does at most. */
export interface Limits {
  /** So many nodes are looked at, and completions handled. What is left is owed: see `Advance.more`. */
  readonly activations: number;
  /** What nodes do in a rehearsal. Default: they run. */
  readonly rehearsal?: NodeOverrides;
}

/** Replaces what nodes do: see `Rehearsal`. */
export interface NodeOverrides {
  /** Prepares the state of a run that is about to start. */
  prepare(state: RunState): void;
  /**
   * Settles a node or goes on with it, if the stopped run says how. Else `activate`: selection, join and condition decide
   * as in every run; or `begin`: the node begins whatever they decide.
   */
  resume(transition: Transition, node: NodeRecord): 'activate' | 'begin' | 'done';
  /** Begins a node. */
  begin(transition: Transition, node: NodeRecord): void;
  /** Ends a part of a container. False where the engine ends it as in every run. */
  endPart(transition: Transition, node: NodeRecord, scope: ScopeRecord): boolean;
}

export const DEFAULT_LIMITS: Limits = { activations: 10_000 };

const NOTHING: ReadonlySet<string> = new Set();

/**
 * One `start` or `advance` under way.
 *
 * `at` is taken as it comes. It only says when a timer is due and whether a time has passed, so a clock that steps back
 * disturbs nothing: a limit stays as long as it is, measured from the host's present time.
 */
export class Transition {
  readonly plan: Plan;
  readonly state: RunState;
  /** Of the event that is applied: ms since the epoch, as the host read it. */
  at: number;
  /** Of the event that is applied. */
  budget: Budget;
  /** How many activations are left. */
  activations: number;
  /** Nodes that may be able to start, or to go on, and that were not looked at yet. */
  readonly ready = new ReadyQueue();
  /** Commands of calls and reads that the host had not made yet. */
  notStarted: ReadonlySet<string> = NOTHING;
  /** What is complete, and was not handled yet: handled in this order, one after the other. */
  readonly completions: Completion<NodeRecord, ScopeRecord>[] = [];
  /** What goes on before everything else, the next one last: work that would otherwise be done at once. */
  readonly first: GoOn<NodeRecord>[] = [];
  readonly rehearsal: NodeOverrides | undefined;
  readonly #commands: Command[] = [];
  readonly #facts: Fact[] = [];

  constructor(state: RunState, at: number, { activations, rehearsal }: Limits) {
    this.plan = state.plan;
    this.state = state;
    this.at = at;
    this.activations = activations;
    this.rehearsal = rehearsal;
    this.budget = new Budget(ADVANCE_BUDGET);
  }

  /** Begins with the next event of a batch. */
  beginEvent(at: number, notStarted: readonly string[] = []): void {
    this.at = at;
    if (this.budget.left !== ADVANCE_BUDGET) this.budget = new Budget(ADVANCE_BUDGET);
    this.notStarted = notStarted.length === 0 ? NOTHING : new Set(notStarted);
  }

  /** A record that is about to be changed. */
  change<R extends Tracked>(record: R): R {
    this.state.changes.note(record);
    return record;
  }

  /** The record of the run, which is about to be changed. */
  changeRun(): RunRecord {
    return this.change(this.state.run);
  }

  /** The next place in the order of commands, undo records and queued nodes. */
  nextSeq(): number {
    const run = this.changeRun();
    run.seq += 1;
    return run.seq;
  }

  /**
   * Gives a command of a node that wants an answer: the run owes it until `settleCommand`.
   * @param command is taken over: it must be made for this. Its `seq` is given here; one that is made often has room for
   *   it, because a property that is added takes an object of its own.
   */
  expect(node: NodeRecord, command: Command | OwedCommand): void {
    const owed = this.#numbered(command);
    this.change(node).command = owed;
    this.state.owed.set(owed.id, node);
  }

  /** Gives a compensation, which the run owes until `settleCommand`. Otherwise as `expect`. */
  expectCompensation(node: NodeRecord, command: Command): OwedCommand {
    const owed = this.#numbered(command);
    this.state.owed.set(owed.id, { command: owed, node });
    return owed;
  }

  #numbered(command: Command | OwedCommand): OwedCommand {
    // A copy of each command would cost more than the rest of this.
    const owed = command as OwedCommand & { seq: number };
    owed.seq = this.nextSeq();
    this.#commands.push(owed);
    return owed;
  }

  /** Settles a command, because it was answered or withdrawn. */
  settleCommand(id: string): void {
    const owed = this.state.owed.delete(id);
    if (owed instanceof NodeRecord) this.change(owed).command = undefined;
  }

  /** Counts work that cannot be divided: what comes after it is owed the sooner. */
  spend(activations: number): void {
    this.activations -= activations;
  }

  /** Forgets the timer that a node waits for, where it does, and asks the host to do so as well. */
  cancelTimer({ command }: NodeRecord): void {
    if (command?.kind !== 'startTimer') return;
    this.settleCommand(command.id);
    this.#commands.push({ kind: 'cancelTimer', id: `${command.id}:cancel`, timer: command.id });
  }

  /** Forgets a call or an action and asks the host to cancel it: what comes back is late. */
  cancelCall(call: string): void {
    this.settleCommand(call);
    this.#commands.push({ kind: 'cancelCall', id: `${call}:cancel`, call });
  }

  report(fact: Fact): void {
    this.#facts.push(fact);
  }

  /** Everything that has happened. */
  finish(consumed: number): Advance {
    return new Result(this.state, this.#commands, this.#facts, consumed);
  }
}

/** Nodes to look at, handed out in declaration order whatever order they come in. */
export class ReadyQueue {
  /** The one that is next, where it is the only one: most often it is. */
  #only: NodeRecord | undefined;
  #nodes: NodeRecord[] | undefined;
  #next = 0;

  add(node: NodeRecord): void {
    if (this.size === 0) {
      this.#only = node;
      return;
    }
    const nodes = this.#all();
    const last = nodes[nodes.length - 1];
    if (last === undefined || !isBefore(node, last)) {
      nodes.push(node);
      return;
    }
    let low = this.#next;
    let high = nodes.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = nodes[middle];
      if (other !== undefined && isBefore(other, node)) low = middle + 1;
      else high = middle;
    }
    nodes.splice(low, 0, node);
  }

  get size(): number {
    if (this.#only !== undefined) return 1;
    return this.#nodes === undefined ? 0 : this.#nodes.length - this.#next;
  }

  /** Keys of those that were not handed out, in order. */
  keys(): string[] {
    if (this.#only !== undefined) return [this.#only.key];
    return this.#nodes?.slice(this.#next).map(({ key }) => key) ?? [];
  }

  take(): NodeRecord | undefined {
    const only = this.#only;
    if (only !== undefined) {
      this.#only = undefined;
      return only;
    }
    const nodes = this.#nodes;
    const node = nodes?.[this.#next];
    if (nodes === undefined || node === undefined) return undefined;
    this.#next += 1;
    if (this.#next < nodes.length) return node;
    // All were handed out: the next ones begin from the front.
    nodes.length = 0;
    this.#next = 0;
    return node;
  }

  /** As a list: there will be more than one. */
  #all(): NodeRecord[] {
    this.#nodes ??= [];
    if (this.#only !== undefined) this.#nodes.push(this.#only);
    this.#only = undefined;
    return this.#nodes;
  }
}

/** Where a part of the order is equal, one node contains the other and comes first. */
function isBefore(one: NodeRecord, other: NodeRecord): boolean {
  const depth = Math.min(one.scope.order.length, other.scope.order.length);
  for (let place = 0; place < depth; place += 1) {
    const difference = (one.scope.order[place] ?? 0) - (other.scope.order[place] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  const [left, right] = [
    one.scope.order[depth] ?? one.planned.index,
    other.scope.order[depth] ?? other.planned.index,
  ];
  return left < right || (left === right && one.scope.order.length < other.scope.order.length);
}

class Result implements Advance {
  readonly state: RunState;
  readonly commands: readonly Command[];
  readonly facts: readonly Fact[];
  readonly more: boolean;
  readonly consumed: number;
  readonly #changed: readonly Tracked[];
  readonly #transition: number;
  #changes: readonly Change[] | undefined;

  constructor(state: RunState, commands: readonly Command[], facts: readonly Fact[], consumed: number) {
    this.state = state;
    this.commands = commands;
    this.facts = facts;
    this.more = state.run.owed !== undefined;
    this.consumed = consumed;
    this.#changed = state.changes.take();
    this.#transition = state.changes.transitions;
  }

  get changes(): readonly Change[] {
    this.#changes ??= this.#read();
    return this.#changes;
  }

  #read(): readonly Change[] {
    if (this.#transition !== this.state.changes.transitions) {
      throw new Error('changes must be read before the state is advanced again');
    }
    return this.state.large.takeOut(changesOf(this.#changed));
  }
}

function changesOf(changed: readonly Tracked[]): readonly Change[] {
  const changes: Change[] = [];
  const deleted: Tracked[] = [];
  for (const record of changed) {
    if (record.isStored) changes.push(rowOf(record));
    else deleted.push(record);
  }
  if (deleted.length === 0) return changes;
  // What came anew under a key takes the place of what was there.
  const put = new Set(changes.map(({ table, key }) => `${table} ${key}`));
  for (const { table, key } of deleted) {
    if (!put.has(`${table} ${key}`)) changes.push({ op: 'delete', table, key });
  }
  return changes;
}

/** The row of a record that has one. */
export function rowOf(record: Tracked): Row {
  return { op: 'put', table: record.table, key: record.key, row: record.toRow() } as Row;
}

/** Evaluates as the nodes of a scope see the run. */
export function readerIn({ state, budget }: Transition, scope: ScopeRecord): Evaluation {
  return new Evaluation(state, budget, scope);
}

/** Evaluates as a node sees the run. One that a fallback selected sees the failure it takes over for, as `error`. */
export function readerOf(transition: Transition, node: NodeRecord): Evaluation {
  const error = errorOf(node);
  const reader = readerIn(transition, node.scope);
  return error === undefined ? reader : reader.withError(error);
}

/** Whether another call, read or evaluation may be in flight. */
export function hasFreeSlot({ state, plan }: Transition): boolean {
  return state.running < plan.maxConcurrency;
}

/** Takes or gives back a slot. */
export function changeSlots({ state }: Transition, by: 1 | -1): void {
  state.running += by;
}

/** Puts a node at the end of the queue for a free slot. */
export function enterQueue(
  transition: Transition,
  node: NodeRecord,
  status: 'ready' | 'running' = 'ready',
): void {
  transition.change(node).status = status;
  node.set('queued', transition.nextSeq());
  transition.state.queue.add(node);
}

/** Takes the node that has waited longest out of the queue. */
export function nextInQueue(transition: Transition): NodeRecord | undefined {
  const node = transition.state.queue.first;
  if (node !== undefined) leaveQueue(transition, node);
  return node;
}

/** Takes a node out of the queue, wherever it is in it; one that is not is left alone. */
export function leaveQueue(transition: Transition, node: NodeRecord): void {
  if (node.details.queued === 0) return;
  transition.change(node).set('queued', 0);
  transition.state.queue.remove();
}
