import type { Clock } from './run/clock.js';
import type { LiveStatus } from './run/envelope.js';
import type { nextStepOf } from './run/next-step.js';
import type { Waiter } from './run-store.js';

/** A run with children, as the requests of their agents see it. */
interface ParentRun {
  readonly live: { readonly isSafe: boolean; readonly liveStatus: LiveStatus } | undefined;
  readonly clock: Clock;
  readonly waiting: { watch(watcher: () => void): void; unwatch(watcher: () => void): void };
  readonly questions: { undelivered(child: string): readonly string[] };
  touch(): void;
  whenSafe(look: () => void): void;
  deliverActions(actions: readonly string[], onSafe: () => void): void;
  nextStep(child: string): ReturnType<typeof nextStepOf> | undefined;
}

/**
 * Waits for the next step of a child. Answers when there is one, when the child is over, when its next step depends on
 * others than the server, or at the limit of the request. The step is delivered before.
 */
export async function awaitStep(
  run: ParentRun,
  child: string,
  { request: { signal }, answerMs }: Pick<Waiter, 'request' | 'answerMs'>,
): Promise<ReturnType<typeof nextStepOf> | undefined> {
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
      if (run.live?.liveStatus !== 'busy' || run.nextStep(child)?.status !== 'waiting') end();
    };
    const stopTimer = run.clock.setTimer(end, answerMs);
    signal.addEventListener('abort', end, { once: true });
    waiting.watch(look);
    run.touch();
    look();
  });
  await new Promise<void>((resolve) => {
    run.whenSafe(() => run.deliverActions(run.questions.undelivered(child).slice(0, 1), resolve));
  });
  return run.nextStep(child);
}
