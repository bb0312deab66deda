import { Budget } from '../../graph/expression/evaluate.js';
import type { Plan } from '../../plan/plan.js';
import type { Advance } from './contract.js';
import type { Command, Fact, OwedCommand } from './events.js';
import { NodeRecord, type ScopeRecord } from './records.js';
import type { Change, Completion, ContinueUndo, Row } from './rows.js';
import type { RunRecord, RunState } from './state.js';
import type { Tracked } from './tables.js';

/** Expression budget of the start or of one event. See `Budget` for the unit. */
export const ADVANCE_BUDGET = 1_000_000;

export interface Limits {
  /** How many activations and completions it handles. The state owes the rest: see `Advance.more`. */
  readonly activations: number;
  /** What nodes do in a rehearsal. Default: they run. */
  readonly rehearsal?: NodeOverrides;
}

/** Replaces what nodes do: see `Rehearsal`. */
export interface NodeOverrides {
  /** Prepares the state of a run that is about to start. */
  prepare(state: RunState): void;
  /**
   * Settles or continues a node as in the stopped run (`done`). Otherwise `activate`: selection, join and condition decide
   * as in every run; or `begin`: the node begins whatever they decide.
   */
  resume(transition: Transition, node: NodeRecord): 'activate' | 'begin' | 'done';
  begin(transition: Transition, node: NodeRecord): void;
  /** Ends a part of a container. False where the engine ends it as in every run. */
  endPart(transition: Transition, node: NodeRecord, scope: ScopeRecord): boolean;
}

export const DEFAULT_LIMITS: Limits = { activations: 10_000 };

const NOTHING: ReadonlySet<string> = new Set();

/**
 * One `start` or `advance`.
 *
 * `at` need not be monotonic. It only decides when timers are due and whether a time has passed. If the host's clock steps
 * back, a limit keeps its length from the host's present time.
 */
export class Transition {
  readonly plan: Plan;
  readonly state: RunState;
  /** Time of the current event (ms since the epoch). */
  at: number;
  /** Expression budget of the current event. */
  budget: Budget;
  /** Activations left. */
  activations: number;
  /** Nodes that may be able to start or to continue. */
  readonly ready = new ReadyQueue();
  /** Ids of commands of a cancelled run that the host has not started. */
  notStarted: ReadonlySet<string> = NOTHING;
  /** Completions to handle, in this order. */
  readonly completions: Completion<NodeRecord, ScopeRecord>[] = [];
  /** A stack of undoing to continue before any other completion. */
  readonly continuations: ContinueUndo<NodeRecord>[] = [];
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

  beginEvent(at: number, notStarted: readonly string[] = []): void {
    this.at = at;
    if (this.budget.remaining !== ADVANCE_BUDGET) this.budget = new Budget(ADVANCE_BUDGET);
    this.notStarted = notStarted.length === 0 ? NOTHING : new Set(notStarted);
  }

  /** Marks a record that is about to be changed. */
  change<R extends Tracked>(record: R): R {
    this.state.changes.note(record);
    return record;
  }

  changeRun(): RunRecord {
    return this.change(this.state.run);
  }

  /** The next sequence number of commands, undo records and queued nodes. */
  nextSeq(): number {
    const run = this.changeRun();
    run.seq += 1;
    return run.seq;
  }

  /**
   * Issues a command of a node. It is outstanding until `settleCommand`.
   * @param command is changed: it gets its `seq`. Frequent commands are created with one, as adding a property costs an
   *   extra allocation.
   */
  issueCommand(node: NodeRecord, command: Command | OwedCommand): void {
    const owed = this.#numbered(command);
    this.change(node).command = owed;
    this.state.owed.set(owed.id, node);
  }

  /** Issues an outstanding command again. It keeps its place in the order. */
  reissueCommand(node: NodeRecord, command: OwedCommand): void {
    this.change(node).command = command;
    this.#commands.push(command);
  }

  /** Issues a compensation, like `issueCommand`. */
  issueCompensation(node: NodeRecord, command: Command): OwedCommand {
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

  /** Ends a command that was answered or withdrawn. */
  settleCommand(id: string): void {
    const owed = this.state.owed.delete(id);
    if (owed instanceof NodeRecord) this.change(owed).command = undefined;
  }

  /** Counts indivisible work against the limit of the transition. */
  spend(activations: number): void {
    this.activations -= activations;
  }

  cancelTimer({ command }: NodeRecord): void {
    if (command?.kind !== 'startTimer') return;
    this.settleCommand(command.id);
    this.#commands.push({ kind: 'cancelTimer', id: `${command.id}:cancel`, timer: command.id });
  }

  /** Cancels a call or an action. An answer to it is late. */
  cancelCall(call: string): void {
    this.settleCommand(call);
    this.#commands.push({ kind: 'cancelCall', id: `${call}:cancel`, call });
  }

  report(fact: Fact): void {
    this.#facts.push(fact);
  }

  finish(consumed: number): Advance {
    return new Result(this.state, this.#commands, this.#facts, consumed);
  }
}

/** The ready queue: nodes that may start now, in declaration order. */
class ReadyQueue {
  /** The only node, if there is one: the usual case. */
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
    // The list is empty: reuse it.
    nodes.length = 0;
    this.#next = 0;
    return node;
  }

  #all(): NodeRecord[] {
    this.#nodes ??= [];
    if (this.#only !== undefined) this.#nodes.push(this.#only);
    this.#only = undefined;
    return this.#nodes;
  }
}

/** In declaration order. A container comes before the nodes inside it. */
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
    this.more = state.run.remainingWork !== undefined;
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
    return this.state.large.extract(changesOf(this.#changed));
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
  // A new record with the same key replaces the deleted one.
  const put = new Set(changes.map(({ table, key }) => `${table} ${key}`));
  for (const { table, key } of deleted) {
    if (!put.has(`${table} ${key}`)) changes.push({ op: 'delete', table, key });
  }
  return changes;
}

export function rowOf(record: Tracked): Row {
  return { op: 'put', table: record.table, key: record.key, row: record.toRow() } as Row;
}

/** Whether another call, read or evaluation may be in flight. */
export function hasFreeSlot({ state, plan }: Transition): boolean {
  return state.running < plan.maxConcurrency;
}

/** Takes or releases a slot. */
export function changeSlots({ state }: Transition, by: 1 | -1): void {
  state.running += by;
}

/** Adds a node to the end of the queue for slots. */
export function enterQueue(
  transition: Transition,
  node: NodeRecord,
  status: 'ready' | 'running' = 'ready',
): void {
  transition.change(node).status = status;
  node.set('queued', transition.nextSeq());
  transition.state.queue.add(node);
}

/** Removes the first node from the queue for slots. */
export function nextInQueue(transition: Transition): NodeRecord | undefined {
  const node = transition.state.queue.first;
  if (node !== undefined) leaveQueue(transition, node);
  return node;
}

/** Removes a node from the queue for slots, if it is in it. */
export function leaveQueue(transition: Transition, node: NodeRecord): void {
  if (node.details.queued === 0) return;
  transition.change(node).set('queued', 0);
  transition.state.queue.remove();
}
