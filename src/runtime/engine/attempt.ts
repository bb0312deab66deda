import { canonicalJson, sha256Hex } from '../../graph/canonical.js';
import { DEFAULT_TIMEOUT_MS } from '../../graph/defaults.js';
import type { Retry } from '../../graph/model.js';
import { unreachable } from '../../graph/unreachable.js';
import type { Command, Failure, OwedCommand } from './contract.js';
import { fail, mayGoOn } from './fail.js';
import { failures } from './failures.js';
import { attemptId, delayId } from './identity.js';
import { changeSlots, enterQueue } from './queues.js';
import type { NodeRecord } from './records.js';
import type { Transition } from './transition.js';

/** Failures no further attempt can change: the run is over, or its time is. */
const FINAL = new Set(['E_CANCELLED', 'E_DEADLINE']);

/**
 * Whether another attempt may be made after `attempt` (counted from 1).
 *
 * @param mayDiffer false where the next attempt would fail in the same way: an input that was refused would be again.
 */
function mayRetry(
  retry: Retry | undefined,
  attempt: number,
  failure: Failure,
  mayDiffer: boolean,
): retry is Retry {
  return retry !== undefined && mayDiffer && attempt <= retry.extra && !FINAL.has(failure.code);
}

/**
 * How long the next attempt waits after `attempt` (counted from 1), in whole ms. A wait the other side asked for wins.
 * Jitter only shortens: a jitter of 0.25 draws from the last quarter of the delay, so that the cap holds.
 *
 * @param share from 0 up to 1; see `shareOf`.
 */
export function delayAfter(retry: Retry, attempt: number, failure: Failure, share: number): number {
  if (failure.retryAfterMs !== undefined) return Math.ceil(Math.max(0, failure.retryAfterMs));
  const delay = Math.max(0, Math.min(retry.capMs, retry.delayMs * growth(retry.backoff, attempt)));
  return Math.round(delay * (1 - retry.jitter * share));
}

/** The share of the jitter one retry takes: from 0 up to 1, different for each, and always the same for the same one. */
export function shareOf(random: number, node: string, attempt: number): number {
  return Number.parseInt(sha256Hex(canonicalJson([random, node, attempt])).slice(0, 8), 16) / 2 ** 32;
}

/** A finite factor: where it grows out of bounds the cap has held long before. */
function growth(backoff: Retry['backoff'], attempt: number): number {
  switch (backoff) {
    case 'constant':
      return 1;
    case 'linear':
      return attempt;
    case 'exponential':
      return 2 ** Math.min(attempt - 1, 1_000);
    default:
      return unreachable(backoff);
  }
}

/** Whether the run's deadline leaves time for another attempt. Else the node fails. */
export function hasTime(transition: Transition, node: NodeRecord): boolean {
  const { deadlineAt } = transition.state.run;
  if (deadlineAt === undefined || deadlineAt > transition.at) return true;
  const { attempt } = node;
  const { failure } = node.details;
  const late = failure === undefined ? failures.deadlinePassed() : failures.deadlineBeforeRetry(failure);
  fail(transition, node, { failure: late, reached: attempt, final: true });
  return false;
}

/** Id of the node's next attempt. */
export function nextAttemptId({ state }: Transition, node: NodeRecord): string {
  return attemptId(state, node, node.attempt + 1);
}

/** When an attempt that takes one of the run's slots is over: at its limit, or at the run's deadline. */
export function limitOf({ state, at }: Transition, { planned }: NodeRecord): number {
  const dueAt = at + (planned.node.timeoutMs ?? DEFAULT_TIMEOUT_MS);
  const { deadlineAt } = state.run;
  return deadlineAt === undefined ? dueAt : Math.min(dueAt, deadlineAt);
}

/** When an attempt that waits is over: never, unless it has a limit or the run has a deadline. */
export function waitLimitOf({ state, at }: Transition, { planned }: NodeRecord): number | undefined {
  const { deadlineAt = Number.POSITIVE_INFINITY } = state.run;
  const dueAt = Math.min(at + (planned.node.timeoutMs ?? Number.POSITIVE_INFINITY), deadlineAt);
  return dueAt === Number.POSITIVE_INFINITY ? undefined : dueAt;
}

/** Gives the command of the next attempt, which takes one of the run's slots. */
export function issue(transition: Transition, node: NodeRecord, command: Command | OwedCommand): void {
  changeSlots(transition, 1);
  transition.change(node).status = 'running';
  node.attempt += 1;
  transition.expect(node, command);
}

/** Gives the command of the next attempt, which waits for an answer or for a time. */
export function waitFor(transition: Transition, node: NodeRecord, command: Command | OwedCommand): void {
  transition.change(node).status = 'waiting';
  node.attempt += 1;
  transition.expect(node, command);
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
export function attemptFailed(transition: Transition, node: NodeRecord, failed: FailedAttempt): void {
  const { attempted = true, final = !attempted } = failed;
  const { attempt, planned } = node;
  const { retry } = planned;
  const { run } = transition.state;
  // What an earlier attempt may have done is not undone by a later one that failed for sure.
  const isUnknown = failed.failure.outcomeUnknown === true || node.details.failure?.outcomeUnknown === true;
  const failure: Failure = isUnknown ? { ...failed.failure, outcomeUnknown: true } : failed.failure;
  const reached = attempted ? attempt : attempt - 1;
  if (!mayGoOn(node) || !mayRetry(retry, attempt, failure, !final)) {
    fail(transition, node, { failure, reached, final });
    return;
  }
  const share = shareOf(run.random ?? 0, node.key, attempt);
  const delayMs = delayAfter(retry, attempt, failure, share);
  const dueAt = transition.at + delayMs;
  if (run.deadlineAt !== undefined && run.deadlineAt <= dueAt) {
    fail(transition, node, { failure: failures.deadlineBeforeRetry(failure), reached, final: true });
    return;
  }
  transition.report({
    ...{ kind: 'retrying', node: node.key, attempt, attempts: retry.extra + 1, delayMs, failure },
  });
  // While it waits for its next attempt, a node leaves its slot to others.
  if (planned.takesSlot) changeSlots(transition, -1);
  transition.change(node).status = 'waiting';
  node.set('failure', failure);
  if (delayMs === 0) {
    goOn(transition, node);
    return;
  }
  const id = delayId(attemptId(transition.state, node, attempt));
  transition.expect(node, {
    ...{ kind: 'startTimer', id, node: node.key, purpose: 'backoff', dueAt },
  });
}

/** The delay before a node's next attempt is over. */
export function goOn(transition: Transition, node: NodeRecord): void {
  if (node.planned.takesSlot) {
    enterQueue(transition, node);
    return;
  }
  transition.change(node).status = 'ready';
  transition.ready.add(node);
}
