import { attemptId, delayId } from '../commands.js';
import type { Command, Failure } from '../contract.js';
import { fail, mayGoOn } from '../ending.js';
import { failures } from '../failures.js';
import type { NodeInstance } from '../instances.js';
import { changePlaces, standInLine, takesPlace } from '../ready-line.js';
import { delayAfter, mayRetry, shareOf } from '../retry.js';
import type { Turn } from '../turn.js';

/** Limit of an attempt of a call, read or function whose node names none, in milliseconds. */
export const DEFAULT_TIMEOUT_MS = 60_000;

/** Id and number of an attempt that is about to start. */
export interface Attempt {
  readonly id: string;
  /** Counts from 1. */
  readonly number: number;
}

/** Whether the run's deadline leaves time for another attempt. Else the node fails. */
export function hasTime(turn: Turn, node: NodeInstance): boolean {
  const { deadlineAt } = turn.recorder.run;
  if (deadlineAt === undefined || deadlineAt > turn.at) return true;
  const { attempt, failure } = turn.recorder.tables.nodes.need(node.key);
  const late = failure === undefined ? failures.deadlinePassed() : failures.deadlineBeforeRetry(failure);
  fail(turn, node, { failure: late, reached: attempt, final: true });
  return false;
}

/** The node's next attempt. */
export function nextAttempt(turn: Turn, node: NodeInstance): Attempt {
  const { attempt } = turn.recorder.tables.nodes.need(node.key);
  return { id: attemptId(turn, node, attempt + 1), number: attempt + 1 };
}

/** When an attempt that takes one of the run's places is over: at its limit, or at the run's deadline. */
export function limitOf({ recorder, at }: Turn, { planned }: NodeInstance): number {
  const { deadlineAt = Number.POSITIVE_INFINITY } = recorder.run;
  return Math.min(at + (planned.node.timeoutMs ?? DEFAULT_TIMEOUT_MS), deadlineAt);
}

/** When an attempt that waits is over: never, unless it has a limit or the run has a deadline. */
export function waitLimitOf({ recorder, at }: Turn, { planned }: NodeInstance): number | undefined {
  const { deadlineAt = Number.POSITIVE_INFINITY } = recorder.run;
  const dueAt = Math.min(at + (planned.node.timeoutMs ?? Number.POSITIVE_INFINITY), deadlineAt);
  return dueAt === Number.POSITIVE_INFINITY ? undefined : dueAt;
}

/** Gives the command of an attempt that takes one of the run's places. */
export function issue(turn: Turn, node: NodeInstance, attempt: Attempt, command: Command): void {
  changePlaces(turn, 1);
  expectAnswer(turn, node, attempt, command, 'running');
}

/** Gives the command of an attempt that waits for an answer or for a time. */
export function waitFor(turn: Turn, node: NodeInstance, attempt: Attempt, command: Command): void {
  expectAnswer(turn, node, attempt, command, 'waiting');
}

function expectAnswer(
  { recorder }: Turn,
  { key }: NodeInstance,
  { number }: Attempt,
  command: Command,
  status: 'running' | 'waiting',
): void {
  const row = recorder.tables.nodes.draft(key);
  row.status = status;
  row.attempt = number;
  recorder.expect(command);
}

/** How an attempt failed. */
export interface FailedAttempt {
  readonly failure: Failure;
  /** False when the tool or resource was not reached. Default true. */
  readonly attempted?: boolean;
  /** Another attempt would fail in the same way. Default: where nothing was reached. */
  readonly final?: boolean;
}

/**
 * The node's attempt has failed: another one follows where the node may have one, its scope can still succeed and there
 * is time for it; else the node is at its end. [E2, E4]
 */
export function attemptFailed(turn: Turn, node: NodeInstance, failed: FailedAttempt): void {
  const { attempted = true, final = !attempted } = failed;
  const { retry, node: model } = node.planned;
  const { recorder } = turn;
  const row = recorder.tables.nodes.need(node.key);
  // What an earlier attempt may have done is not undone by a later one that failed for sure.
  const isUnknown = failed.failure.outcomeUnknown === true || row.failure?.outcomeUnknown === true;
  const failure: Failure = isUnknown ? { ...failed.failure, outcomeUnknown: true } : failed.failure;
  const reached = attempted ? row.attempt : row.attempt - 1;
  if (!mayGoOn(turn, node) || !mayRetry(retry, row.attempt, failure, !final)) {
    fail(turn, node, { failure, reached, final });
    return;
  }
  const share = shareOf(recorder.run.random ?? 0, node.key, row.attempt);
  const delayMs = delayAfter(retry, row.attempt, failure, share);
  const dueAt = turn.at + delayMs;
  const { deadlineAt } = recorder.run;
  if (deadlineAt !== undefined && deadlineAt <= dueAt) {
    fail(turn, node, { failure: failures.deadlineBeforeRetry(failure), reached, final: true });
    return;
  }
  const numbers = { attempt: row.attempt, attempts: retry.extra + 1, delayMs };
  recorder.report({ kind: 'retrying', node: node.key, ...numbers, failure });
  // While it waits for its next attempt, a node leaves its place to others.
  if (takesPlace(model)) changePlaces(turn, -1);
  recorder.tables.nodes.put(node.key, { ...row, status: 'waiting', failure });
  const timer = delayId(attemptId(turn, node, row.attempt));
  if (delayMs === 0) goOn(turn, node);
  else recorder.expect({ kind: 'startTimer', id: timer, node: node.key, purpose: 'backoff', dueAt });
}

/** The delay before a node's next attempt is over. */
export function goOn(turn: Turn, node: NodeInstance): void {
  if (takesPlace(node.planned.node)) {
    standInLine(turn, node);
    return;
  }
  const { nodes } = turn.recorder.tables;
  nodes.put(node.key, { ...nodes.need(node.key), status: 'ready' });
  turn.due.add(node);
}
