import type { Expr } from '../../graph/expression/tree.js';
import type { Value } from '../../graph/json.js';
import { abandonTimer, attemptId, delayId } from './commands.js';
import type { Failure, NodeRow, ScopeRow, SkipReason } from './contract.js';
import { failures } from './failures.js';
import type { NodeInstance, ScopeInstance } from './instances.js';
import { isSettled, neighbour, select, settle, succeed } from './settle.js';
import { endScope, isBetweenAttempts, type Stop } from './stop.js';
import { readerIn, type Turn } from './turn.js';

/** How a node failed. */
export interface Failed {
  readonly failure: Failure;
  /** How often the node's tool, resource or whatever it asks was reached, or its scopes were begun. */
  readonly reached: number;
  /** No retry of anything around it can change the failure. */
  readonly final: boolean;
}

/** A node has come to the end of its attempts: its fallback takes over, where it has one, else it has failed for good. */
export function fail(turn: Turn, node: NodeInstance, failed: Failed): void {
  const { onError } = node.planned.node;
  if (onError === undefined) failForGood(turn, node, failed);
  else if ('value' in onError) standIn(turn, node, failed, onError.value);
  else handOver(turn, node, failed, onError.fallbackNode);
}

function standIn(turn: Turn, node: NodeInstance, failed: Failed, value: Expr): void {
  const { failure, reached: attempts } = failed;
  const { code, message } = failure;
  const error = { code, message, attempts, node: node.planned.node.id };
  const fallback = readerIn(turn, node.scope).withError(error).value(value);
  if (!fallback.ok) {
    failForGood(turn, node, { ...failed, failure: failures.fallback(failure, fallback.failure) });
    return;
  }
  const given = fallback.value === undefined ? {} : { value: fallback.value };
  turn.recorder.report({ kind: 'handled', ...named(node), failure, attempts, ...given });
  succeed(turn, node, fallback.value);
}

/**
 * Another node takes over, unless that was left out, has failed or was aborted, or nothing new may start: no failure is
 * lost. One that has succeeded already stands in for this node as well. [E6]
 */
function handOver(turn: Turn, node: NodeInstance, failed: Failed, fallbackNode: string): void {
  const { scopes, nodes, containers } = turn.recorder.tables;
  const { endedBy, stopped } = scopes.need(node.scope.key);
  const { key } = neighbour(turn, node, fallbackNode);
  const other = nodes.need(key);
  const mayStart = endedBy === undefined && stopped === undefined;
  const isAborted = other.status === 'running' && containers.get(key)?.aborted === true;
  if (hasNothingToGive(other) || isAborted || (other.status === 'pending' && !mayStart)) {
    failForGood(turn, node, failed);
    return;
  }
  const { failure, reached } = failed;
  turn.recorder.report({ kind: 'handled', ...named(node), failure, attempts: reached, fallbackNode });
  select(turn, node, fallbackNode, 'fallback');
  // What takes over may pass the failure on, with its finality.
  settle(turn, node, {
    status: 'handled',
    failure,
    reached,
    ...(failed.final ? { final: true as const } : {}),
  });
}

function hasNothingToGive({ status }: NodeRow): boolean {
  return status === 'skipped' || status === 'failed' || status === 'cancelled';
}

/**
 * A node has failed, and nothing stands in for it. The first failure is its scope's. Where the graph fails fast, nothing
 * new starts after it, and calls in flight settle, so that their effects are known. [G15]
 */
export function failForGood(turn: Turn, node: NodeInstance, failed: Failed): void {
  const { scopes } = turn.recorder.tables;
  const wasFailing = isFailing(scopes.need(node.scope.key));
  settleFailed(turn, node, failed);
  const scope = scopes.need(node.scope.key);
  if (scope.failure === undefined) scopes.put(node.scope.key, { ...scope, ...failureOf(node, failed) });
  if (node.scope.workflow.plan.failFast) endScope(turn, node.scope, node.key, stopFor('upstream_failed'));
  if (!wasFailing) endAttempts(turn, node.scope);
}

/** An `error` node was reached: its scope fails with its failure, whatever has failed before. [E8] */
export function endWithError(turn: Turn, node: NodeInstance, failure: Failure): void {
  const { scopes } = turn.recorder.tables;
  const wasFailing = isFailing(scopes.need(node.scope.key));
  settleFailed(turn, node, { failure, final: true });
  const { final: _final, ...scope } = scopes.need(node.scope.key);
  scopes.put(node.scope.key, { ...scope, ...failureOf(node, { failure, final: true }) });
  endScope(turn, node.scope, node.key, stopFor('run_ended'));
  if (!wasFailing) endAttempts(turn, node.scope);
}

