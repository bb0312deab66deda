import { DEFAULT_TIMEOUT_MS } from '../../graph/defaults.js';
import type { Value } from '../../graph/json.js';
import { attemptFailed, goOn } from './attempt.js';
import type { Event, Fact, Failure, OwedCommand } from './contract.js';
import { recordEffect } from './effects.js';
import { failures } from './failures.js';
import { fits } from './nodes/wait.js';
import type { NodeRecord } from './records.js';
import { succeed } from './settle.js';
import { containerOf } from './state.js';
import { stopContainer, withdraw } from './stop.js';
import type { Transition } from './transition.js';
import { compensationReturned } from './undo.js';
import { noteUnknown, resolveUnknown, type ToolCall } from './unknown.js';

/** A command that is one attempt of its node, or makes a compensation. */
export type Call = Extract<OwedCommand, { kind: 'callTool' | 'readResource' | 'evaluate' }>;

type Ask = Extract<OwedCommand, { kind: 'requestAction' }>;

type Timer = Extract<OwedCommand, { kind: 'startTimer' }>;

/** A call came back with a value. */
export function answered(transition: Transition, node: NodeRecord, call: Call, value: Value): true {
  transition.settleCommand(call.id);
  reportReturned(transition, call, true, { ok: true, value: value ?? null });
  if (call.kind !== 'callTool') {
    succeed(transition, node, value);
    return true;
  }
  if (call.isCompensation) {
    compensationReturned(transition, call);
    return true;
  }
  resolveUnknown(transition, node, call);
  // The record is written with the output at hand, and before anything that its success leads to.
  node.output = value;
  recordEffect(transition, node, call.generation);
  succeed(transition, node, value);
  return true;
}

/** A call came back with a failure. */
export function failed(
  transition: Transition,
  node: NodeRecord,
  call: Call,
  failure: Failure,
  attempted: boolean,
): true {
  transition.settleCommand(call.id);
  reportReturned(transition, call, attempted, { ok: false, failure });
  if (call.kind === 'callTool' && call.isCompensation) {
    compensationReturned(transition, call, failure);
    return true;
  }
  if (call.kind === 'callTool' && attempted) noteUnknown(transition, call, failure);
  attemptFailed(transition, node, { failure, attempted });
  return true;
}

/** An answer came in. One that does not fit leaves the action open. */
export function submitted(
  transition: Transition,
  node: NodeRecord,
  ask: Ask,
  { at, by, value }: Extract<Event, { kind: 'actionSubmitted' }>,
): boolean {
  if (!fits(ask.action, value)) return false;
  transition.settleCommand(ask.id);
  transition.state.submissions.put(ask.id, { at, ...(by === undefined ? {} : { by }), value });
  transition.report({ kind: 'answered', node: ask.node, command: ask.id, value });
  succeed(transition, node, value);
  return true;
}

/** The one who was asked could not or would not answer. */
export function refused(transition: Transition, node: NodeRecord, ask: Ask, failure: Failure): true {
  transition.settleCommand(ask.id);
  attemptFailed(transition, node, { failure });
  return true;
}

/** An attempt took too long, the delay before the next one is over, or a node has waited for as long as it should. */
export function timerFired(transition: Transition, node: NodeRecord, command: OwedCommand): boolean {
  if (command.kind === 'startTimer') timeHasCome(transition, node, command);
  else if (command.dueAt === undefined) return false;
  else if (command.kind === 'callTool' && command.isCompensation) undoTookTooLong(transition, command);
  else tookTooLong(transition, node, command);
  return true;
}

function timeHasCome(transition: Transition, node: NodeRecord, { id, purpose }: Timer): void {
  transition.settleCommand(id);
  switch (purpose) {
    case 'wait':
      succeed(transition, node, undefined);
      return;
    case 'backoff':
      goOn(transition, node);
      return;
    case 'timeout':
    case 'deadline':
      if (node.planned.node.kind === 'wait') {
        attemptFailed(transition, node, { failure: waitedTooLong(node, purpose === 'deadline') });
      } else containerTookTooLong(transition, node);
      return;
  }
}

function containerTookTooLong(transition: Transition, node: NodeRecord): void {
  const container = transition.change(containerOf(node));
  container.failure = failures.containerTimeout(node.planned.node.timeoutMs ?? 0);
  // What failed before it, for good or not, is not why this attempt ends.
  container.final = false;
  container.failedPart = undefined;
  const stop = { how: 'abort', reason: 'upstream_failed', failure: failures.cancelledElsewhere() } as const;
  stopContainer(transition, node, container, stop);
}

function undoTookTooLong(transition: Transition, call: Extract<OwedCommand, ToolCall>): void {
  withdraw(transition, call, failures.timeout(DEFAULT_TIMEOUT_MS));
}

function tookTooLong(transition: Transition, node: NodeRecord, command: Exclude<OwedCommand, Timer>): void {
  const failure = lateness(transition, node, command);
  withdraw(transition, command, failure);
  attemptFailed(transition, node, { failure });
}

/** Evaluations are not reported: they happen inside of the run. */
function reportReturned(
  transition: Transition,
  { kind, id, node }: Call,
  attempted: boolean,
  outcome: Extract<Fact, { kind: 'callReturned' }>['outcome'],
): void {
  if (kind === 'evaluate') return;
  transition.report({ kind: 'callReturned', node, command: id, attempted, outcome });
}

function lateness(
  { state }: Transition,
  node: NodeRecord,
  { kind, dueAt }: Exclude<OwedCommand, Timer>,
): Failure {
  const byDeadline = dueAt === state.run.deadlineAt;
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

function waitedTooLong({ planned: { node } }: NodeRecord, byDeadline: boolean): Failure {
  return byDeadline ? failures.waitDeadline() : failures.waitTimeout(node.timeoutMs ?? DEFAULT_TIMEOUT_MS);
}
