import { type JsonObject, unreachable, type Value } from '../../graph/json.js';
import { DEFAULT_TIMEOUT_MS } from '../../graph/limits.js';
import type { Plan } from '../../plan/plan.js';
import { isClientWork } from './actions.js';
import { actionDelivered, actionFailed, actionSubmitted, remind, valueRefused } from './answers.js';
import { attemptDueAt, attemptFailed, complete, scheduleNextAttempt, tryAgain } from './attempt.js';
import type { Advance } from './contract.js';
import { lateRefusal, lateSuccess, recordEffect, recordUnknown, resolveUnknown } from './effects.js';
import type { Event, Fact, Failure, OwedCommand, StartIds } from './events.js';
import { failures } from './failures.js';
import { onOwnResource, ownReadFailed } from './nodes/begin.js';
import { nodeRecord } from './read.js';
import type { NodeRecord } from './records.js';
import type { StartRow } from './rows.js';
import { cancelRun, endWithFault, resumeRemainingWork, runActivations } from './scheduler.js';
import { openScope } from './scopes.js';
import { isPaused, reportShown, stopContainer, succeed, withdraw } from './settle.js';
import { checkGraph, containerOf, ENGINE_VERSION, nodeOf, RunState } from './state.js';
import type { Draft } from './tables.js';
import { DEFAULT_LIMITS, type Limits, Transition } from './transition.js';
import { compensationReturned } from './undo.js';

/**
 * Starts a run and does all work that needs no event.
 *
 * A graph that this engine cannot run, for example one with a node kind of a later version, gives a run that failed with a
 * named failure before any node started.
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
    runActivations(transition);
  }
  return transition.finish(0);
}

/** The state of a run that ended before its first step because of a failure outside the engine. */
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
  // Waiting runs keep this object. Adding a property after creation would cost an extra allocation.
  const start: Draft<StartRow> =
    random === undefined
      ? { workflow, graphHash, startedAt: at, input, tools }
      : { workflow, graphHash, startedAt: at, input, tools, random };
  if (deadlineAt !== undefined) start.deadlineAt = deadlineAt;
  return new RunState(plan, runId, start);
}

/** How many event ids a run remembers for deduplication. */
const REMEMBERED_EVENTS = 64;

/**
 * Applies events to a run, in order, and does all work that needs no further event. Changes `state` in place and returns
 * it, so that the cost depends on the rows touched and not on the size of the run. Any partition of the events into calls
 * gives the same state, commands and facts.
 *
 * A transition ends at `limits.activations`, with `more`: the state owes the rest, and calls without events continue it.
 * Until then no event is read; `consumed` is the number of events read.
 *
 * An event that answers no outstanding command (late, repeated, unknown, or for a run that has ended) changes nothing, nor
 * does an answer that does not match its action. Only the late success of a call is recorded, so that it can be undone.
 *
 * @throws GraphMismatchError when `plan` is not of the graph the run was started on.
 */
export function advance(
  plan: Plan,
  state: RunState,
  events: readonly Event[],
  limits: Limits = DEFAULT_LIMITS,
): Advance {
  if (plan !== state.plan) checkGraph(state.run.id, state.run.graphHash, plan);
  const { remainingWork } = state.run;
  const transition = new Transition(state, remainingWork?.at ?? events[0]?.at ?? 0, limits);
  if (remainingWork !== undefined) {
    resumeRemainingWork(transition, remainingWork);
    runActivations(transition);
  }
  let consumed = 0;
  for (const event of events) {
    if (state.run.remainingWork !== undefined) break;
    consumed += 1;
    apply(transition, event);
  }
  return transition.finish(consumed);
}

function apply(transition: Transition, event: Event): void {
  const { state } = transition;
  if (state.run.status !== 'running' || isRepeated(state, event)) return;
  transition.beginEvent(event.at, event.kind === 'cancelled' ? event.notStarted : undefined);
  if (!applyByKind(transition, event)) return;
  rememberEvent(transition, event);
  runActivations(transition);
}

function isRepeated(state: RunState, { id }: Event): boolean {
  if (id === undefined) return false;
  for (const [, row] of state.eventIds.rows()) if (row.id === id) return true;
  return false;
}

function rememberEvent(transition: Transition, { id }: Event): void {
  const { state } = transition;
  if (state.run.engineVersion !== ENGINE_VERSION) transition.changeRun().engineVersion = ENGINE_VERSION;
  if (id === undefined) return;
  const { eventIds } = state;
  let index = 0;
  for (const [, row] of eventIds.rows()) index = Math.max(index, row.index + 1);
  eventIds.put(String(index % REMEMBERED_EVENTS), { id, index });
}

/** Applies an event. False if it changes nothing. */
function applyByKind(transition: Transition, event: Event): boolean {
  switch (event.kind) {
    case 'cancelled':
      return cancelRun(transition, event);
    case 'retryRequested':
      return retryRequested(transition, event.node);
    case 'outcomeDecided':
      return outcomeDecided(transition, event);
    default:
      return applyAnswer(transition, event);
  }
}

