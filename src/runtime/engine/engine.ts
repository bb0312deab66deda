import type { JsonObject } from '../../graph/json.js';
import { unreachable } from '../../graph/unreachable.js';
import type { Plan } from '../../plan/plan.js';
import { runOn, takeUp } from './activation.js';
import { answered, failed, refused, submitted, timerFired } from './answers.js';
import { cancelRun, endWithFault } from './completion.js';
import type { Advance, Event, Failure, StartIds } from './contract.js';
import type { StartRow } from './rows.js';
import { openScope } from './scopes.js';
import { checkGraph, ENGINE_VERSION, nodeOf, RunState } from './state.js';
import type { Draft } from './tables.js';
import { DEFAULT_LIMITS, type Limits, Transition } from './transition.js';
import { lateRefusal, lateSuccess } from './unknown.js';

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
