import { canonicalJson } from '../../graph/canonical.js';
import { defined } from '../../graph/defined.js';
import type { Expr } from '../../graph/expression/tree.js';
import { type JsonObject, unreachable, type Value } from '../../graph/json.js';
import type { Retry } from '../../graph/kinds/node.js';
import { DEFAULT_TIMEOUT_MS } from '../../graph/limits.js';
import type { CallNode } from '../../graph/model.js';
import { sha256Hex } from '../../graph/sha256.js';
import { resultSchema } from './actions.js';
import { type Evaluated, readerOf } from './evaluation.js';
import type { Command, Failure, OwedCommand, SkipReason, StepAction } from './events.js';
import { failures } from './failures.js';
import { writeFields } from './fields.js';
import { attemptId, delayId } from './identity.js';
import { NOTHING_REFUSED, type NodeRecord, type ScopeRecord, undoesOnFailure } from './records.js';
import {
  endScope,
  isBetweenAttempts,
  isPaused,
  nodeInFact,
  type Stop,
  select,
  settle,
  sibling,
  succeed,
  withdraw,
} from './settle.js';
import type { RunState } from './state.js';
import { changeSlots, enterQueue, type Transition } from './transition.js';

/** A command that the host executes. */
type Call = Extract<Command, { kind: 'callTool' | 'readResource' | 'evaluate' }>;

/**
 * The delay after `attempt` (counted from 1), in whole ms. A `retryAfterMs` of the tool takes precedence.
 * Jitter only shortens the delay: a jitter of 0.25 draws from its last quarter, so that the cap holds.
 *
 * @param share from 0 up to 1; see `jitterShare`.
 */
export function delayAfter(retry: Retry, attempt: number, failure: Failure, share: number): number {
  if (failure.retryAfterMs !== undefined) return Math.ceil(Math.max(0, failure.retryAfterMs));
  const grown = retry.delayMs * growth(retry.backoff, attempt);
  const delay = Math.max(0, retry.backoff === 'exponential' ? Math.min(retry.capMs, grown) : grown);
  return Math.round(delay * (1 - retry.jitter * share));
}

/** The share of the jitter of one retry, from 0 up to 1. Deterministic for the run's random number, node and attempt. */
export function jitterShare(random: number, node: string, attempt: number): number {
  return Number.parseInt(sha256Hex(canonicalJson([random, node, attempt])).slice(0, 8), 16) / 2 ** 32;
}

/** The exponent is limited so that the factor stays finite. */
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

/** Whether an attempt may start before the run's deadline. Fails the node otherwise. */
export function hasTime(transition: Transition, node: NodeRecord): boolean {
  const { deadlineAt } = transition.state.run;
  if (deadlineAt === undefined || deadlineAt > transition.at) return true;
  const { attempt } = node;
  const { failure } = node.details;
  const late = failure === undefined ? failures.deadlinePassed() : failures.deadlineBeforeRetry(failure);
  fail(transition, node, { failure: late, reached: attempt, isPermanent: true });
  return false;
}

export function nextAttemptId({ state }: Transition, node: NodeRecord): string {
  return attemptId(state, node, node.attempt + 1);
}

/** When an attempt that takes a slot times out (ms since the epoch): at its own limit or the run's deadline. */
export function attemptDueAt(
  { state, at }: Pick<Transition, 'state' | 'at'>,
  { planned }: NodeRecord,
): number {
  const dueAt = at + (planned.node.timeoutMs ?? DEFAULT_TIMEOUT_MS);
  const { deadlineAt } = state.run;
  return deadlineAt === undefined ? dueAt : Math.min(dueAt, deadlineAt);
}

/**
 * When a call times out that a process makes again: its limit counts the time that one process works on it. The run's
 * deadline does not limit a compensation.
 */
export function dueAtAgain(state: RunState, call: Call, at: number): number {
  if (call.kind === 'callTool' && call.isCompensation) return at + DEFAULT_TIMEOUT_MS;
  return attemptDueAt({ state, at }, state.find(call.node));
}

/** When an attempt that waits times out (ms since the epoch); undefined without a limit and a deadline. */
export function waitDueAt({ state, at }: Transition, { planned }: NodeRecord): number | undefined {
  const { deadlineAt = Number.POSITIVE_INFINITY } = state.run;
  const dueAt = Math.min(at + (planned.node.timeoutMs ?? Number.POSITIVE_INFINITY), deadlineAt);
  return dueAt === Number.POSITIVE_INFINITY ? undefined : dueAt;
}

