import { type Json, ownProperty } from '../../graph/json.js';
import { abandonCall, abandonTimer, callId, delayId, timerId } from './commands.js';
import type { Failure, NodeFailure, RunRow, SkipReason } from './contract.js';
import { failures } from './failures.js';
import type { GraphFault, PlannedNode } from './plan.js';
import { leaveLine, standInLine } from './ready-line.js';
import { settle, skip, succeed } from './settle.js';
import type { Turn } from './turn.js';

/**
 * A node has come to the end of its attempts. Its fallback, where it has one, makes it succeed; else it has failed for
 * good.
 *
 * @param attempts how often the node's tool or resource was reached.
 */
export function fail(turn: Turn, planned: PlannedNode, failure: Failure, attempts: number): void {
  const { id, kind, onError } = planned.node;
  if (onError === undefined || !('value' in onError)) {
    failForGood(turn, planned, failure);
    return;
  }
  const { code, message } = failure;
  const fallback = turn.evaluation.fallback(onError.value, { code, message, attempts, node: id });
  if (!fallback.ok) {
    failForGood(turn, planned, failures.fallback(failure, fallback.failure));
    return;
  }
  const { value } = fallback;
  const given = value === undefined ? {} : { value };
  turn.recorder.report({ kind: 'handled', node: id, nodeKind: kind, failure, attempts, ...given });
  succeed(turn, planned, value);
}

/**
 * A node has failed, and nothing stands in for it. The first failure is the run's. Where the graph fails fast, nothing
 * new starts after it, and calls in flight settle, so that their effects are known.
 */
export function failForGood(turn: Turn, planned: PlannedNode, failure: Failure): void {
  const wasFailing = isFailing(turn);
  const { recorder, plan } = turn;
  const { id } = planned.node;
  settleFailed(turn, planned, failure);
  if (recorder.run.failure === undefined) recorder.putRun({ ...recorder.run, failure, failedNode: id });
  if (plan.failFast) stopStarting(turn, id, 'upstream_failed');
  if (!wasFailing) stopRetrying(turn);
}

/** An `error` node was reached: the run fails with its failure, whatever has failed before. */
export function endWithError(turn: Turn, planned: PlannedNode, failure: Failure): void {
  const wasFailing = isFailing(turn);
  const { recorder } = turn;
  const { id } = planned.node;
  settleFailed(turn, planned, failure);
  recorder.putRun({ ...recorder.run, failure, failedNode: id });
  stopStarting(turn, id, 'run_ended');
  if (!wasFailing) stopRetrying(turn);
}

/**
 * A `return` node was reached: nothing new starts, and its value is the result once what has started has settled.
 * A failure among that, or before, makes the run fail all the same: the outcome does not hang on who was faster.
 */
export function endWithReturn(turn: Turn, planned: PlannedNode, value: Json | undefined): void {
  const wasFailing = isFailing(turn);
  succeed(turn, planned, value);
  stopStarting(turn, planned.node.id, 'run_ended');
  if (!wasFailing) stopRetrying(turn);
}

/** Whether the run is bound to fail and only waits for what is in flight: then no attempt can save it any more. */
export function isFailing({ recorder: { run } }: Turn): boolean {
  return run.endedBy !== undefined && run.failure !== undefined;
}

/** The graph as a whole cannot run: the run fails before anything has started. */
export function endWithFault(turn: Turn, { failure, node }: GraphFault): void {
  const { recorder, plan } = turn;
  recorder.putRun({
    ...recorder.run,
    failure,
    open: 0,
    ...(node === undefined ? {} : { failedNode: node.id }),
  });
  for (const { id, kind } of plan.graph.nodes) {
    const row = { waitingFor: 0, attempt: 0 };
    if (id === node?.id) {
      recorder.putNode(id, { ...row, status: 'failed', failure });
      recorder.report({ kind: 'nodeFailed', node: id, nodeKind: kind, failure });
    } else {
      recorder.putNode(id, { ...row, status: 'skipped', reason: 'run_ended' });
      recorder.report({ kind: 'nodeSkipped', node: id, nodeKind: kind, reason: 'run_ended' });
    }
  }
}

/** Ends the run when no node is open. A run succeeds only when no failure is left. */
export function finishIfDone(turn: Turn): void {
  const { recorder } = turn;
  const { run } = recorder;
  if (run.status !== 'running' || run.open > 0) return;
  if (run.failure !== undefined) {
    finish(turn, { ...run, status: 'failed', ...failuresOf(turn) });
    return;
  }
  const outcome = resultOf(turn);
  if (!outcome.ok) finish(turn, { ...run, status: 'failed', failure: outcome.failure });
  else if (outcome.value === undefined) finish(turn, { ...run, status: 'succeeded' });
  else finish(turn, { ...run, status: 'succeeded', result: outcome.value });
}

