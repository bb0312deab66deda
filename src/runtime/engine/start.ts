import type { JsonObject } from '../../graph/json.js';
import type { Graph } from '../../graph/model.js';
import { runOn } from './activation.js';
import type { Advance, RunState, StartIds } from './contract.js';
import { endWithFault } from './ending.js';
import { planOf } from './plan.js';
import { openTurn } from './turn.js';

/**
 * Begins a run and takes it as far as it gets without an answer from outside.
 *
 * A graph this engine cannot run, for example one with a node of a later version's kind, gives a run that has failed
 * with a named failure before anything was attempted.
 *
 * @param graph what to run. It must not change afterwards: its plan is made once and kept.
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
      open: plan.nodes.length,
      running: 0,
    },
    input,
    nodes: {},
    outputs: {},
    commands: {},
  };
  const turn = openTurn(plan, state, ids.at);
  turn.recorder.putRun(state.run);
  turn.recorder.recordInput();
  if (plan.fault !== undefined) endWithFault(turn, plan.fault);
  for (const planned of plan.nodes) {
    const { waitsFor } = planned;
    turn.recorder.putNode(planned.node.id, { status: 'pending', waitingFor: waitsFor, attempt: 0 });
    if (waitsFor === 0) turn.due.add(planned);
  }
  runOn(turn);
  return turn.recorder.advance();
}
