import type { Value } from '../../graph/json.js';
import type { Graph } from '../../graph/model.js';
import { unreachable } from '../../graph/unreachable.js';
import { runOn } from './activation.js';
import { abandonCall, abandonTimer, callId, timerId } from './commands.js';
import type { Advance, Command, Event, Failure, RunState } from './contract.js';
import { cancelRun, fail } from './ending.js';
import { failures } from './failures.js';
import { DEFAULT_TIMEOUT_MS } from './nodes/attempt.js';
import { type Plan, type PlannedNode, planOf } from './plan.js';
import { succeed } from './settle.js';
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
 * An event that answers nothing outstanding (late, repeated, unknown, or for a run that has ended) changes nothing.
 *
 * @throws GraphMismatchError when `graph` is not the one the run was started on.
 */
export function advance(graph: Graph, state: RunState, event: Event): Advance {
  const plan = planOf(graph);
  if (plan.hash !== state.run.graphHash) {
    throw new GraphMismatchError(state.run.id, state.run.graphHash, plan.hash);
  }
  const turn = openTurn(plan, state, event.at);
  if (state.run.status === 'running' && take(turn, event)) runOn(turn);
  return turn.recorder.advance();
}

/** Applies an event. False when nothing was waiting for it. */
function take(turn: Turn, event: Event): boolean {
  if (event.kind === 'cancelled') {
    cancelRun(turn, event.reason);
    return true;
  }
  const command = turn.recorder.command(event.command);
  if (command === undefined) return false;
  switch (event.kind) {
    case 'toolReturned':
      return command.kind === 'callTool' && returned(turn, command, event.value);
    case 'resourceRead':
      return command.kind === 'readResource' && returned(turn, command, event.value);
    case 'toolFailed':
      return command.kind === 'callTool' && broke(turn, command, event.failure, event.attempted);
    case 'resourceFailed':
      return command.kind === 'readResource' && broke(turn, command, event.failure, true);
    case 'timerFired':
      return command.kind === 'startTimer' && timedOut(turn, command);
    default:
      return unreachable(event);
  }
}

type Call = Extract<Command, { kind: 'callTool' | 'readResource' }>;

function returned(turn: Turn, call: Call, value: NonNullable<Value> | null): true {
  const { recorder, plan } = turn;
  answer(turn, call);
  const outcome = { ok: true, value } as const;
  recorder.report({ kind: 'callReturned', node: call.node, command: call.id, attempted: true, outcome });
  succeed(turn, plannedNode(plan, call.node), value);
  return true;
}

function broke(turn: Turn, call: Call, failure: Failure, attempted: boolean): true {
  answer(turn, call);
  failCall(turn, call, failure, attempted);
  return true;
}

function answer({ recorder }: Turn, call: Call): void {
  recorder.settleCommand(call.id);
  abandonTimer(recorder, timerId(call.id));
}

function timedOut(turn: Turn, timer: Extract<Command, { kind: 'startTimer' }>): true {
  const { recorder, plan } = turn;
  const { node } = plannedNode(plan, timer.node);
  const id = callId(node.id, recorder.node(node.id).attempt);
  recorder.settleCommand(timer.id);
  abandonCall(recorder, id);
  const byDeadline = timer.dueAt === recorder.run.deadlineAt;
  const failure = byDeadline ? failures.deadline() : failures.timeout(node.timeoutMs ?? DEFAULT_TIMEOUT_MS);
  failCall(turn, { id, node: node.id }, failure, true);
  return true;
}

function failCall(turn: Turn, call: Pick<Call, 'id' | 'node'>, failure: Failure, attempted: boolean): void {
  const { id: command, node } = call;
  const outcome = { ok: false, failure } as const;
  turn.recorder.report({ kind: 'callReturned', node, command, attempted, outcome });
  fail(turn, plannedNode(turn.plan, node), failure);
}

function plannedNode(plan: Plan, id: string): PlannedNode {
  const planned = plan.byId.get(id);
  if (planned === undefined) throw new Error(`the graph has no node '${id}'`);
  return planned;
}
