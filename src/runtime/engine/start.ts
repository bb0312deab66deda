import type { JsonObject } from '../../graph/json.js';
import type { Plan } from '../../plan/plan.js';
import { runOn } from './activation.js';
import type { Advance, Failure, StartIds } from './contract.js';
import type { StartRow } from './rows.js';
import { endWithFault } from './run-end.js';
import { openScope } from './scopes.js';
import { RunState } from './state.js';
import type { Draft } from './tables.js';
import { DEFAULT_LIMITS, type Limits, Transition } from './transition.js';

/**
 * Begins a run and takes it as far as it gets without an answer from outside.
 *
 * A graph this engine cannot run, for example one with a node of a later version's kind, gives a run that has failed
 * with a named failure before anything was attempted.
 *
 * @param plan of the graph to run, with the workflows it runs among its `tasks`: see `bundle` and `planOf`.
 * @param input values of the graph's inputs, already checked, coerced and filled with defaults.
 */
export function start(
  plan: Plan,
  input: JsonObject,
  ids: StartIds,
  { activations }: Limits = DEFAULT_LIMITS,
): Advance {
  const state = stateAtStart(plan, input, ids);
  const transition = new Transition(state, { at: ids.at, activations });
  transition.change(state.start);
  transition.changeRun();
  if (plan.fault !== undefined) {
    endWithFault(transition, plan.graph, plan.fault);
  } else {
    openScope(transition, state.root);
    runOn(transition);
  }
  return transition.finish(0);
}

/** The state of a run that ended before its first step, because something else failed that it needs. */
export function failedAtStart(
  plan: Plan,
  input: JsonObject,
  ids: StartIds,
  { status, failure }: { readonly status: 'failed' | 'cancelled'; readonly failure: Failure },
): RunState {
  const state = stateAtStart(plan, input, ids);
  state.run.status = status;
  state.run.failure = failure;
  return state;
}

function stateAtStart(
  plan: Plan,
  input: JsonObject,
  { runId, at, random, deadlineAt, tools = {} }: StartIds,
): RunState {
  // Runs that wait keep this: an object that is put together of others would have a shape of its own.
  const start: Draft<StartRow> = {
    workflow: plan.graph.name,
    graphHash: plan.hash,
    startedAt: at,
    input,
    tools,
  };
  if (random !== undefined) start.random = random;
  if (deadlineAt !== undefined) start.deadlineAt = deadlineAt;
  return new RunState(plan, runId, start);
}
