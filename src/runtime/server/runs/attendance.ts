import { unreachable } from '../../../graph/unreachable.js';
import { thrownText } from '../../catalogue/thrown.js';
import { timerId } from '../../engine/commands.js';
import type { Action, Failure, RunState } from '../../engine/contract.js';
import type { Clock } from '../../hosts/in-process/clock.js';
import type { LiveRun } from '../../hosts/in-process/live-run.js';
import { ConnectionClosed } from '../request.js';
import type { Envelope } from './envelope.js';
import { Interview, type Question } from './interview.js';
import type { Attendant, Submission } from './run-store.js';
import { texts } from './texts.js';

/** A run as a request sees it that waits for it. */
export interface Attended {
  readonly clock: Clock;
  /** Missing when the run is over. */
  readonly live: LiveRun | undefined;
  readonly envelope: Envelope;
  /** From then on the watcher is told whenever the run has got as far as it gets for now. */
  join(attendant: Attendant, watcher: () => void): void;
  leave(attendant: Attendant, watcher: () => void): void;
  giveUp(reason: string): void;
  questions(): readonly Question[];
  /** What a question asks, without secrets. */
  shown(question: Question): Action;
  /** See `Interviewed`. */
  claim(question: Question): boolean;
  letGo(question: Question): void;
  take(
    question: Question,
    answer: Pick<Submission, 'result'> | { readonly failure: Failure },
    response: Promise<Envelope>,
  ): boolean;
}

/**
 * Moves a run on during a request, and answers when it is over, when nothing of it goes on without an answer that
 * cannot be had from the user here and now, when only a time can move it on that comes too late for this request, or when
 * the request's own time is up. Where the caller goes away, the run is cancelled or goes on, as the attendant says.
 */
export function attend(run: Attended, attendant: Attendant, move: () => void): Promise<Envelope> {
  const { request, answerMs, cancels = false, conclude } = attendant;
  const endsAt = run.clock.now() + answerMs;
  // The state outlasts the run in this one place: whoever watches is told of its end.
  const state = run.live?.state;
  /** False before the run was moved on, and after the answer. */
  let isOpen = false;
  let give: (envelope: Envelope) => void = () => {};
  const answer = new Promise<Envelope>((resolve) => {
    give = resolve;
  });
  const interview =
    request.elicit === undefined
      ? undefined
      : new Interview(request.elicit, {
          questions: () => run.questions(),
          shown: (question) => run.shown(question),
          claim: (question) => run.claim(question),
          letGo: (question) => run.letGo(question),
          take: (question, given) => run.take(question, given, answer),
          moved: () => look(),
        });

  const end = (): void => {
    isOpen = false;
    stopTimer();
    request.signal.removeEventListener('abort', onAbort);
    run.leave(attendant, look);
    interview?.end();
    const { envelope } = run;
    if (state !== undefined) conclude?.(state, envelope);
    give(envelope);
  };
  const look = (): void => {
    if (!isOpen) return;
    if (run.live !== undefined) {
      interview?.look();
      if (interview?.isUnderWay || !rests(run.live, endsAt)) return;
    }
    end();
  };
  // A connection that is lost is no cancellation: the run can be found from another one.
  const endsRun = (): boolean => cancels && !(request.signal.reason instanceof ConnectionClosed);
  const onAbort = (): void => {
    if (endsRun()) run.giveUp(reasonOf(request.signal));
    else if (isOpen) end();
  };
  const stopTimer = run.clock.setTimer(() => {
    if (isOpen) end();
  }, answerMs);

  run.join(attendant, look);
  request.signal.addEventListener('abort', onAbort, { once: true });
  if (request.signal.aborted) onAbort();
  move();
  isOpen = true;
  if (request.signal.aborted && !endsRun()) end();
  else look();
  return answer;
}

/** Whether there is nothing to wait for that would come in time. */
function rests({ standing, state }: LiveRun, endsAt: number): boolean {
  switch (standing) {
    case 'over':
    case 'asking':
      return true;
    case 'sleeping':
      return nextDue(state) >= endsAt;
    case 'busy':
      return false;
    default:
      return unreachable(standing);
  }
}

/** When the first time comes that the run waits for. What only bounds a wait is none. */
function nextDue({ commands }: RunState): number {
  let due = Number.POSITIVE_INFINITY;
  for (const command of Object.values(commands)) {
    if (command.kind === 'startTimer' && !command.id.endsWith(timerId('')))
      due = Math.min(due, command.dueAt);
  }
  return due;
}

function reasonOf(signal: AbortSignal): string {
  const reason: unknown = signal.reason;
  return reason === undefined ? texts.requestCancelled : thrownText(reason);
}
