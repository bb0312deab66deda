import { DEFAULT_TIMEOUT_MS } from '../../graph/defaults.js';
import type { JsonObject, Value } from '../../graph/json.js';
import { unreachable } from '../../graph/unreachable.js';
import type { Plan } from '../../plan/plan.js';
import { attemptFailed, goOn } from './attempt.js';
import type { Advance } from './contract.js';
import {
  lateRefusal,
  lateSuccess,
  noteUnknown,
  recordEffect,
  resolveUnknown,
  type ToolCall,
} from './effects.js';
import type { Event, Fact, Failure, OwedCommand, StartIds } from './events.js';
import { failures } from './failures.js';
import { fits } from './nodes/wait.js';
import type { NodeRecord } from './records.js';
import type { StartRow } from './rows.js';
import { cancelRun, endWithFault, runOn, takeUp } from './scheduler.js';
import { openScope } from './scopes.js';
import { stopContainer, succeed, withdraw } from './settle.js';
import { checkGraph, containerOf, ENGINE_VERSION, nodeOf, RunState } from './state.js';
import type { Draft } from './tables.js';
import { DEFAULT_LIMITS, type Limits, Transition } from './transition.js';
import { compensationReturned } from './undo.js';

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
  const state = stateAtStart(plan, input, ids);
  const transition = new Transition(state, ids.at, limits);
  transition.change(state.start);
  transition.changeRun();
  limits.rehearsal?.prepare(state);
  if (plan.fault !== undefined) {
    endWithFault(transition, plan.graph, plan.fault);
  } else {
    openScope(transition, state.root);
    runOn(transition);
  }
  return transition.finish(0);
}

/** The state of a run that ended before its first step, because something else failed that it needs. */
export function failedAtStart(
  plan: Plan,
  input: JsonObject,
  ids: StartIds,
  { status, failure }: { readonly status: 'failed' | 'cancelled'; readonly failure: Failure },
): RunState {
  const state = stateAtStart(plan, input, ids);
  state.run.status = status;
  state.run.failure = failure;
  return state;
}

function stateAtStart(
  plan: Plan,
  input: JsonObject,
  { runId, at, random, deadlineAt, tools = {} }: StartIds,
): RunState {
  const { hash: graphHash } = plan;
  const { name: workflow } = plan.graph;
  // Runs that wait keep this: a property that is added to an object takes an object of its own.
  const start: Draft<StartRow> =
    random === undefined
      ? { workflow, graphHash, startedAt: at, input, tools }
      : { workflow, graphHash, startedAt: at, input, tools, random };
  if (deadlineAt !== undefined) start.deadlineAt = deadlineAt;
  return new RunState(plan, runId, start);
}

/** Thrown by `advance` for an event that a later version will understand. Nothing has changed. */
export class ReservedEventError extends Error {
  constructor(kind: string) {
    super(`Events of kind '${kind}' are reserved for a later version, and this one cannot apply them.`);
    this.name = 'ReservedEventError';
  }
}

const RESERVED: ReadonlySet<Event['kind']> = new Set(['nodeSubmitted', 'retryRequested', 'outcomeDecided']);

/** Ids of so many events are remembered. */
const REMEMBERED_EVENTS = 64;

/**
 * Takes a run further by some events, in order, as far as it gets without another answer. Consumes `state`: it is changed
 * in place and returned, so that the cost depends on the rows touched and not on the size of the run. However events are
 * divided among calls, the state, the commands and the facts are the same.
 *
 * A call stops at `limits.activations`, with `more`: the state owes the rest, which calls without events go on with.
 * Until then no event is read; `consumed` says how many were.
 *
 * An event that answers nothing outstanding (late, repeated, unknown, or for a run that has ended) changes nothing, and
 * neither does an answer that does not fit. Only the late success of a call is recorded, so that it can be undone.
 *
 * @throws GraphMismatchError when `plan` is not of the graph the run was started on.
 * @throws ReservedEventError for an event of a later version.
 */
