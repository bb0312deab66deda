import type { Value } from '../../graph/json.js';
import { abandonCall, abandonTimer, callId, delayId, timerId } from './commands.js';
import type { Command, Fact, Failure } from './contract.js';
import { failures } from './failures.js';
import { attemptFailed, DEFAULT_TIMEOUT_MS } from './nodes/attempt.js';
import type { Plan, PlannedNode, RunnableNode } from './plan.js';
import { standInLine } from './ready-line.js';
import { succeed } from './settle.js';
import type { Turn } from './turn.js';

/** A command that is one attempt of its node. */
export type Call = Extract<Command, { kind: 'callTool' | 'readResource' | 'evaluate' }>;

type Timer = Extract<Command, { kind: 'startTimer' }>;

/** A call came back with a value. */
export function answered(turn: Turn, call: Call, value: Value): true {
  settleCall(turn, call);
  const planned = plannedNode(turn.plan, call.node);
  reportReturned(turn, planned.node, call.id, true, { ok: true, value: value ?? null });
  succeed(turn, planned, value);
  return true;
}

/** A call came back with a failure. */
export function failed(turn: Turn, call: Call, failure: Failure, attempted: boolean): true {
  settleCall(turn, call);
  attemptOver(turn, plannedNode(turn.plan, call.node), call.id, failure, attempted);
  return true;
}

/** An attempt took too long, or the delay before the next one is over. */
export function timerFired(turn: Turn, timer: Timer): true {
  const { recorder, plan } = turn;
  const planned = plannedNode(plan, timer.node);
  const call = callId(timer.node, recorder.node(timer.node).attempt);
  recorder.settleCommand(timer.id);
  if (timer.id === delayId(call)) {
    standInLine(turn, planned);
  } else {
    abandonCall(recorder, call);
    attemptOver(turn, planned, call, lateness(turn, planned.node, timer), true);
  }
  return true;
}

function settleCall({ recorder }: Turn, call: Call): void {
  recorder.settleCommand(call.id);
  abandonTimer(recorder, timerId(call.id));
}

function attemptOver(
  turn: Turn,
  planned: PlannedNode,
  call: string,
  failure: Failure,
  attempted: boolean,
): void {
  reportReturned(turn, planned.node, call, attempted, { ok: false, failure });
  attemptFailed(turn, planned, failure, attempted);
}

/** Evaluations are no calls: nobody outside of the run sees them. */
function reportReturned(
  { recorder }: Turn,
  node: RunnableNode,
  command: string,
  attempted: boolean,
  outcome: Extract<Fact, { kind: 'callReturned' }>['outcome'],
): void {
  if (node.kind === 'compute') return;
  recorder.report({ kind: 'callReturned', node: node.id, command, attempted, outcome });
}

function lateness({ recorder }: Turn, node: RunnableNode, timer: Timer): Failure {
  const limit = node.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const byDeadline = timer.dueAt === recorder.run.deadlineAt;
  if (node.kind === 'compute') {
    return byDeadline ? failures.evaluationDeadline() : failures.evaluationTimeout(limit);
  }
  return byDeadline ? failures.deadline() : failures.timeout(limit);
}

function plannedNode(plan: Plan, id: string): PlannedNode {
  const planned = plan.byId.get(id);
  if (planned === undefined) throw new Error(`the graph has no node '${id}'`);
  return planned;
}
