import type { JsonObject } from '../../graph/json.js';
import type { Plan } from '../../plan/plan.js';
import { runOn } from './activation.js';
import type { Advance, RunState, StartIds } from './contract.js';
import { endWithFault } from './run-end.js';
import { openScope } from './scopes.js';
import { emptyTables } from './table.js';
import { DEFAULT_LIMITS, type Limits, openTurn } from './turn.js';
import { ENGINE_VERSION, STATE_VERSION } from './version.js';

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
  limits: Limits = DEFAULT_LIMITS,
): Advance {
  const { graph } = plan;
  const state: RunState = {
    run: {
      id: ids.runId,
      workflow: graph.name,
      graphHash: plan.hash,
      engineVersion: ENGINE_VERSION,
      stateVersion: STATE_VERSION,
      status: 'running',
      startedAt: ids.at,
      ...(ids.random === undefined ? {} : { random: ids.random }),
      ...(ids.deadlineAt === undefined ? {} : { deadlineAt: ids.deadlineAt }),
      running: 0,
      started: 0,
    },
    input,
    tools: ids.tools ?? {},
    ...emptyTables(),
  };
  const turn = openTurn(plan, state, { at: ids.at, activations: limits.activations });
  turn.recorder.putRun(state.run);
  turn.recorder.recordConstants();
  if (plan.fault !== undefined) {
    endWithFault(turn, graph, plan.fault);
  } else {
    openScope(turn, turn.instances.root);
    runOn(turn);
  }
  return turn.recorder.advance(0);
}
