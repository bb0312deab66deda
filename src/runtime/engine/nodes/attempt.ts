import { callId, delayId, timerId } from '../commands.js';
import type { Command, Failure } from '../contract.js';
import { fail, isFailing } from '../ending.js';
import { failures } from '../failures.js';
import type { PlannedNode } from '../plan.js';
import { standInLine } from '../ready-line.js';
import { delayAfter, mayRetry, shareOf } from '../retry.js';
import type { Turn } from '../turn.js';

/** Limit of an attempt whose node names none, in milliseconds. */
export const DEFAULT_TIMEOUT_MS = 60_000;

/** Ids and number of an attempt that is about to start. */
export interface Attempt {
  readonly call: string;
  /** Counts from 1. */
  readonly number: number;
}

/** The node's next attempt; none, and a failed node, when the run's time is up. */
export function nextAttempt(turn: Turn, planned: PlannedNode): Attempt | undefined {
  const { deadlineAt } = turn.recorder.run;
  const { attempt, failure } = turn.recorder.node(planned.node.id);
  if (deadlineAt !== undefined && deadlineAt <= turn.at) {
    const late = failure === undefined ? failures.deadlinePassed() : failures.deadlineBeforeRetry(failure);
    fail(turn, planned, late, attempt);
    return undefined;
  }
  return { call: callId(planned.node.id, attempt + 1), number: attempt + 1 };
}

/** Gives the command and the timer that bounds it, and takes one of the run's places. */
export function issue(
  { recorder, at }: Turn,
  { node }: PlannedNode,
  attempt: Attempt,
  command: Command,
): void {
  const { run } = recorder;
  recorder.putRun({ ...run, running: run.running + 1 });
  recorder.putNode(node.id, { ...recorder.node(node.id), status: 'running', attempt: attempt.number });
  recorder.expect(command);
  const limit = at + (node.timeoutMs ?? DEFAULT_TIMEOUT_MS);
  const dueAt = run.deadlineAt === undefined ? limit : Math.min(limit, run.deadlineAt);
  recorder.expect({ kind: 'startTimer', id: timerId(attempt.call), node: node.id, dueAt });
}

/**
 * The node's attempt in flight has failed: another one follows where the node may have one, the run can still succeed
 * and there is time for it; else the node is at its end.
 *
 * @param attempted false when the tool or resource was not reached.
 */
export function attemptFailed(turn: Turn, planned: PlannedNode, failed: Failure, attempted: boolean): void {
  const { retry, node } = planned;
  const row = turn.recorder.node(node.id);
  // What an earlier attempt may have done is not undone by a later one that failed for sure.
  const isUnknown = failed.outcomeUnknown === true || row.failure?.outcomeUnknown === true;
  const failure: Failure = isUnknown ? { ...failed, outcomeUnknown: true } : failed;
  if (isFailing(turn) || !mayRetry(retry, row.attempt, failure, attempted)) {
    fail(turn, planned, failure, attempted ? row.attempt : row.attempt - 1);
    return;
  }
  const random = shareOf(turn.recorder.run.random ?? 0, node.id, row.attempt);
  const delayMs = delayAfter(retry, row.attempt, failure, random);
  const dueAt = turn.at + delayMs;
  const { deadlineAt } = turn.recorder.run;
  if (deadlineAt !== undefined && deadlineAt <= dueAt) {
    fail(turn, planned, failures.deadlineBeforeRetry(failure), row.attempt);
    return;
  }
  const numbers = { attempt: row.attempt, attempts: retry.extra + 1, delayMs };
  turn.recorder.report({ kind: 'retrying', node: node.id, ...numbers, failure });
  giveUpPlace(turn, planned, failure);
  if (delayMs === 0) standInLine(turn, planned);
  else
    turn.recorder.expect({
      kind: 'startTimer',
      id: delayId(callId(node.id, row.attempt)),
      node: node.id,
      dueAt,
    });
}

/** While it waits for its next attempt, a node leaves its place to others. */
function giveUpPlace({ recorder }: Turn, { node }: PlannedNode, failure: Failure): void {
  const { run } = recorder;
  recorder.putRun({ ...run, running: run.running - 1 });
  recorder.putNode(node.id, { ...recorder.node(node.id), status: 'waiting', failure });
}
