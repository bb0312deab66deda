import { describeAnswerers } from '../../graph/answerers.js';
import { defined } from '../../graph/defined.js';
import type { Fact } from '../engine/contract.js';
import type { Log, LogRecord } from '../tools/log.js';

/** A run, as the log names it. Its `ref` is a hash: it is made where an entry is written. */
interface LoggedRun {
  /** See `runRef`. */
  readonly ref: string;
  readonly workflow: string;
}

/** How a run ended, as far as the log says. */
interface LoggedEnd {
  readonly status: NonNullable<LogRecord['status']>;
  readonly code?: string | undefined;
  /** The step it comes from. */
  readonly node?: string | undefined;
  readonly durationMs: number;
}

/** Logs that a run starts or continues in this process. */
export function logStart(log: Log, logged: () => LoggedRun, isResumed = false): void {
  if (log.leavesOut?.('debug')) return;
  const { ref, workflow } = logged();
  log(`run ${ref} of workflow \`${workflow}\` ${isResumed ? 'goes on after a restart' : 'started'}`, {
    event: isResumed ? 'run.resumed' : 'run.started',
    level: 'debug',
    run: ref,
    workflow,
  });
}

/** Logs the reminders of questions that are still open. */
export function logReminders(log: Log, logged: () => LoggedRun, facts: readonly Fact[]): void {
  for (const fact of facts) {
    if (fact.kind !== 'reminded') continue;
    const { ref, workflow } = logged();
    const { node, action } = fact;
    const who = action.answerBy === undefined ? 'the owner of the run' : describeAnswerers(action.answerBy);
    const text = `run ${ref} of workflow \`${workflow}\` waits for an answer of ${who} to its step \`${node}\``;
    log(text, { event: 'run.reminded', level: 'warning', run: ref, workflow, node });
  }
}

/** Logs the end of a run. What went wrong is in its answer, and may hold what the log must not show. */
export function logEnd(
  log: Log,
  logged: () => LoggedRun,
  { status, code, node, durationMs }: LoggedEnd,
): void {
  if (log.leavesOut?.('debug')) return;
  const { ref, workflow } = logged();
  const duration = Math.round(durationMs);
  log(
    `run ${ref} of workflow \`${workflow}\` ${status}${code === undefined ? '' : ` with ${code}`} after ${duration} ms`,
    {
      event: 'run.ended',
      level: 'debug',
      run: ref,
      workflow,
      status,
      ...defined({ code, node }),
      durationMs: duration,
    },
  );
}

/** Logs a fault of the server in a run. @param text what was thrown, without secrets. */
export function logFault(log: Log, logged: () => LoggedRun, text: string): void {
  const { ref, workflow } = logged();
  log(`run ${ref} of workflow \`${workflow}\` failed inside the server: ${text}`, {
    event: 'run.fault',
    run: ref,
    workflow,
  });
}
