import { canonicalJson, sha256Hex } from '../../graph/canonical.js';
import { DEFAULT_TIMEOUT_MS } from '../../graph/defaults.js';
import type { Expr } from '../../graph/expression/tree.js';
import type { Value } from '../../graph/json.js';
import type { Retry } from '../../graph/model.js';
import { unreachable } from '../../graph/unreachable.js';
import type { Command, Failure, OwedCommand, SkipReason } from './events.js';
import { failures } from './failures.js';
import { attemptId, delayId } from './identity.js';
import type { NodeRecord, ScopeRecord } from './records.js';
import {
  endScope,
  isBetweenAttempts,
  named,
  neighbour,
  type Stop,
  select,
  settle,
  succeed,
} from './settle.js';
import { changeSlots, enterQueue, readerIn, type Transition } from './transition.js';

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

/** How a node failed. */
export interface Failed {
  readonly failure: Failure;
  /** How often the node's tool, resource or whatever it asks was reached, or its scopes were begun. */
  readonly reached: number;
  /** No retry of anything around it can change the failure. */
  readonly final: boolean;
}

/** A node has come to the end of its attempts: its fallback takes over, where it has one, else it has failed for good. */
export function fail(transition: Transition, node: NodeRecord, failed: Failed): void {
  const { onError } = node.planned.node;
  if (onError === undefined) failForGood(transition, node, failed);
  else if ('value' in onError) applyFallbackValue(transition, node, failed, onError.value);
  else selectFallback(transition, node, failed, onError.fallbackNode);
}

function applyFallbackValue(transition: Transition, node: NodeRecord, failed: Failed, value: Expr): void {
  const { failure, reached: attempts } = failed;
  const { code, message } = failure;
  const error = { code, message, attempts, node: node.planned.node.id };
  const fallback = readerIn(transition, node.scope).withError(error).value(value);
  if (!fallback.ok) {
    failForGood(transition, node, { ...failed, failure: failures.fallback(failure, fallback.failure) });
    return;
  }
  const given = fallback.value === undefined ? {} : { value: fallback.value };
  transition.report({ kind: 'handled', ...named(node), failure, attempts, ...given });
  succeed(transition, node, fallback.value);
}

/**
 * Another node takes over, unless that was left out, has failed or was aborted, or nothing new may start: no failure is
 * lost. One that has succeeded already is the fallback of this node as well. [E6]
 */
function selectFallback(
  transition: Transition,
  node: NodeRecord,
  failed: Failed,
  fallbackNode: string,
): void {
  const { endedBy, stopped } = node.scope.details;
  const other = neighbour(node, fallbackNode);
  const mayStart = endedBy === undefined && !stopped;
  const isAborted = other.status === 'running' && other.container?.aborted === true;
  if (hasNothingToGive(other) || isAborted || (other.status === 'pending' && !mayStart)) {
    failForGood(transition, node, failed);
    return;
  }
  const { failure, reached, final } = failed;
  transition.report({ kind: 'handled', ...named(node), failure, attempts: reached, fallbackNode });
  select(transition, node, fallbackNode, 'fallback');
  node.set('failure', failure);
  node.set('reached', reached);
  // What takes over may pass the failure on, with its finality.
  node.set('final', final);
  settle(transition, node, 'handled');
}

function hasNothingToGive({ status }: NodeRecord): boolean {
  return status === 'skipped' || status === 'failed' || status === 'cancelled';
}

/**
 * A node has failed, and has no fallback. The first failure is its scope's. Where the graph fails fast, nothing
 * new starts after it, and calls in flight settle, so that their effects are known. [G15]
 */
export function failForGood(transition: Transition, node: NodeRecord, failed: Failed): void {
  const { scope } = node;
  const wasFailing = isFailing(scope);
  settleFailed(transition, node, failed);
  if (scope.details.failure === undefined) failWith(transition, scope, node);
  if (scope.workflow.plan.failFast) endScope(transition, scope, node.key, stopFor('upstream_failed'));
  if (!wasFailing) endAttempts(transition, scope);
}

