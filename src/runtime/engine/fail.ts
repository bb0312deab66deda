import type { Expr } from '../../graph/expression/tree.js';
import type { Value } from '../../graph/json.js';
import type { Failure, SkipReason } from './contract.js';
import { failures } from './failures.js';
import type { NodeRecord, ScopeRecord } from './records.js';
import { named, neighbour, select, settle, succeed } from './settle.js';
import { endScope, isBetweenAttempts, type Stop } from './stop.js';
import { readerIn, type Transition } from './transition.js';

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
