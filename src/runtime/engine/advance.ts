import { unreachable } from '../../graph/unreachable.js';
import type { Plan } from '../../plan/plan.js';
import { runOn } from './activation.js';
import { answered, failed, refused, submitted, timerFired } from './answers.js';
import type { Advance, Event, RunState } from './contract.js';
import { takeUp } from './owed.js';
import { cancelRun } from './run-end.js';
import { beginEvent, DEFAULT_LIMITS, type Limits, openTurn, type Turn } from './turn.js';
import { lateRefusal, lateSuccess } from './unknown.js';
import { checkPlan, checkVersion, ENGINE_VERSION } from './version.js';

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
 * @throws StateVersionError for a state that this engine cannot read.
 * @throws ReservedEventError for an event of a later version.
 */
export function advance(
  plan: Plan,
  state: RunState,
  events: readonly Event[],
  limits: Limits = DEFAULT_LIMITS,
): Advance {
  checkVersion(state);
  checkPlan(plan, state);
  const reserved = events.find(({ kind }) => RESERVED.has(kind));
  if (reserved !== undefined) throw new ReservedEventError(reserved.kind);
  const { owed } = state.run;
  const turn = openTurn(plan, state, { at: owed?.at ?? events[0]?.at ?? 0, activations: limits.activations });
  if (owed !== undefined) {
    takeUp(turn, owed);
    runOn(turn);
  }
  let consumed = 0;
  for (const event of events) {
    if (turn.recorder.run.owed !== undefined) break;
    consumed += 1;
    apply(turn, event);
  }
  return turn.recorder.advance(consumed);
}

function apply(turn: Turn, event: Event): void {
  const { recorder } = turn;
  if (recorder.run.status !== 'running' || isRepeated(turn, event)) return;
  beginEvent(turn, event.at, event.kind === 'cancelled' ? event.notStarted : undefined);
  if (!take(turn, event)) return;
  remember(turn, event);
  runOn(turn);
}

function isRepeated({ recorder }: Turn, { id }: Event): boolean {
  return id !== undefined && recorder.run.eventIds?.includes(id) === true;
}

function remember({ recorder }: Turn, { id }: Event): void {
  const run = recorder.run;
  if (run.engineVersion !== ENGINE_VERSION) recorder.draftRun().engineVersion = ENGINE_VERSION;
  if (id === undefined) return;
  recorder.draftRun().eventIds = [...(run.eventIds ?? []), id].slice(-REMEMBERED_EVENTS);
}

/** Applies an event. False when nothing was waiting for it. */
function take(turn: Turn, event: Event): boolean {
  switch (event.kind) {
    case 'cancelled':
      return cancelRun(turn, event);
    case 'nodeSubmitted':
    case 'retryRequested':
    case 'outcomeDecided':
      return false;
    default:
      return takeAnswer(turn, event);
  }
}

function takeAnswer(turn: Turn, event: Extract<Event, { readonly command: string }>): boolean {
  const command = turn.recorder.tables.commands.get(event.command);
  if (command === undefined) return takeLate(turn, event);
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
      return command.kind === 'requestAction' && submitted(turn, command, event);
    case 'actionFailed':
      return command.kind === 'requestAction' && refused(turn, command, event.failure);
    case 'timerFired':
      return timerFired(turn, command);
    default:
      return unreachable(event);
  }
}

/** The answer to a call that was given up. */
function takeLate(turn: Turn, event: Extract<Event, { readonly command: string }>): boolean {
  if (event.kind === 'toolReturned') return lateSuccess(turn, event.command, event.value);
  return event.kind === 'toolFailed' && !event.attempted && lateRefusal(turn, event.command);
}