function applyAnswer(transition: Transition, event: Extract<Event, { readonly command: string }>): boolean {
  const owed = transition.state.owed.get(event.command);
  if (owed === undefined) return applyLateAnswer(transition, event);
  const { command } = owed;
  if (command === undefined) return false;
  const node = nodeOf(owed);
  switch (event.kind) {
    case 'toolReturned':
      return command.kind === 'callTool' && callReturned(transition, node, command, event.value);
    case 'resourceRead':
      if (command.kind !== 'readResource') return false;
      return command.isOwn
        ? onOwnResource(transition, node, command, event.value)
        : callReturned(transition, node, command, event.value);
    case 'evaluated':
      return command.kind === 'evaluate' && callReturned(transition, node, command, event.value);
    case 'toolFailed':
      return command.kind === 'callTool' && callFailed(transition, node, command, event);
    case 'resourceFailed':
      return command.kind === 'readResource' && callFailed(transition, node, command, event);
    case 'evaluationFailed':
      return command.kind === 'evaluate' && callFailed(transition, node, command, event);
    case 'actionSubmitted':
      return command.kind === 'requestAction' && actionSubmitted(transition, node, command, event);
    case 'valueRefused':
      return command.kind === 'requestAction' && valueRefused(transition, node, command, event.problems);
    case 'actionFailed':
      return command.kind === 'requestAction' && actionFailed(transition, node, command, event.failure);
    case 'actionDelivered':
      return command.kind === 'requestAction' && actionDelivered(transition, node, command);
    case 'timerFired':
      return timerFired(transition, node, command);
    default:
      return unreachable(event);
  }
}

/** Applies the answer to an abandoned call. */
function applyLateAnswer(
  transition: Transition,
  event: Extract<Event, { readonly command: string }>,
): boolean {
  if (event.kind === 'toolReturned') return lateSuccess(transition, event.command, event.value);
  return event.kind === 'toolFailed' && !event.attempted && lateRefusal(transition, event.command);
}

/** A command that is one attempt of its node, or a compensation. */
type Call = Extract<OwedCommand, { kind: 'callTool' | 'readResource' | 'evaluate' }>;

/** The call of a node, where the node waits for its result. */
function callOf({ state }: Transition, key: string): { node: NodeRecord; call: ToolCommand } | undefined {
  const node = nodeRecord(state, key);
  return node?.command?.kind === 'callTool' ? { node, call: node.command } : undefined;
}

/** An operator knows what became of a call. [N11] */
function outcomeDecided(
  transition: Transition,
  { node: key, outcome }: Extract<Event, { kind: 'outcomeDecided' }>,
): boolean {
  const inFlight = callOf(transition, key);
  if (inFlight === undefined) return false;
  const { node, call } = inFlight;
  if (outcome.kind === 'happened') return callReturned(transition, node, call, outcome.value);
  if (!isLate(transition)) return callAgain(transition, node, call);
  return callFailed(transition, node, call, { failure: failures.deadlinePassed(), attempted: false });
}

function retryRequested(transition: Transition, key: string): boolean {
  const paused = nodeRecord(transition.state, key);
  if (paused !== undefined && isPaused(paused)) {
    withdraw(transition, paused.command, failures.cancelledElsewhere());
    tryAgain(transition, paused);
    return true;
  }
  const inFlight = callOf(transition, key);
  if (inFlight === undefined) return false;
  const { node, call } = inFlight;
  if (!isLate(transition)) return callAgain(transition, node, call);
  commandTimedOut(transition, node, call);
  return true;
}

function isLate({ state, at }: Transition): boolean {
  return (state.run.deadlineAt ?? Number.POSITIVE_INFINITY) <= at;
}

/** The call is made again, with its id and key: it is still the same attempt, with a new limit. [N11] */
function callAgain(transition: Transition, node: NodeRecord, call: ToolCommand): true {
  transition.settleCommand(call.id);
  const { kind, id, tool, input, attempt, generation, key } = call;
  const dueAt = attemptDueAt(transition, node);
  transition.issueCommand(node, {
    ...{ kind, id, node: node.key, tool, input, attempt, generation, key, dueAt, seq: 0 },
  });
  return true;
}

type ToolCommand = Extract<OwedCommand, { kind: 'callTool' }>;

type Timer = Extract<OwedCommand, { kind: 'startTimer' }>;

function callReturned(transition: Transition, node: NodeRecord, call: Call, value: Value): true {
  transition.settleCommand(call.id);
  reportReturned(transition, call, true, { ok: true, value: value ?? null });
  if (call.kind !== 'callTool') {
    complete(transition, node, value);
    return true;
  }
  if (call.isCompensation) {
    compensationReturned(transition, call);
    return true;
  }
  resolveUnknown(transition, node, call);
  // The input of the compensation may refer to the output. Undoing may begin as soon as the node succeeds.
  node.output = value;
  recordEffect(transition, node, call.generation);
  complete(transition, node, value);
  return true;
}

