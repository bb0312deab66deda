import { Budget } from '../../graph/expression/evaluate.js';
import type { Plan } from '../../plan/plan.js';
import type { CompensationReport, RunState } from './contract.js';
import { DueNodes } from './due.js';
import { Evaluation, errorOf } from './evaluation.js';
import { Instances, type NodeInstance, type ScopeInstance } from './instances.js';
import { Recorder } from './recorder.js';

/** What the expressions of the start, or of one event, may cost together. See `Budget` for the unit. */
export const ADVANCE_BUDGET = 1_000_000;

/** What one `start` or `advance` does at most. */
export interface Limits {
  /** So many nodes are looked at, and ends told. What is left is owed: see `Advance.more`. */
  readonly activations: number;
}

export const DEFAULT_LIMITS: Limits = { activations: 10_000 };

/** One step of the machine while it is under way: one `start` or one `advance`. */
export interface Turn {
  readonly plan: Plan;
  /** Of the event that is applied: ms since the epoch, as the host read it. */
  at: number;
  readonly recorder: Recorder;
  readonly instances: Instances;
  /** Of the event that is applied. */
  budget: Budget;
  /** How many activations are left. */
  activations: number;
  /** Nodes that may be able to start, or to go on, and that were not looked at yet. */
  readonly due: DueNodes;
  /** Commands of calls and reads that the host had not made yet. */
  notStarted: ReadonlySet<string>;
  /** What has come to its end, and whoever holds it was not told yet. It is told in this order, one after the other. */
  readonly ended: Ended[];
}

/**
 * A scope whose nodes have all settled; a node that undid what a `parallel` had done; compensations that were made, for
 * a node or for the run.
 */
export type Ended =
  | { readonly kind: 'scope'; readonly scope: ScopeInstance }
  | { readonly kind: 'rollback'; readonly of: NodeInstance }
  | {
      readonly kind: 'undone';
      readonly by: NodeInstance | undefined;
      readonly report: CompensationReport;
      /** A compensation failed, and those behind it were not run. */
      readonly hasHalted: boolean;
    };

const NOTHING: ReadonlySet<string> = new Set();

/**
 * Opens a turn.
 *
 * `at` is taken as it comes. It is only ever used to say when a timer is due and whether a time has passed, so a clock
 * that steps back disturbs nothing: a limit stays as long as it is, measured from the host's present time.
 */
export function openTurn(
  plan: Plan,
  state: RunState,
  { at, activations }: Pick<Turn, 'at' | 'activations'>,
): Turn {
  return {
    plan,
    at,
    recorder: new Recorder(state),
    instances: instancesOf(plan),
    budget: new Budget(ADVANCE_BUDGET),
    activations,
    due: new DueNodes(),
    notStarted: NOTHING,
    ended: [],
  };
}

/** Begins with the next event of a batch. */
export function beginEvent(turn: Turn, at: number, notStarted: readonly string[] = []): void {
  turn.at = at;
  turn.budget = new Budget(ADVANCE_BUDGET);
  turn.notStarted = notStarted.length === 0 ? NOTHING : new Set(notStarted);
}

const instances = new WeakMap<Plan, Instances>();

/** The nodes and scopes of a plan, shared by its runs. */
export function instancesOf(plan: Plan): Instances {
  const known = instances.get(plan);
  if (known !== undefined) {
    known.sweep();
    return known;
  }
  const made = new Instances(plan);
  instances.set(plan, made);
  return made;
}

/** Evaluates as the nodes of a scope see the run. */
export function readerIn({ recorder, budget }: Turn, scope: ScopeInstance): Evaluation {
  return new Evaluation(recorder.state, budget, scope);
}

/** Evaluates as a node sees the run. One that a fallback selected sees the failure it takes over for, as `error`. */
export function readerOf(turn: Turn, { key, scope }: NodeInstance): Evaluation {
  const { nodes } = turn.recorder.tables;
  const reader = readerIn(turn, scope);
  const error = errorOf(key, (of) => nodes.need(of), turn.instances);
  return error === undefined ? reader : reader.withError(error);
}
