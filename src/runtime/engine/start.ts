import type { JsonObject } from '../../graph/json.js';
import type { Graph } from '../../graph/model.js';
import { planOf } from '../../plan/plan.js';
import { runOn } from './activation.js';
import type { Advance, RunState, StartIds } from './contract.js';
import { endWithFault } from './run-end.js';
import { openScope } from './scopes.js';
import { emptyTables } from './table.js';
import { openTurn } from './turn.js';

/**
 * Begins a run and takes it as far as it gets without an answer from outside.
 *
 * A graph this engine cannot run, for example one with a node of a later version's kind, gives a run that has failed
 * with a named failure before anything was attempted.
 *
 * @param graph what to run, with the workflows it runs among its `tasks`: see `bundle`. It must not change afterwards:
 * its plan is made once and kept.
 * @param input values of the graph's inputs, already checked, coerced and filled with defaults.
 */
export function start(graph: Graph, input: JsonObject, ids: StartIds): Advance {
  const plan = planOf(graph);
  const state: RunState = {
    run: {
      id: ids.runId,
      workflow: graph.name,
      graphHash: plan.hash,
      status: 'running',
      startedAt: ids.at,
      ...(ids.random === undefined ? {} : { random: ids.random }),
      ...(ids.deadlineAt === undefined ? {} : { deadlineAt: ids.deadlineAt }),
      running: 0,
      started: 0,
    },
    input,
    ...emptyTables(),
  };
  const turn = openTurn(plan, state, ids.at);
  turn.recorder.putRun(state.run);
  turn.recorder.recordInput();
  if (plan.fault !== undefined) {
    endWithFault(turn, graph, plan.fault);
  } else {
    openScope(turn, turn.instances.root);
    runOn(turn);
  }
  return turn.recorder.advance();
}