type CallFailure = Pick<ToolFailed, 'failure'> & Partial<Pick<ToolFailed, 'attempted' | 'acted'>>;
type ToolFailed = Extract<Event, { readonly kind: 'toolFailed' }>;

function callFailed(
  transition: Transition,
  node: NodeRecord,
  call: Call,
  { failure, attempted = true, acted }: CallFailure,
): true {
  transition.settleCommand(call.id);
  if (call.kind === 'readResource' && call.isOwn) {
    reportShown(transition, call, { ok: false, failure });
    ownReadFailed(transition, node, failure);
    return true;
  }
  reportReturned(transition, call, attempted, { ok: false, failure });
  if (call.kind === 'callTool' && call.isCompensation) {
    compensationReturned(transition, call, failure);
    return true;
  }
  if (call.kind === 'callTool' && attempted) recordUnknown(transition, call, failure);
  const wouldActAgain =
    acted === true && call.kind === 'callTool' && transition.state.safetyOf(call.tool) === 'none';
  attemptFailed(transition, node, { failure, attempted, isPermanent: !attempted || wouldActAgain });
  return true;
}

/** Handles a timeout, a deadline, or the end of a backoff or a `wait`. */
function timerFired(transition: Transition, node: NodeRecord, command: OwedCommand): boolean {
  if (command.kind === 'startTimer') timerElapsed(transition, node, command);
  else if (command.kind === 'requestAction' && command.reminder !== undefined)
    remind(transition, node, command);
  else if (command.dueAt === undefined || isRemindedAgain(transition, command)) return false;
  else if (command.kind === 'callTool' && command.isCompensation) {
    withdraw(transition, command, failures.timeout(DEFAULT_TIMEOUT_MS));
  } else commandTimedOut(transition, node, command);
  return true;
}

/** The reminder of a question has come once more: its limit comes later. */
function isRemindedAgain({ at }: Transition, command: OwedCommand): boolean {
  return command.kind === 'requestAction' && command.remindedAt !== undefined && at < (command.dueAt ?? 0);
}

function timerElapsed(transition: Transition, node: NodeRecord, { id, purpose }: Timer): void {
  transition.settleCommand(id);
  switch (purpose) {
    case 'wait':
      succeed(transition, node, undefined);
      return;
    case 'backoff':
      scheduleNextAttempt(transition, node);
      return;
    case 'timeout':
    case 'deadline':
      if (node.planned.node.kind === 'wait') {
        const isPermanent = purpose === 'deadline';
        attemptFailed(transition, node, { failure: waitTimeoutFailure(node, isPermanent), isPermanent });
      } else containerTimedOut(transition, node);
      return;
  }
}

function containerTimedOut(transition: Transition, node: NodeRecord): void {
  const container = transition.change(containerOf(node));
  container.failure = failures.waitTimeout(node.planned.node.timeoutMs ?? 0);
  // The timeout replaces an earlier failure of a part.
  container.isPermanent = false;
  container.failedPart = undefined;
  const stop = { how: 'abort', reason: 'upstream_failed', failure: failures.cancelledElsewhere() } as const;
  stopContainer(transition, node, container, stop);
}

function commandTimedOut(
  transition: Transition,
  node: NodeRecord,
  command: Exclude<OwedCommand, Timer>,
): void {
  // The limit of a call may count from later than its command says: see `dueAtAgain`.
  const byDeadline = isLate(transition) || command.dueAt === transition.state.run.deadlineAt;
  const failure = timeoutFailure(node, command, byDeadline);
  withdraw(transition, command, failure);
  if (command.kind === 'readResource' && command.isOwn) ownReadFailed(transition, node, failure);
  else attemptFailed(transition, node, { failure, isPermanent: byDeadline });
}

/** Evaluations are internal to the run and have no fact. */
function reportReturned(
  transition: Transition,
  { kind, id, node }: Call,
  attempted: boolean,
  outcome: Extract<Fact, { kind: 'callReturned' }>['outcome'],
): void {
  if (kind === 'evaluate') return;
  transition.report({ kind: 'callReturned', node, command: id, attempted, outcome });
}

function timeoutFailure(
  node: NodeRecord,
  command: Exclude<OwedCommand, Timer>,
  byDeadline: boolean,
): Failure {
  const limit = node.planned.node.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  switch (command.kind) {
    case 'callTool':
    case 'readResource':
      return byDeadline ? failures.deadline() : failures.timeout(limit);
    case 'evaluate':
      return byDeadline ? failures.evaluationDeadline() : failures.evaluationTimeout(limit);
    case 'requestAction': {
      const { action } = command;
      if (!isClientWork(action) || byDeadline) return waitTimeoutFailure(node, byDeadline);
      return failures.waitTimeout(action.timeoutMs);
    }
  }
}

function waitTimeoutFailure({ planned: { node } }: NodeRecord, byDeadline: boolean): Failure {
  return byDeadline ? failures.waitDeadline() : failures.waitTimeout(node.timeoutMs ?? DEFAULT_TIMEOUT_MS);
}
