import { defined } from '../../graph/defined.js';
import type { JsonObject } from '../../graph/json.js';
import type { RunState } from '../engine/contract.js';
import type { RunMask } from '../secrets/run-mask.js';
import type { ActionHistory } from './actions/action-history.js';
import type { Children } from './actions/children.js';
import type { RunRecord } from './actions/run-record.js';
import type { RequestedRun } from './deliveries.js';
import type { Clock } from './run/clock.js';
import type { Envelope, LiveStatus } from './run/envelope.js';
import { nextStepOf } from './run/open-actions.js';
import type { RunReading, RunStatus, Waiter } from './run-store.js';
import { WaitingRequest } from './waiting-requests.js';

/** A run that gives out actions. */
interface DeliveringRun {
  readonly questions: { undelivered(child?: string): readonly string[] };
  whenSafe(look: () => void): void;
  deliverActions(actions: readonly string[], onSafe: () => void): void;
}

/** A run with children, as the requests of their agents see it. */
interface ParentRun extends DeliveringRun {
  readonly live:
    | { readonly isSafe: boolean; readonly liveStatus: LiveStatus; readonly state: RunState }
    | undefined;
  readonly mask: RunMask;
  readonly actions: ActionHistory;
  readonly children: Children;
  readonly clock: Clock;
  readonly waiting: { watch(watcher: () => void): void; unwatch(watcher: () => void): void };
  touch(): void;
}

type NextStep = ReturnType<typeof nextStepOf>;

/** What the agent of a child does next. Undefined for a child that the run does not have. */
function stepOf({ live, mask, actions, children, clock }: ParentRun, id: string): NextStep | undefined {
  const child = children.get(id);
  const view = live && { state: live.state, mask, record: { actions, children } };
  return child && nextStepOf(child, { mask, view, now: clock.now() });
}

/**
 * Waits for the next step of a child. Answers when there is one, when the child is over, when its next step depends on
 * others than the server, or at the limit of the request. The step is delivered before.
 */
export async function awaitStep(
  run: ParentRun,
  child: string,
  { request: { signal }, answerMs }: Pick<Waiter, 'request' | 'answerMs'>,
): Promise<NextStep | undefined> {
  await new Promise<void>((resolve) => {
    const { waiting } = run;
    const end = (): void => {
      stopTimer();
      signal.removeEventListener('abort', end);
      waiting.unwatch(look);
      run.touch();
      resolve();
    };
    const look = (): void => {
      if (run.live?.isSafe === false) return;
      if (run.live?.liveStatus !== 'busy' || stepOf(run, child)?.status !== 'waiting') end();
    };
    const stopTimer = run.clock.setTimer(end, answerMs);
    signal.addEventListener('abort', end, { once: true });
    waiting.watch(look);
    run.touch();
    look();
  });
  await delivered(run, child);
  return stepOf(run, child);
}

/** A run as its caller sees it, with what its status is made of. */
interface ShownRun extends RequestedRun {
  readonly safeEnvelope: Promise<Envelope>;
  readonly state: JsonObject;
  /** In ms since the epoch. */
  readonly startedAt: number;
  /** Missing while it is not over. */
  readonly endedAt: number | undefined;
  readonly record: RunRecord;
}

/** The state of a run for a response, which delivers its actions. */
export async function statusOf(
  run: ShownRun,
  { state = false, waiter, onChange }: RunReading = {},
): Promise<RunStatus> {
  run.touch();
  if (waiter !== undefined) {
    const changed = onChange && (() => onChange(statusWith(run, run.envelope)));
    const request = new WaitingRequest(run, { ...waiter, ...defined({ onChange: changed }) });
    request.open();
    return statusWith(run, await request.envelope);
  }
  await delivered(run);
  const envelope = await run.safeEnvelope;
  return statusWith(run, state ? { ...envelope, state: run.state } : envelope);
}

function statusWith({ startedAt, endedAt, record }: ShownRun, envelope: Envelope): RunStatus {
  const { actions, task } = record;
  const updatedAt = endedAt ?? actions.latestAt ?? startedAt;
  return { ok: true, envelope, startedAt, updatedAt, ...defined({ endedAt, task }) };
}

/**
 * Resolves when the actions that a response is about to show are delivered: all of the caller of the run, or the first one
 * of a child.
 */
function delivered(run: DeliveringRun, child?: string): Promise<void> {
  return new Promise((resolve) => {
    run.whenSafe(() => {
      const actions = run.questions.undelivered(child);
      run.deliverActions(child === undefined ? actions : actions.slice(0, 1), resolve);
    });
  });
}