/** Starts the next attempt with a command that takes a slot. */
export function issue(transition: Transition, node: NodeRecord, command: Command | OwedCommand): void {
  changeSlots(transition, 1);
  transition.change(node).status = 'running';
  node.attempt += 1;
  transition.issueCommand(node, command);
}

/** Starts the next attempt with a command that waits for an answer or a time. */
export function issueWait(transition: Transition, node: NodeRecord, command: Command | OwedCommand): void {
  transition.change(node).status = 'waiting';
  node.attempt += 1;
  transition.issueCommand(node, command);
}

interface FailedAttempt {
  readonly failure: Failure;
  /** False when the tool or resource was not reached. Default true. */
  readonly attempted?: boolean;
  /** Another attempt would fail in the same way. Default: the tool or resource was not reached. */
  readonly isPermanent?: boolean;
  /** See `Failed`. */
  readonly isPassedOn?: true | undefined;
}

/**
 * Handles a failed attempt. Another one follows if the node has a retry left, its scope can still succeed and the
 * deadline allows it. Otherwise the node fails. [E2, E4]
 */
export function attemptFailed(transition: Transition, node: NodeRecord, failed: FailedAttempt): void {
  const { attempted = true, isPermanent = !attempted, isPassedOn } = failed;
  const { attempt, planned } = node;
  const { retry } = planned;
  const { run } = transition.state;
  // An unknown outcome of an earlier attempt stays unknown, although this one failed for certain.
  const isUnknown = failed.failure.outcomeUnknown === true || node.details.failure?.outcomeUnknown === true;
  const failure: Failure = isUnknown ? { ...failed.failure, outcomeUnknown: true } : failed.failure;
  const reached = reachedBefore(node, attempt - 1) + (attempted ? 1 : 0);
  if (!mayHaveAnotherAttempt(node) || retry === undefined || isPermanent || attempt > retry.extra) {
    fail(transition, node, { failure, reached, isPermanent, isPassedOn });
    return;
  }
  const share = jitterShare(run.random ?? 0, node.key, attempt);
  const delayMs = delayAfter(retry, attempt, failure, share);
  const dueAt = transition.at + delayMs;
  if (run.deadlineAt !== undefined && run.deadlineAt <= dueAt) {
    fail(transition, node, { failure: failures.deadlineBeforeRetry(failure), reached, isPermanent: true });
    return;
  }
  transition.report({
    ...{ kind: 'retrying', node: node.key, attempt, attempts: retry.extra + 1, delayMs, failure },
  });
  // A node holds no slot during its backoff, nor while it reads its own resources.
  if (planned.takesSlot && node.status === 'running') changeSlots(transition, -1);
  transition.change(node).status = 'waiting';
  node.set('failure', failure);
  // Attempts and pauses are counted apart from the first pause on.
  if (node.details.reached !== undefined) node.set('reached', reached);
  if (delayMs === 0) {
    scheduleNextAttempt(transition, node);
    return;
  }
  const id = delayId(attemptId(transition.state, node, attempt));
  transition.issueCommand(node, {
    ...{ kind: 'startTimer', id, node: node.key, purpose: 'backoff', dueAt },
  });
}

export function scheduleNextAttempt(transition: Transition, node: NodeRecord): void {
  if (node.planned.takesSlot) {
    enterQueue(transition, node);
    return;
  }
  transition.change(node).status = 'ready';
  transition.ready.add(node);
}

/** Ends a node with its value, which it writes to its field of the state. One that is too large fails the node. [Q1] */
export function complete(transition: Transition, node: NodeRecord, value: Value): void {
  const failure = writeValue(transition, node, value);
  if (failure === undefined) succeed(transition, node, value);
  else fail(transition, node, { failure, reached: node.attempt, isPermanent: true });
}

function writeValue(transition: Transition, node: NodeRecord, value: Value): Failure | undefined {
  const { writes } = node.planned.node;
  if (writes === undefined) return undefined;
  const failure = writeFields(transition, node, [[writes, value]]);
  if (failure !== undefined) node.output = undefined;
  return failure;
}