export function advance(
  plan: Plan,
  state: RunState,
  events: readonly Event[],
  limits: Limits = DEFAULT_LIMITS,
): Advance {
  if (plan !== state.plan) checkGraph(state.run.id, state.run.graphHash, plan);
  const reserved = events.find(({ kind }) => RESERVED.has(kind));
  if (reserved !== undefined) throw new ReservedEventError(reserved.kind);
  const { owed } = state.run;
  const transition = new Transition(state, owed?.at ?? events[0]?.at ?? 0, limits);
  if (owed !== undefined) {
    takeUp(transition, owed);
    runOn(transition);
  }
  let consumed = 0;
  for (const event of events) {
    if (state.run.owed !== undefined) break;
    consumed += 1;
    apply(transition, event);
  }
  return transition.finish(consumed);
}

function apply(transition: Transition, event: Event): void {
  const { state } = transition;
  if (state.run.status !== 'running' || isRepeated(state, event)) return;
  transition.beginEvent(event.at, event.kind === 'cancelled' ? event.notStarted : undefined);
  if (!take(transition, event)) return;
  remember(transition, event);
  runOn(transition);
}

function isRepeated(state: RunState, { id }: Event): boolean {
  if (id === undefined) return false;
  for (const [, row] of state.eventIds.rows()) if (row.id === id) return true;
  return false;
}

function remember(transition: Transition, { id }: Event): void {
  const { state } = transition;
  if (state.run.engineVersion !== ENGINE_VERSION) transition.changeRun().engineVersion = ENGINE_VERSION;
  if (id === undefined) return;
  const { eventIds } = state;
  let place = 0;
  for (const [, row] of eventIds.rows()) place = Math.max(place, row.place + 1);
  eventIds.put(String(place % REMEMBERED_EVENTS), { id, place });
}

/** Applies an event. False when nothing was waiting for it. */
function take(transition: Transition, event: Event): boolean {
  switch (event.kind) {
    case 'cancelled':
      return cancelRun(transition, event);
    case 'nodeSubmitted':
    case 'retryRequested':
    case 'outcomeDecided':
      return false;
    default:
      return takeAnswer(transition, event);
  }
}

function takeAnswer(transition: Transition, event: Extract<Event, { readonly command: string }>): boolean {
  const owed = transition.state.owed.get(event.command);
  if (owed === undefined) return takeLate(transition, event);
  const { command } = owed;
  if (command === undefined) return false;
  const node = nodeOf(owed);
  switch (event.kind) {
    case 'toolReturned':
      return command.kind === 'callTool' && answered(transition, node, command, event.value);
    case 'resourceRead':
      return command.kind === 'readResource' && answered(transition, node, command, event.value);
    case 'evaluated':
      return command.kind === 'evaluate' && answered(transition, node, command, event.value);
    case 'toolFailed':
      return command.kind === 'callTool' && failed(transition, node, command, event.failure, event.attempted);
    case 'resourceFailed':
      return command.kind === 'readResource' && failed(transition, node, command, event.failure, true);
    case 'evaluationFailed':
      return command.kind === 'evaluate' && failed(transition, node, command, event.failure, true);
    case 'actionSubmitted':
      return command.kind === 'requestAction' && submitted(transition, node, command, event);
    case 'actionFailed':
      return command.kind === 'requestAction' && refused(transition, node, command, event.failure);
    case 'timerFired':
      return timerFired(transition, node, command);
    default:
      return unreachable(event);
  }
}

/** The answer to a call that was abandoned. */
function takeLate(transition: Transition, event: Extract<Event, { readonly command: string }>): boolean {
  if (event.kind === 'toolReturned') return lateSuccess(transition, event.command, event.value);
  return event.kind === 'toolFailed' && !event.attempted && lateRefusal(transition, event.command);
}

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
