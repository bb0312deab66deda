import type { Json, Value } from '../../graph/json.js';
import { abandonTimer, attemptId, delayId, timerId, timerOf, withdraw } from './commands.js';
import type { Command, Fact, Failure } from './contract.js';
import { failures } from './failures.js';
import type { NodeInstance } from './instances.js';
import { fits } from './nodes/ask.js';
import { attemptFailed, DEFAULT_TIMEOUT_MS, goOn } from './nodes/attempt.js';
import { succeed } from './settle.js';
import { stopContainer } from './stop.js';
import type { Turn } from './turn.js';
import { undoAnswered } from './undo.js';

/** A command that is one attempt of its node, or makes a compensation. */
export type Call = Extract<Command, { kind: 'callTool' | 'readResource' | 'evaluate' }>;

type Ask = Extract<Command, { kind: 'requestAction' }>;

type Timer = Extract<Command, { kind: 'startTimer' }>;

/** A call came back with a value. */
export function answered(turn: Turn, call: Call, value: Value): true {
  if (isUndoing(call)) {
    settleCall(turn, call.id, timerId(call.id));
    undoAnswered(turn, call, value);
    return true;
  }
  const node = turn.instances.find(call.node);
  settleCall(turn, call.id, timerOf(node, call.id));
  reportReturned(turn, node, call.id, true, { ok: true, value: value ?? null });
  succeed(turn, node, value);
  return true;
}

/** A call came back with a failure. */
export function failed(turn: Turn, call: Call, failure: Failure, attempted: boolean): true {
  settleCall(turn, call.id, timerId(call.id));
  if (isUndoing(call)) undoAnswered(turn, call, undefined, failure, attempted);
  else attemptOver(turn, turn.instances.find(call.node), call.id, failure, attempted);
  return true;
}

/** Somebody answered. An answer that does not fit leaves the action open. */
export function submitted(turn: Turn, ask: Ask, value: Json): boolean {
  if (!fits(ask.action, value)) return false;
  settleCall(turn, ask.id, timerId(ask.id));
  turn.recorder.report({ kind: 'answered', node: ask.node, command: ask.id, value });
  succeed(turn, turn.instances.find(ask.node), value);
  return true;
}

/** Whoever was asked could not or would not answer. */
export function refused(turn: Turn, ask: Ask, failure: Failure): true {
  settleCall(turn, ask.id, timerId(ask.id));
  attemptFailed(turn, turn.instances.find(ask.node), { failure });
  return true;
}

/** An attempt took too long, the delay before the next one is over, or a node has waited for as long as it should. */
export function timerFired(turn: Turn, timer: Timer): true {
  const { recorder, instances } = turn;
  const node = instances.find(timer.node);
  const attempt = attemptId(turn, node, recorder.tables.nodes.need(node.key).attempt);
  recorder.settleCommand(timer.id);
  if (timer.id === attempt) {
    abandonTimer(turn, timerId(attempt));
    succeed(turn, node, undefined);
  } else if (timer.id === delayId(attempt)) {
    goOn(turn, node);
  } else {
    tookTooLong(turn, node, timer);
  }
  return true;
}

function tookTooLong(turn: Turn, node: NodeInstance, timer: Timer): void {
  const { recorder } = turn;
  const bounded = recorder.tables.commands.get(timer.id.slice(0, -timerId('').length));
  if (bounded?.kind === 'callTool' && isUndoing(bounded)) {
    recorder.settleCommand(bounded.id);
    recorder.tell({ kind: 'cancelCall', id: `${bounded.id}:cancel`, call: bounded.id });
    undoAnswered(turn, bounded, undefined, failures.timeout(DEFAULT_TIMEOUT_MS));
  } else if (bounded !== undefined) {
    const failure = lateness(turn, node, timer, bounded);
    withdraw(turn, bounded.id, failure);
    attemptFailed(turn, node, { failure });
  } else {
    const failure = failures.containerTimeout(node.planned.node.timeoutMs ?? 0);
    const { containers } = recorder.tables;
    // What failed before it, for good or not, is not why this attempt ends.
    const { final: _final, failedPart: _part, ...row } = containers.need(node.key);
    containers.put(node.key, { ...row, failure });
    stopContainer(turn, node, { how: 'abort', reason: 'upstream_failed', failure: failures.givenUp() });
  }
}

function settleCall(turn: Turn, command: string, timer: string): void {
  turn.recorder.settleCommand(command);
  abandonTimer(turn, timer);
}

function isUndoing(call: Call): call is Extract<Call, { kind: 'callTool' }> {
  return call.kind === 'callTool' && call.isCompensation === true;
}

function attemptOver(
  turn: Turn,
  node: NodeInstance,
  call: string,
  failure: Failure,
  attempted: boolean,
): void {
  reportReturned(turn, node, call, attempted, { ok: false, failure });
  attemptFailed(turn, node, { failure, attempted });
}

/** Evaluations are no calls: nobody outside of the run sees them. */
function reportReturned(
  { recorder }: Turn,
  { key, planned }: NodeInstance,
  command: string,
  attempted: boolean,
  outcome: Extract<Fact, { kind: 'callReturned' }>['outcome'],
): void {
  if (planned.node.kind === 'compute') return;
  recorder.report({ kind: 'callReturned', node: key, command, attempted, outcome });
}

function lateness(
  { recorder }: Turn,
  { planned: { node } }: NodeInstance,
  timer: Timer,
  command: Command,
): Failure {
  const byDeadline = timer.dueAt === recorder.run.deadlineAt;
  const limit = node.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  switch (command.kind) {
    case 'callTool':
    case 'readResource':
      return byDeadline ? failures.deadline() : failures.timeout(limit);
    case 'evaluate':
      return byDeadline ? failures.evaluationDeadline() : failures.evaluationTimeout(limit);
    default:
      return byDeadline ? failures.waitDeadline() : failures.waitTimeout(limit);
  }
}
