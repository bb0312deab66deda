import type { Graph } from '../../graph/model.js';
import { unreachable } from '../../graph/unreachable.js';
import { planOf } from '../../plan/plan.js';
import { runOn } from './activation.js';
import { answered, failed, refused, submitted, timerFired } from './answers.js';
import type { Advance, Event, RunState } from './contract.js';
import { cancelRun } from './run-end.js';
import { openTurn, type Turn } from './turn.js';

/** Thrown by `advance` when a host brings a state together with a graph it was not started on. */
export class GraphMismatchError extends Error {
  /** Hash of the graph the run was started on. */
  readonly expected: string;
  /** Hash of the graph that was brought. */
  readonly actual: string;

  constructor(run: string, expected: string, actual: string) {
    super(`run '${run}' was started on graph ${expected} and cannot go on with graph ${actual}`);
    this.name = 'GraphMismatchError';
    this.expected = expected;
    this.actual = actual;
  }
}

/**
 * Takes a run one event further, as far as it gets without another answer. Consumes `state`: it is changed in place
 * and returned, so that the cost depends on the rows touched and not on the size of the run.
 *
 * An event that answers nothing outstanding (late, repeated, unknown, or for a run that has ended) changes nothing, and
 * neither does an answer that does not fit.
 *
 * @throws GraphMismatchError when `graph` is not the one the run was started on.
 */
export function advance(graph: Graph, state: RunState, event: Event): Advance {
  const plan = planOf(graph);
  if (plan.hash !== state.run.graphHash) {
    throw new GraphMismatchError(state.run.id, state.run.graphHash, plan.hash);
  }
  const notStarted = event.kind === 'cancelled' ? event.notStarted : undefined;
  const turn = openTurn(plan, state, event.at, notStarted);
  if (state.run.status === 'running' && take(turn, event)) runOn(turn);
  return turn.recorder.advance();
}

/** Applies an event. False when nothing was waiting for it. */
function take(turn: Turn, event: Event): boolean {
  if (event.kind === 'cancelled') return cancelRun(turn, event);
  const command = turn.recorder.tables.commands.get(event.command);
  if (command === undefined) return false;
  switch (event.kind) {
    case 'toolReturned':
      return command.kind === 'callTool' && answered(turn, command, event.value);
    case 'resourceRead':
      return command.kind === 'readResource' && answered(turn, command, event.value);
    case 'evaluated':
      return command.kind === 'evaluate' && answered(turn, command, event.value);
    case 'toolFailed':
      return command.kind === 'callTool' && failed(turn, command, event.failure, event.attempted);
    case 'resourceFailed':
      return command.kind === 'readResource' && failed(turn, command, event.failure, true);
    case 'evaluationFailed':
      return command.kind === 'evaluate' && failed(turn, command, event.failure, true);
    case 'actionSubmitted':
      return command.kind === 'requestAction' && submitted(turn, command, event.value);
    case 'actionFailed':
      return command.kind === 'requestAction' && refused(turn, command, event.failure);
    case 'timerFired':
      return command.kind === 'startTimer' && timerFired(turn, command);
    default:
      return unreachable(event);
  }
}
