import { Budget } from '../../graph/expression/evaluate.js';
import type { Plan } from '../../plan/plan.js';
import type { CompensationReport, RunState } from './contract.js';
import { DueNodes } from './due.js';
import { Evaluation, errorOf } from './evaluation.js';
import { Instances, type NodeInstance, type ScopeInstance } from './instances.js';
import { Recorder } from './recorder.js';

/** What the expressions of one `start` or `advance` may cost together. See `Budget` for the unit. */
export const ADVANCE_BUDGET = 1_000_000;

/** One step of the machine while it is under way: one `start` or one `advance`. */
export interface Turn {
  readonly plan: Plan;
  /** Ms since the epoch, as the host read it. */
  readonly at: number;
  readonly recorder: Recorder;
  readonly instances: Instances;
  readonly budget: Budget;
  /** Nodes that may be able to start, or to go on, and that were not looked at yet. */
  readonly due: DueNodes;
  /** Commands of calls and reads that the host had not made yet. */
  readonly notStarted: ReadonlySet<string>;
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

const NONE: readonly string[] = [];
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
  at: number,
  notStarted: readonly string[] = NONE,
): Turn {
  return {
    plan,
    at,
    recorder: new Recorder(state),
    instances: instancesOf(plan),
    budget: new Budget(ADVANCE_BUDGET),
    due: new DueNodes(),
    notStarted: notStarted.length === 0 ? NOTHING : new Set(notStarted),
    ended: [],
  };
}

const instances = new WeakMap<Plan, Instances>();

/** The nodes and scopes of a plan, shared by its runs. */
function instancesOf(plan: Plan): Instances {
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