interface Failed {
  readonly failure: Failure;
  /** How many attempts reached the tool or resource, asked for an action, or began the node's scopes. */
  readonly reached: number;
  /** No retry of a container around it can change the failure. */
  readonly isPermanent: boolean;
  /** Of a container: it is the failure of a part, which the container does not handle. */
  readonly isPassedOn?: true | undefined;
}

/** Fails a node that has no attempt left: applies its fallback, if it has one. */
export function fail(transition: Transition, node: NodeRecord, failed: Failed): void {
  const { onError } = node.planned.node;
  if (onError === undefined) failOrPause(transition, node, failed);
  else if ('value' in onError) applyFallbackValue(transition, node, failed, onError.value);
  else selectFallback(transition, node, failed, onError.fallbackNode);
}

function applyFallbackValue(transition: Transition, node: NodeRecord, failed: Failed, value: Expr): void {
  const { failure, reached: attempts } = failed;
  const { code, message } = failure;
  const error = { code, message, attempts, node: node.planned.node.id };
  const fallback = readerOf(transition, node).withError(error).value(value);
  if (!fallback.ok) {
    failOrPause(transition, node, {
      ...failed,
      failure: failures.fallback(failure, fallback.failure),
    });
    return;
  }
  const fault = writeValue(transition, node, fallback.value);
  if (fault !== undefined) {
    failOrPause(transition, node, { ...failed, failure: fault });
    return;
  }
  const fact = defined({ value: fallback.value });
  transition.report({ kind: 'handled', ...nodeInFact(node), failure, attempts, ...fact });
  succeed(transition, node, fallback.value);
  keepError(node, failed);
}

function keepError(node: NodeRecord, { failure, reached }: Failed): void {
  if (!node.planned.readsError) return;
  node.set('failure', failure);
  node.set('reached', reached);
}

/**
 * Selects the fallback node. If that node was skipped, failed, was aborted or can no longer start, this one fails, so that
 * no failure is lost. A fallback node that has succeeded already handles this failure as well. [E6]
 */
function selectFallback(
  transition: Transition,
  node: NodeRecord,
  failed: Failed,
  fallbackNode: string,
): void {
  const { endedBy, stopped } = node.scope.details;
  const other = sibling(node, fallbackNode);
  const mayStart = endedBy === undefined && !stopped;
  const isAborted = other.status === 'running' && other.container?.aborted === true;
  if (isUnavailable(other) || isAborted || (other.status === 'pending' && !mayStart)) {
    failOrPause(transition, node, failed);
    return;
  }
  const { failure, reached, isPermanent } = failed;
  transition.report({ kind: 'handled', ...nodeInFact(node), failure, attempts: reached, fallbackNode });
  select(transition, node, fallbackNode, 'fallback');
  node.set('failure', failure);
  node.set('reached', reached);
  // The fallback node may pass the failure on.
  node.set('isPermanent', isPermanent);
  settle(transition, node, 'handled');
}

function isUnavailable({ status }: NodeRecord): boolean {
  return status === 'skipped' || status === 'failed' || status === 'cancelled';
}

/** Fails a node that no fallback replaces. In a task that it would end, the node stops instead. [N13] */
function failOrPause(transition: Transition, node: NodeRecord, failed: Failed): void {
  // The part would have stopped itself.
  const isOwn = failed.isPassedOn !== true || node.planned.node.onError !== undefined;
  if (isOwn && pausesAtFailure(transition, node, failed.isPermanent)) pause(transition, node, failed);
  else failWithoutFallback(transition, node, failed);
}

/** Requests the result of a node from outside. It counts as an attempt. */
function pause(transition: Transition, node: NodeRecord, failed: Failed): void {
  const { failure, reached, isPermanent } = failed;
  const { key, planned } = node;
  const id = nextAttemptId(transition, node);
  const action = stepActionOf(transition, node, failure);
  if (planned.takesSlot && node.status === 'running') changeSlots(transition, -1);
  node.set('failure', failure);
  node.set('reached', reached);
  node.set('isPermanent', isPermanent);
  node.set('refused', NOTHING_REFUSED);
  issueWait(transition, node, { kind: 'requestAction', id, node: key, action, seq: 0 });
  transition.report({ kind: 'waiting', ...nodeInFact(node), command: id, action });
}