/** Gives up everything at once: calls in flight are aborted, and what they did stays unknown. */
export function cancelRun(turn: Turn, reason: string): void {
  const { recorder, plan } = turn;
  for (const planned of plan.nodes) {
    const { id, kind } = planned.node;
    const { status, attempt, waitingFor } = recorder.node(id);
    const call = callId(id, attempt);
    if (status === 'running') {
      abandonCall(recorder, call);
      abandonTimer(recorder, timerId(call));
      if (kind !== 'compute') {
        const outcome = { ok: false, failure: failures.cancelledInFlight(reason) } as const;
        recorder.report({ kind: 'callReturned', node: id, command: call, attempted: true, outcome });
      }
    } else if (status === 'waiting') {
      abandonTimer(recorder, delayId(call));
    } else if (status !== 'pending' && status !== 'ready') {
      continue;
    }
    recorder.putNode(id, { waitingFor, attempt, status: 'cancelled' });
    recorder.report({ kind: 'nodeCancelled', node: id, nodeKind: kind });
  }
  const { readyHead: _head, readyTail: _tail, failedNode: _node, ...run } = recorder.run;
  const failure = failures.cancelled(reason);
  finish(turn, { ...run, open: 0, running: 0, status: 'cancelled', failure, ...failuresOf(turn) });
}

function settleFailed(turn: Turn, planned: PlannedNode, failure: Failure): void {
  const { id, kind } = planned.node;
  settle(turn, planned, { status: 'failed', failure });
  turn.recorder.report({ kind: 'nodeFailed', node: id, nodeKind: kind, failure });
}

/**
 * From here on nothing new starts; whoever stands in line for a further attempt stays there. This and `stopRetrying`
 * look at every node, and each does so once in a run.
 */
function stopStarting(turn: Turn, by: string, reason: SkipReason): void {
  const { recorder, plan } = turn;
  if (recorder.run.endedBy !== undefined) return;
  recorder.putRun({ ...recorder.run, endedBy: by });
  for (const planned of leaveLine(turn)) {
    if (recorder.node(planned.node.id).attempt > 0) standInLine(turn, planned);
  }
  for (const planned of plan.nodes) {
    const { status, attempt } = recorder.node(planned.node.id);
    if (status === 'pending' || (status === 'ready' && attempt === 0)) skip(turn, planned, reason);
  }
}

/** Where the run is failing now, nodes between two attempts come to their end with the failure of the last one. */
function stopRetrying(turn: Turn): void {
  if (!isFailing(turn)) return;
  const { recorder, plan } = turn;
  leaveLine(turn);
  for (const planned of plan.nodes) {
    const { id } = planned.node;
    const { status, attempt, failure } = recorder.node(id);
    if ((status !== 'waiting' && status !== 'ready') || failure === undefined) continue;
    if (status === 'waiting') abandonTimer(recorder, delayId(callId(id, attempt)));
    fail(turn, planned, failure, attempt);
  }
}

/** The value of the `return` that was reached, else of the graph's own `returns`, else null. */
function resultOf({ recorder, plan, evaluation }: Turn) {
  const { endedBy } = recorder.run;
  if (endedBy !== undefined)
    return { ok: true, value: ownProperty(recorder.state.outputs, endedBy) } as const;
  if (plan.graph.returns !== undefined) return evaluation.value(plan.graph.returns);
  return { ok: true, value: null } as const;
}

/** Every node that failed, as the end of a run tells it. */
function failuresOf({ recorder, plan }: Turn): Pick<RunRow, 'failures'> {
  const failed = plan.graph.nodes.flatMap(({ id }): NodeFailure[] => {
    const { status, failure } = recorder.node(id);
    return status === 'failed' && failure !== undefined ? [{ node: id, failure }] : [];
  });
  return failed.length === 0 ? {} : { failures: failed };
}

function finish(
  { recorder }: Turn,
  row: RunRow & { readonly status: 'succeeded' | 'failed' | 'cancelled' },
): void {
  recorder.putRun(row);
  recorder.report({
    kind: 'finished',
    status: row.status,
    ...(row.result === undefined ? {} : { result: row.result }),
    ...(row.failure === undefined ? {} : { failure: row.failure }),
    ...(row.failedNode === undefined ? {} : { node: row.failedNode }),
    ...(row.failures === undefined ? {} : { failures: row.failures }),
  });
}
