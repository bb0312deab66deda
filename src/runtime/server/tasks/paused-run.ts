import type { Fact, RunState } from '../../engine/contract.js';
import { advance } from '../../engine/engine.js';
import type { Event, OwedCommand } from '../../engine/events.js';
import { commandOf, commandsOf, stoppedSteps } from '../../engine/read.js';
import { restore, snapshot } from '../../engine/snapshot.js';

/** Whether a run continues with a step that is made from outside, and by itself not now. */
export function isPaused(state: RunState): boolean {
  return (
    state.run.status === 'running' && stoppedSteps(state).length > 0 && !commandsOf(state).some(isInFlight)
  );
}

function isInFlight({ kind }: OwedCommand): boolean {
  return kind === 'callTool' || kind === 'readResource' || kind === 'evaluate';
}

type Observe = (fact: Fact, state: RunState) => void;

/**
 * A copy of a paused run in which the steps that wait have failed: the hand-off of a paused run is that of a failed one.
 * @param observe receives the facts of the copy.
 */
export function failedCopy(state: RunState, observe: Observe): RunState {
  const at = Date.now();
  let copy = restore(state.plan, snapshot(state));
  for (const { id, action } of stoppedSteps(state)) {
    if (commandOf(copy, id) === undefined) continue;
    copy = applied(copy, { kind: 'actionFailed', at, command: id, failure: action.failure }, observe);
  }
  // It would undo what it did first, or other questions keep it open.
  if (copy.run.status === 'running') {
    copy.run.status = 'failed';
    copy.run.failure ??= stoppedSteps(state)[0]?.action.failure;
  }
  return copy;
}

/** A copy of a run that was lost while it ran, as a cancelled run: its calls in flight have no known outcome. */
export function lostCopy(
  state: RunState,
  failure: { code: string; message: string },
  observe: Observe,
): RunState {
  const copy = restore(state.plan, snapshot(state));
  const { code, message: reason } = failure;
  return applied(copy, { kind: 'cancelled', at: Date.now(), reason, code }, observe);
}

function applied(state: RunState, event: Event, observe: Observe): RunState {
  let step = advance(state.plan, state, [event]);
  for (;;) {
    for (const fact of step.facts) observe(fact, step.state);
    if (!step.more) return step.state;
    step = advance(state.plan, step.state, []);
  }
}