/** Ends the pause of a node that was made outside. */
export function leavePause(transition: Transition, node: NodeRecord): void {
  transition.change(node).set('reached', undefined);
  node.set('isPermanent', false);
}

/** Starts another attempt of a node that has stopped. Attempts are counted on, without the pause. */
export function tryAgain(transition: Transition, node: NodeRecord): void {
  transition.change(node).set('isPermanent', false);
  scheduleNextAttempt(transition, node);
}

/** How many attempts of a node have reached its tool or resource before this one. @param attempts those that began */
export function reachedBefore({ details }: NodeRecord, attempts: number): number {
  return details.reached ?? attempts;
}

export function failPaused(transition: Transition, node: NodeRecord, failure: Failure): void {
  const { reached = node.attempt, isPermanent } = node.details;
  leavePause(transition, node);
  failWithoutFallback(transition, node, { failure, reached, isPermanent });
}

/**
 * Fails a node without a fallback. The first failure is that of its scope. If the graph fails fast, no other node starts,
 * and calls in flight settle, so that their effects are known. [G15]
 */
export function failWithoutFallback(transition: Transition, node: NodeRecord, failed: Failed): void {
  const { scope } = node;
  const wasFailing = isFailing(scope);
  keepError(node, failed);
  settleFailed(transition, node, failed);
  if (scope.details.failure === undefined) setScopeFailure(transition, scope, node);
  if (scope.workflow.plan.failFast) endScope(transition, scope, node.key, stopFor('upstream_failed'));
  failRest(transition, scope, wasFailing);
}

/** Ends the scope of an `error` node. It fails with this failure even if another node failed before. [E8] */
export function endWithError(transition: Transition, node: NodeRecord, failure: Failure): void {
  const { scope } = node;
  const wasFailing = isFailing(scope);
  settleFailed(transition, node, { failure, isPermanent: true });
  setScopeFailure(transition, scope, node);
  endScope(transition, scope, node.key, stopFor('run_ended'));
  failRest(transition, scope, wasFailing);
}

/**
 * Ends the workflow of a `return` node. No other node starts; the value is the result once running nodes have settled. A
 * failed node still fails the workflow, before or after: the outcome does not depend on timing.
 */
export function endWithReturn(transition: Transition, node: NodeRecord, value: Value): void {
  const top = topOf(transition, node.scope);
  const wasFailing = isFailing(top);
  succeed(transition, node, value);
  if (top.details.endedBy === undefined) top.set('value', value);
  endScope(transition, top, node.key, stopFor('run_ended'));
  failRest(transition, top, wasFailing);
}

function topOf({ state }: Transition, { workflow }: ScopeRecord): ScopeRecord {
  return workflow.node === undefined ? state.root : state.part(workflow.node, 0);
}

/**
 * Updates the failure of a scope after a `goto`. If the node that failed it has started over, the earliest remaining
 * failure is the scope's, if there is one.
 */
export function forgetFailures(transition: Transition, scope: ScopeRecord): void {
  const { failedNode } = scope.details;
  if (failedNode === undefined || failedNode.status === 'failed') return;
  let first: NodeRecord | undefined;
  for (const node of scope.nodes) {
    if (node?.details.failure === undefined || node.details.failureNumber === 0) continue;
    if (first === undefined || node.details.failureNumber < first.details.failureNumber) first = node;
  }
  setScopeFailure(transition, scope, first);
}

/** Whether a scope will fail once running nodes have settled. No attempt can change that. */
function isFailing({ details: { endedBy, failure } }: ScopeRecord): boolean {
  return endedBy !== undefined && failure !== undefined;
}

/** Whether a node may have another attempt. In a scope that has ended, containers may not: they would start nodes. */
function mayHaveAnotherAttempt({ scope, planned }: NodeRecord): boolean {
  if (scope.details.stopped || isFailing(scope)) return false;
  const { kind } = planned.node;
  return scope.details.endedBy === undefined || kind === 'call' || kind === 'resource' || kind === 'compute';
}

/**
 * In a scope that has ended, fails the nodes that have stopped: the outcome does not depend on timing. One that is failing
 * has no further attempts either.
 */
