import type { JoinRule } from '../../src/graph/model.js';
import type { SkipReason } from './run.js';

/** How many of the nodes that are joined ended in which way. */
export interface Joined {
  readonly succeeded: number;
  readonly failed: number;
  readonly skipped: number;
}

/** Rules that a test may bend, to show that it would be noticed. */
export interface Rules {
  /** Whether a node runs, or why not. */
  readonly join: (rule: JoinRule, joined: Joined) => 'run' | SkipReason;
  /** The order of the values of a loop's bodies. */
  readonly order: <T>(values: readonly T[]) => readonly T[];
  /** Whether a jump of a `goto` takes away what the nodes it starts over gave. */
  readonly jumpForgets: boolean;
  readonly notSelected: SkipReason;
  readonly conditionFalse: SkipReason;
  readonly fallbacks: boolean;
  /** Whether a `parallel` that went well undoes all the same. */
  readonly happyUndoes: boolean;
  /** Whether what is undone is undone in the order in which it was done. */
  readonly undoForward: boolean;
  readonly undoNothing: boolean;
  readonly extraTries: (extra: number) => number;
  readonly refusedAgain: boolean;
  /** Whether a call is made again that took effect, of a tool that may not be repeated. */
  readonly actsAgain: boolean;
  /** Whether nodes start although their scope has failed. */
  readonly failFast: boolean;
  readonly abortWaits: boolean;
  readonly window: (concurrency: number) => number;
  readonly places: (maxConcurrency: number) => number;
  readonly defaults: boolean;
  readonly errorWins: boolean;
  readonly loopLimit: (max: number) => number;
  readonly elseTaken: boolean;
  /** Whether a call whose effect was undone is another one from then on. */
  readonly undoneRises: boolean;
  /** Whether it is if that is not known. */
  readonly perhapsUndoneRises: boolean;
  /** Whether a jump makes other calls of those it starts over. */
  readonly restartsCount: boolean;
  /** Whether a jump forgets how to undo what it starts over. */
  readonly jumpForgetsEffects: boolean;
  /** Whether all attempts of a call send the input of the first one. */
  readonly frozenInput: boolean;
  /** Whether a late success is recorded. */
  readonly lateCounts: boolean;
  /** Whether it is reported if it is not undone. */
  readonly lateNamed: boolean;
  /** Whether a roll-back that left something makes the failure final. */
  readonly finalRollback: boolean;
  /** Whether a compensation goes on that is in flight when the run is cancelled. */
  readonly undoingGoesOn: boolean;
  /** Whether a field of scope `workflow` is one for the run. */
  readonly sharesFields: boolean;
  /** Whether a node with `writes` writes its value. */
  readonly writes: boolean;
  /** Whether a loop that settles fails by its failed items. */
  readonly settles: boolean;
  /** Whether the limit of work of the client counts from its request, and not from its delivery. */
  readonly countsFromRequest: boolean;
  /** Whether a step of a task that would end it waits. */
  readonly pauses: boolean;
  /** Whether a call that was made outside is another one than those of its step. */
  readonly outsideRises: boolean;
  /** Whether a step of a `compensate` node finds what has the same tool and input. */
  readonly stepsJoin: boolean;
}

/** What `docs/semantics.md` says. */
export const RULES: Rules = {
  join(rule, { succeeded, failed, skipped }) {
    if (succeeded + failed + skipped === 0) return 'run';
    const runs = {
      all_success: failed === 0 && skipped === 0,
      none_failed: failed === 0,
      none_failed_min_one_success: failed === 0 && succeeded > 0,
      one_success: succeeded > 0,
      all_done: true,
    }[rule];
    if (runs) return 'run';
    return failed > 0 ? 'upstream_failed' : 'upstream_skipped';
  },
  order: (values) => values,
  jumpForgets: true,
  notSelected: 'not_selected',
  conditionFalse: 'condition_false',
  fallbacks: true,
  happyUndoes: false,
  undoForward: false,
  undoNothing: false,
  extraTries: (extra) => extra,
  refusedAgain: false,
  actsAgain: false,
  failFast: true,
  abortWaits: false,
  window: (concurrency) => concurrency,
  places: (maxConcurrency) => maxConcurrency,
  defaults: true,
  errorWins: true,
  loopLimit: (max) => max,
  elseTaken: true,
  undoneRises: true,
  perhapsUndoneRises: true,
  restartsCount: true,
  jumpForgetsEffects: false,
  frozenInput: true,
  lateCounts: true,
  lateNamed: true,
  finalRollback: true,
  undoingGoesOn: true,
  sharesFields: false,
  writes: true,
  settles: true,
  countsFromRequest: false,
  pauses: true,
  outsideRises: true,
  stepsJoin: true,
};
