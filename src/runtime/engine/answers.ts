import type { Value } from '../../graph/json.js';
import type { Event, Fact, Failure, OwedCommand } from './contract.js';
import { recordEffect } from './effects.js';
import { failures } from './failures.js';
import type { NodeInstance } from './instances.js';
import { fits } from './nodes/ask.js';
import { attemptFailed, DEFAULT_TIMEOUT_MS, goOn } from './nodes/attempt.js';
import { succeed } from './settle.js';
import { stopContainer } from './stop.js';
import { readerIn, type Turn } from './turn.js';
import { compensationReturned } from './undo.js';
import { noteUnknown, resolveUnknown, type ToolCall } from './unknown.js';
import { withdraw } from './withdraw.js';

/** A command that is one attempt of its node, or makes a compensation. */
export type Call = Extract<OwedCommand, { kind: 'callTool' | 'readResource' | 'evaluate' }>;

type Ask = Extract<OwedCommand, { kind: 'requestAction' }>;

type Timer = Extract<OwedCommand, { kind: 'startTimer' }>;

/** A call came back with a value. */
export function answered(turn: Turn, call: Call, value: Value): true {
  turn.recorder.settleCommand(call.id);
  reportReturned(turn, call, true, { ok: true, value: value ?? null });
  if (call.kind === 'callTool' && call.isCompensation) {
    compensationReturned(turn, call);
    return true;
  }
  const node = turn.instances.find(call.node);
  if (call.kind !== 'callTool') {
    succeed(turn, node, value);
    return true;
  }
  resolveUnknown(turn, call);
  // The record is written with the output at hand, and before anything that its success leads to.
  if (value !== undefined) turn.recorder.tables.outputs.put(node.key, value);
  recordEffect(turn, node, { generation: call.generation, reader: readerIn(turn, node.scope) });
  succeed(turn, node, value);
  return true;
}

/** A call came back with a failure. */
export function failed(turn: Turn, call: Call, failure: Failure, attempted: boolean): true {
  turn.recorder.settleCommand(call.id);
  reportReturned(turn, call, attempted, { ok: false, failure });
  if (call.kind === 'callTool' && call.isCompensation) {
    compensationReturned(turn, call, failure);
    return true;
  }
  if (call.kind === 'callTool' && attempted) noteUnknown(turn, call, failure);
  attemptFailed(turn, turn.instances.find(call.node), { failure, attempted });
  return true;
}

/** An answer came in. One that does not fit leaves the action open. */
export function submitted(
  turn: Turn,
  ask: Ask,
  { at, by, value }: Extract<Event, { kind: 'actionSubmitted' }>,
): boolean {
  if (!fits(ask.action, value)) return false;
  const { recorder } = turn;
  recorder.settleCommand(ask.id);
  recorder.tables.submissions.put(ask.id, { at, ...(by === undefined ? {} : { by }), value });
  recorder.report({ kind: 'answered', node: ask.node, command: ask.id, value });
  succeed(turn, turn.instances.find(ask.node), value);
  return true;
}

/** The one who was asked could not or would not answer. */
export function refused(turn: Turn, ask: Ask, failure: Failure): true {
  turn.recorder.settleCommand(ask.id);
  attemptFailed(turn, turn.instances.find(ask.node), { failure });
  return true;
}

/** An attempt took too long, the delay before the next one is over, or a node has waited for as long as it should. */
export function timerFired(turn: Turn, command: OwedCommand): boolean {
  const node = turn.instances.find(command.node);
  if (command.kind === 'startTimer') timeHasCome(turn, node, command);
  else if (command.dueAt === undefined) return false;
  else if (command.kind === 'callTool' && command.isCompensation) undoTookTooLong(turn, command);
  else tookTooLong(turn, node, command);
  return true;
}

function timeHasCome(turn: Turn, node: NodeInstance, timer: Timer): void {
  turn.recorder.settleCommand(timer.id);
  switch (timer.purpose) {
    case 'wait':
      succeed(turn, node, undefined);
      return;
    case 'backoff':
      goOn(turn, node);
      return;
    case 'timeout':
    case 'deadline':
      if (node.planned.node.kind === 'wait') {
        attemptFailed(turn, node, { failure: waitedTooLong(node, timer.purpose === 'deadline') });
      } else containerTookTooLong(turn, node);
      return;
  }
}

function containerTookTooLong(turn: Turn, node: NodeInstance): void {
  const failure = failures.containerTimeout(node.planned.node.timeoutMs ?? 0);
  const { containers } = turn.recorder.tables;
  // What failed before it, for good or not, is not why this attempt ends.
  const { final: _final, failedPart: _part, ...row } = containers.need(node.key);
  containers.put(node.key, { ...row, failure });
  stopContainer(turn, node, { how: 'abort', reason: 'upstream_failed', failure: failures.givenUp() });
}

function undoTookTooLong(turn: Turn, call: ToolCall): void {
  withdraw(turn, call.id, failures.timeout(DEFAULT_TIMEOUT_MS));
}

function tookTooLong(turn: Turn, node: NodeInstance, command: Exclude<OwedCommand, Timer>): void {
  const failure = lateness(turn, node, command);
  withdraw(turn, command.id, failure);
  attemptFailed(turn, node, { failure });
}

/** Evaluations are not told: they happen inside of the run. */
function reportReturned(
  { recorder }: Turn,
  { kind, id, node }: Call,
  attempted: boolean,
  outcome: Extract<Fact, { kind: 'callReturned' }>['outcome'],
): void {
  if (kind === 'evaluate') return;
  recorder.report({ kind: 'callReturned', node, command: id, attempted, outcome });
}

function lateness(
  { recorder }: Turn,
  node: NodeInstance,
  { kind, dueAt }: Exclude<OwedCommand, Timer>,
): Failure {
  const byDeadline = dueAt === recorder.run.deadlineAt;
  const limit = node.planned.node.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  switch (kind) {
    case 'callTool':
    case 'readResource':
      return byDeadline ? failures.deadline() : failures.timeout(limit);
    case 'evaluate':
      return byDeadline ? failures.evaluationDeadline() : failures.evaluationTimeout(limit);
    case 'requestAction':
      return waitedTooLong(node, byDeadline);
  }
}

function waitedTooLong({ planned: { node } }: NodeInstance, byDeadline: boolean): Failure {
  return byDeadline ? failures.waitDeadline() : failures.waitTimeout(node.timeoutMs ?? DEFAULT_TIMEOUT_MS);
}
