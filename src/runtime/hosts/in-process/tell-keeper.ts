import { thrownText } from '../../catalogue/thrown.js';
import type { Event, Fact, RunState } from '../../engine/contract.js';
import type { HostRow } from '../journal.js';
import type { RunMask } from '../run-mask.js';
import type { RunKeeper } from './run-options.js';

/** Learns what a transition shows beside the state: the rows are written with it, so that a restart loses none of it. */
export function noteTransition(
  keeper: RunKeeper,
  mask: RunMask,
  { events, facts, state }: { events: readonly Event[]; facts: readonly Fact[]; state: RunState },
): readonly HostRow[] {
  for (const fact of facts) mask.observe(fact, state);
  const learned = mask.takeRows();
  const noted = keeper.note?.(events, facts, state) ?? [];
  return learned.length === 0 ? noted : [...learned, ...noted];
}

/** Tells facts to the observer of a run. What it throws does not change the run. */
export function tellFacts(keeper: RunKeeper, facts: readonly Fact[], state: RunState): void {
  if (keeper.observe === undefined) return;
  for (const fact of facts) {
    try {
      keeper.observe(fact, state);
    } catch (error) {
      tellFault(keeper, error, fact);
    }
  }
}

function tellFault(keeper: RunKeeper, error: unknown, fact: Fact): void {
  try {
    if (keeper.observerFailed === undefined) warn(error);
    else keeper.observerFailed(error, fact);
  } catch (second) {
    warn(second);
  }
}

function warn(error: unknown): void {
  process.emitWarning(`an observer of a workflow run failed: ${thrownText(error)}`, 'StepwrightWarning');
}
