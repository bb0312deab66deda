import { DEFAULT_TIMEOUT_MS } from '../../graph/defaults.js';
import { references } from '../../graph/expression/references.js';
import type { RefRoot } from '../../graph/expression/tree.js';
import { type JsonObject, ownProperty, type Value } from '../../graph/json.js';
import type { PlannedCompensation } from '../../plan/plan.js';
import { attemptFailed, goOn } from './attempt.js';
import type { Command, Event, Fact, Failure, OwedCommand } from './contract.js';
import { recordEffect } from './effects.js';
import { Evaluation } from './evaluation.js';
import { failures } from './failures.js';
import { fits } from './nodes/wait.js';
import type { NodeRecord } from './records.js';
import type { AbandonedRow } from './rows.js';
import { succeed } from './settle.js';
import { containerOf } from './state.js';
import { stopContainer, withdraw } from './stop.js';
import { readerIn, type Transition } from './transition.js';
import { compensationReturned } from './undo.js';

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

/** A command that calls a tool. */
export type ToolCall = Extract<Command, { kind: 'callTool' }>;

/** Key of the row of a call of which nothing is known. */
function unknownKey({ node, generation }: Pick<ToolCall, 'node' | 'generation'>): string {
  return `${node}@${generation}`;
}

/** Notes a call that may have taken effect although it failed. */
export function noteUnknown(transition: Transition, call: ToolCall, failure: Failure): void {
  const { state } = transition;
  if (failure.outcomeUnknown !== true || state.safetyOf(call.tool) === 'readOnly') return;
  const key = unknownKey(call);
  const known = state.unknown.get(key);
  const seq = known?.seq ?? transition.nextSeq();
  const attempts = [...(known?.attempts ?? []), call.id];
  state.unknown.put(key, { seq, step: call.node, tool: call.tool, attempts });
}

/**
 * A call succeeded. Its earlier attempts are the same call where the tool sees to it; else one of them may have taken
 * effect besides.
 */
function resolveUnknown({ state }: Transition, node: NodeRecord, call: ToolCall): void {
  const unknown = state.tables.known('unknown');
  if (unknown === undefined || unknown.size === 0) return;
  const key = unknownKey(call);
  const row = unknown.get(key);
  if (row === undefined) return;
  const safety = state.safetyOf(call.tool);
  if (safety !== 'idempotent' && safety !== 'key') return;
  unknown.delete(key);
  if (node.planned.node.compensate !== undefined) return;
  // Their late successes are this one, and nothing undoes it.
  for (const id of row.attempts) state.abandoned.delete(id);
}

/** Remembers a call that was abandoned, so that its success is recorded when it comes. */
export function abandon(transition: Transition, call: ToolCall): void {
  const { state } = transition;
  if (state.safetyOf(call.tool) === 'readOnly') return;
  const node = state.find(call.node);
  const { id, generation } = call;
  const row = { node: node.key, generation };
  const [planned] = node.planned.compensations;
  const known = planned === undefined ? {} : knownTo(transition, node, planned);
  state.abandoned.put(id, { ...row, ...known });
}

/** What the compensation of a call refers to besides the call's own output. */
function knownTo(
  transition: Transition,
  { planned, scope }: NodeRecord,
  { compensation, refersTo }: PlannedCompensation,
): Pick<AbandonedRow, 'known' | 'succeeded'> {
  const known: Record<string, JsonObject> = {};
  const reader = readerIn(transition, scope);
  for (const { ref } of references(compensation.input)) {
    const [name] = ref.path;
    if (name === undefined) continue;
    if (ref.root === 'steps' && name === planned.node.id) continue;
    const value = reader.lookup(ref.root, name);
    if (value !== undefined) known[ref.root] = { ...known[ref.root], [String(name)]: value };
  }
  const succeeded = refersTo.flatMap((each) => (each === undefined ? [] : [each.node.id]));
  return { known, succeeded: succeeded.filter((id) => reader.hasSucceeded(id)) };
}

/** A call that was abandoned succeeded: its effect is recorded, and nothing else changes. */
export function lateSuccess(transition: Transition, command: string, value: Value): boolean {
  const row = forgetAbandoned(transition, command);
  if (row === undefined) return false;
  const node = transition.state.find(row.node);
  const reader = new LateReader(transition, node, row, value);
  recordEffect(transition, node, row.generation, reader);
  return true;
}

/** A call that was abandoned had not been made. */
export function lateRefusal(transition: Transition, command: string): boolean {
  return forgetAbandoned(transition, command) !== undefined;
}

function forgetAbandoned({ state }: Transition, command: string): AbandonedRow | undefined {
  const { abandoned, unknown } = state;
  const call = abandoned.get(command);
  if (call === undefined) return undefined;
  abandoned.delete(command);
  const key = unknownKey(call);
  const row = unknown.get(key);
  const attempts = row?.attempts.filter((id) => id !== command) ?? [];
  if (row === undefined) return call;
  if (attempts.length === 0) unknown.delete(key);
  else unknown.put(key, { ...row, attempts });
  return call;
}

/** Reads what a compensation refers to as it was when its call was abandoned. */
class LateReader extends Evaluation {
  readonly #id: string;
  readonly #row: AbandonedRow;
  readonly #value: Value;

  constructor({ state, budget }: Transition, node: NodeRecord, row: AbandonedRow, value: Value) {
    super(state, budget, node.scope);
    this.#id = node.planned.node.id;
    this.#row = row;
    this.#value = value;
  }

  override lookup(root: RefRoot, name: string | number): Value {
    if (root === 'steps' && name === this.#id) return this.#value;
    const values = this.#row.known?.[root];
    return values === undefined ? undefined : ownProperty(values, String(name));
  }

  override hasSucceeded(id: string): boolean {
    return this.#row.succeeded?.includes(id) === true;
  }
}
