import { type Json, ownProperty } from '../../graph/json.js';
import { abandonCall, abandonTimer, callId, timerId } from './commands.js';
import type { Failure, RunRow, SkipReason } from './contract.js';
import { failures } from './failures.js';
import type { GraphFault, PlannedNode } from './plan.js';
import { settle, skip, succeed } from './settle.js';
import type { Turn } from './turn.js';

/**
 * A node has failed for good. The first failure is the run's. Where the graph fails fast, nothing new starts after it,
 * and calls in flight settle, so that their effects are known.
 */
export function fail(turn: Turn, planned: PlannedNode, failure: Failure): void {
  const { recorder, plan } = turn;
  const { id } = planned.node;
  settleFailed(turn, planned, failure);
  if (recorder.run.failure === undefined) recorder.putRun({ ...recorder.run, failure, failedNode: id });
  if (plan.failFast) stopStarting(turn, id, 'upstream_failed');
}

/** An `error` node was reached: the run fails with its failure, whatever has failed before. */
export function endWithError(turn: Turn, planned: PlannedNode, failure: Failure): void {
  const { recorder } = turn;
  const { id } = planned.node;
  settleFailed(turn, planned, failure);
  recorder.putRun({ ...recorder.run, failure, failedNode: id });
  stopStarting(turn, id, 'run_ended');
}

/**
 * A `return` node was reached: nothing new starts, and its value is the result once calls in flight have settled.
 * A failure among them, or before, makes the run fail all the same: the outcome does not hang on who was faster.
 */
export function endWithReturn(turn: Turn, planned: PlannedNode, value: Json | undefined): void {
  succeed(turn, planned, value);
  stopStarting(turn, planned.node.id, 'run_ended');
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
    finish(turn, { ...run, status: 'failed' });
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
    if (status !== 'pending' && status !== 'ready' && status !== 'running') continue;
    if (status === 'running') {
      const call = callId(id, attempt);
      abandonCall(recorder, call);
      abandonTimer(recorder, timerId(call));
      const outcome = { ok: false, failure: failures.cancelledInFlight(reason) } as const;
      recorder.report({ kind: 'callReturned', node: id, command: call, attempted: true, outcome });
    }
    recorder.putNode(id, { waitingFor, attempt, status: 'cancelled' });
    recorder.report({ kind: 'nodeCancelled', node: id, nodeKind: kind });
  }
  const { readyHead: _head, readyTail: _tail, failedNode: _node, ...run } = recorder.run;
  finish(turn, { ...run, open: 0, running: 0, status: 'cancelled', failure: failures.cancelled(reason) });
}

function settleFailed(turn: Turn, planned: PlannedNode, failure: Failure): void {
  const { id, kind } = planned.node;
  settle(turn, planned, { status: 'failed', failure });
  turn.recorder.report({ kind: 'nodeFailed', node: id, nodeKind: kind, failure });
}

/** From here on nothing new starts. The one place that looks at every node, and it does so once in a run. */
function stopStarting(turn: Turn, by: string, reason: SkipReason): void {
  const { recorder, plan } = turn;
  if (recorder.run.endedBy !== undefined) return;
  const { readyHead: _head, readyTail: _tail, ...run } = recorder.run;
  recorder.putRun({ ...run, endedBy: by });
  for (const planned of plan.nodes) {
    const { status } = recorder.node(planned.node.id);
    if (status === 'pending' || status === 'ready') skip(turn, planned, reason);
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
  });
}