/**
 * A `return` node was reached: nothing new starts in its workflow, and its value is the result once what has started
 * has settled. A failure among that, or before, fails the workflow all the same: the outcome does not hang on who was
 * faster.
 */
export function endWithReturn(turn: Turn, node: NodeInstance, value: Value): void {
  const { scopes } = turn.recorder.tables;
  const top = topOf(turn, node.scope);
  const wasFailing = isFailing(scopes.need(top.key));
  succeed(turn, node, value);
  endScope(turn, top, node.key, stopFor('run_ended'));
  if (!wasFailing) endAttempts(turn, top);
}

/** The scope at the top of the workflow that `scope` belongs to. */
export function topOf({ instances }: Turn, { workflow }: ScopeInstance): ScopeInstance {
  return workflow.node === undefined ? instances.root : instances.part(workflow.node, 0);
}

/**
 * Where the node has started over that a scope fails with, the first of the failures that are left is the scope's: none,
 * where none is left.
 */
export function forgetFailures(turn: Turn, scope: ScopeInstance): void {
  const { scopes, nodes } = turn.recorder.tables;
  const { failure: _failure, final: _final, failedNode, ...row } = scopes.need(scope.key);
  if (failedNode === undefined || nodes.need(failedNode).status === 'failed') return;
  let first: { readonly node: NodeInstance; readonly failedAs: number; readonly fault: Fault } | undefined;
  for (const planned of scope.plan.nodes) {
    const node = turn.instances.node(scope, planned);
    const { failure, failedAs, final = false } = nodes.need(node.key);
    if (failure === undefined || failedAs === undefined) continue;
    if (first === undefined || failedAs < first.failedAs)
      first = { node, failedAs, fault: { failure, final } };
  }
  scopes.put(scope.key, first === undefined ? row : { ...row, ...failureOf(first.node, first.fault) });
}

/** Whether a scope is bound to fail and only waits for what is in flight: then no attempt can save it any more. */
function isFailing({ endedBy, failure }: ScopeRow): boolean {
  return endedBy !== undefined && failure !== undefined;
}

/** Whether a node of a scope may have another attempt. A node with scopes of its own would start something new. */
export function mayGoOn(turn: Turn, node: NodeInstance): boolean {
  const scope = turn.recorder.tables.scopes.need(node.scope.key);
  if (scope.stopped || isFailing(scope)) return false;
  const { kind } = node.planned.node;
  return scope.endedBy === undefined || kind === 'call' || kind === 'resource' || kind === 'compute';
}

/** Where the scope is failing now, nodes between two attempts come to their end with the failure of the last one. */
function endAttempts(turn: Turn, scope: ScopeInstance): void {
  const { scopes, nodes } = turn.recorder.tables;
  if (!isFailing(scopes.need(scope.key))) return;
  for (const planned of scope.plan.nodes) {
    const node = turn.instances.node(scope, planned);
    const { failure, attempt } = nodes.need(node.key);
    if (failure === undefined || isSettled(nodes.need(node.key)) || !isBetweenAttempts(turn, node)) continue;
    abandonTimer(turn, delayId(attemptId(turn, node, attempt)));
    fail(turn, node, { failure, reached: attempt, final: false });
  }
}

type Fault = Pick<Failed, 'failure' | 'final'>;

function settleFailed(turn: Turn, node: NodeInstance, { failure, final }: Fault): void {
  const { scopes } = turn.recorder.tables;
  const scope = scopes.need(node.scope.key);
  const failedAs = (scope.failures ?? 0) + 1;
  scopes.put(node.scope.key, { ...scope, failures: failedAs });
  settle(turn, node, { status: 'failed', failure, failedAs, ...(final ? { final } : {}) });
  turn.recorder.report({ kind: 'nodeFailed', ...named(node), failure });
}

function failureOf(node: NodeInstance, { failure, final }: Fault): Partial<ScopeRow> {
  return { failure, failedNode: node.key, ...(final ? { final } : {}) };
}

function stopFor(reason: SkipReason): Stop {
  return { how: 'stop', reason, failure: failures.givenUp() };
}

/** How facts name a node. */
export function named({ key, planned }: NodeInstance) {
  return { node: key, nodeKind: planned.node.kind };
}