function failRest(transition: Transition, scope: ScopeRecord, wasFailing: boolean): void {
  if (transition.plan.graph.task === true && scope.details.endedBy !== undefined) {
    for (const node of scope.nodes) {
      if (node === undefined || !isPaused(node)) continue;
      const { failure = failures.cancelledElsewhere() } = node.details;
      withdraw(transition, node.command, failure);
      failPaused(transition, node, failure);
    }
  }
  if (!wasFailing) failPendingRetries(transition, scope);
}

/** In a scope that is failing, fails the nodes that wait for another attempt with the failure of their last one. */
function failPendingRetries(transition: Transition, scope: ScopeRecord): void {
  if (!isFailing(scope)) return;
  for (const node of scope.nodes) {
    const failure = node?.details.failure;
    if (failure === undefined || node?.isSettled !== false || !isBetweenAttempts(node)) continue;
    transition.cancelTimer(node);
    fail(transition, node, { failure, reached: node.attempt, isPermanent: false });
  }
}

function settleFailed(
  transition: Transition,
  node: NodeRecord,
  { failure, isPermanent }: Pick<Failed, 'failure' | 'isPermanent'>,
): void {
  const scope = transition.change(node.scope);
  scope.set('failures', scope.details.failures + 1);
  node.set('failure', failure);
  node.set('failureNumber', scope.details.failures);
  node.set('isPermanent', isPermanent);
  settle(transition, node, 'failed');
  transition.report({ kind: 'nodeFailed', ...nodeInFact(node), failure });
}

function setScopeFailure(transition: Transition, scope: ScopeRecord, node: NodeRecord | undefined): void {
  transition.change(scope).set('failure', node?.details.failure);
  scope.set('failedNode', node);
  scope.set('isPermanent', node?.details.isPermanent ?? false);
}

function stopFor(reason: SkipReason): Stop {
  return { how: 'stop', reason, failure: failures.cancelledElsewhere() };
}

// A step of a task that would fail its run stops instead: it waits with an action. [N13]

/** Whether a node stops in place of failing: its run is a task, which the failure would end. */
function pausesAtFailure(transition: Transition, node: NodeRecord, isPermanent: boolean): boolean {
  const { state, plan, at, rehearsal } = transition;
  const { cancelling, deadlineAt = Number.POSITIVE_INFINITY } = state.run;
  if (plan.graph.task !== true || rehearsal !== undefined) return false;
  // What undoes is not made outside.
  if (cancelling !== undefined || deadlineAt <= at || node.planned.node.kind === 'compensate') return false;
  return failsRun(node.scope, isPermanent);
}

/** Whether a failure in a scope fails the run. In a scope that has ended it is one of several. */
function failsRun(scope: ScopeRecord, isPermanent: boolean): boolean {
  const { container } = scope;
  const { endedBy, stopped, failure } = scope.details;
  if (endedBy !== undefined || stopped) return false;
  if (container === undefined) return true;
  // The first failure of a scope is that of its container.
  const isCause = failure === undefined;
  const staysFailed = isCause ? isPermanent : scope.details.isPermanent;
  return !handlesFailure(container, scope, staysFailed) && failsRun(container.scope, staysFailed);
}

/** Whether a container does not pass on the failure of its part, or undoes something before. */
function handlesFailure({ planned, attempt }: NodeRecord, part: ScopeRecord, isPermanent: boolean): boolean {
  const { node, retry } = planned;
  if (node.onError !== undefined || undoesOnFailure(part)) return true;
  if (retry !== undefined && !isPermanent && attempt <= retry.extra) return true;
  if (node.kind === 'parallel') return node.onPartialFailure !== 'abort';
  return node.kind === 'foreach' && node.onItemError !== 'fail';
}

function stepActionOf(transition: Transition, node: NodeRecord, failure: Failure): StepAction {
  const model = node.planned.node;
  const action = { type: 'step', failure, schema: resultSchema(model) } as const;
  if (model.kind !== 'call') return action;
  const args = inputOf(transition, node, model);
  return { ...action, tool: model.tool, ...defined({ args: args.ok ? args.value : undefined }) };
}

/** The input of a call. A later attempt has that of the first one. */
export function inputOf(
  transition: Transition,
  node: NodeRecord,
  { input }: CallNode,
): Evaluated<JsonObject> {
  const { input: earlier } = node.details;
  return earlier === undefined
    ? readerOf(transition, node).object(input, 'input')
    : { ok: true, value: earlier };
}