/** An `error` node was reached: its scope fails with its failure, whatever has failed before. [E8] */
export function endWithError(transition: Transition, node: NodeRecord, failure: Failure): void {
  const { scope } = node;
  const wasFailing = isFailing(scope);
  settleFailed(transition, node, { failure, final: true });
  failWith(transition, scope, node);
  endScope(transition, scope, node.key, stopFor('run_ended'));
  if (!wasFailing) endAttempts(transition, scope);
}

/**
 * A `return` node was reached: nothing new starts in its workflow, and its value is the result once what has started
 * has settled. A failure among that, or before, fails the workflow all the same: the outcome does not hang on who was
 * faster.
 */
export function endWithReturn(transition: Transition, node: NodeRecord, value: Value): void {
  const top = topOf(transition, node.scope);
  const wasFailing = isFailing(top);
  succeed(transition, node, value);
  if (top.details.endedBy === undefined) top.set('value', value);
  endScope(transition, top, node.key, stopFor('run_ended'));
  if (!wasFailing) endAttempts(transition, top);
}

/** The scope at the top of the workflow that a scope belongs to. */
function topOf({ state }: Transition, { workflow }: ScopeRecord): ScopeRecord {
  return workflow.node === undefined ? state.root : state.part(workflow.node, 0);
}

/**
 * Where the node has started over that a scope fails with, the first of the failures that are left is the scope's: none,
 * where none is left.
 */
export function forgetFailures(transition: Transition, scope: ScopeRecord): void {
  const { failedNode } = scope.details;
  if (failedNode === undefined || failedNode.status === 'failed') return;
  let first: NodeRecord | undefined;
  for (const node of scope.nodes) {
    if (node?.details.failure === undefined || node.details.failedAs === 0) continue;
    if (first === undefined || node.details.failedAs < first.details.failedAs) first = node;
  }
  failWith(transition, scope, first);
}

/** Whether a scope is bound to fail and only waits for what is in flight: then no attempt can save it any more. */
function isFailing({ details: { endedBy, failure } }: ScopeRecord): boolean {
  return endedBy !== undefined && failure !== undefined;
}

/** Whether a node of a scope may have another attempt. A node with scopes of its own would start something new. */
export function mayGoOn({ scope, planned }: NodeRecord): boolean {
  if (scope.details.stopped || isFailing(scope)) return false;
  const { kind } = planned.node;
  return scope.details.endedBy === undefined || kind === 'call' || kind === 'resource' || kind === 'compute';
}

/** Where the scope is failing now, nodes between two attempts come to their end with the failure of the last one. */
function endAttempts(transition: Transition, scope: ScopeRecord): void {
  if (!isFailing(scope)) return;
  for (const node of scope.nodes) {
    const failure = node?.details.failure;
    if (failure === undefined || node?.isSettled !== false || !isBetweenAttempts(node)) continue;
    transition.cancelTimer(node);
    fail(transition, node, { failure, reached: node.attempt, final: false });
  }
}

function settleFailed(
  transition: Transition,
  node: NodeRecord,
  { failure, final }: Pick<Failed, 'failure' | 'final'>,
): void {
  const scope = transition.change(node.scope);
  scope.set('failures', scope.details.failures + 1);
  node.set('failure', failure);
  node.set('failedAs', scope.details.failures);
  node.set('final', final);
  settle(transition, node, 'failed');
  transition.report({ kind: 'nodeFailed', ...named(node), failure });
}

/** The failure of a scope is that of this node. */
function failWith(transition: Transition, scope: ScopeRecord, node: NodeRecord | undefined): void {
  transition.change(scope).set('failure', node?.details.failure);
  scope.set('failedNode', node);
  scope.set('final', node?.details.final ?? false);
}

function stopFor(reason: SkipReason): Stop {
  return { how: 'stop', reason, failure: failures.cancelledElsewhere() };
}
