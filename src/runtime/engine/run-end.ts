import type { Graph } from '../../graph/model.js';
import type { PlanFault } from '../../plan/fault.js';
import type { CompensationReport, Event, NodeFailure, RunRow } from './contract.js';
import { failures } from './failures.js';
import type { ScopeInstance } from './instances.js';
import { outcomeOf } from './scopes.js';
import { stopScope } from './stop.js';
import type { Turn } from './turn.js';
import { beginRollback, undoableInRun } from './undo.js';

/** The graph as a whole cannot run: the run fails before anything has started. */
export function endWithFault(turn: Turn, graph: Graph, { failure, node }: PlanFault): void {
  const { recorder } = turn;
  for (const { id, kind } of graph.nodes) {
    const row = { waitingFor: 0, attempt: 0 };
    if (id === node?.id) {
      recorder.tables.nodes.put(id, { ...row, status: 'failed', failure });
      recorder.report({ kind: 'nodeFailed', node: id, nodeKind: kind, failure });
    } else {
      recorder.tables.nodes.put(id, { ...row, status: 'skipped', reason: 'run_ended' });
      recorder.report({ kind: 'nodeSkipped', node: id, nodeKind: kind, reason: 'run_ended' });
    }
  }
  const failed = node === undefined ? {} : { failedNode: node.id, failures: [{ node: node.id, failure }] };
  finish(turn, { ...recorder.run, status: 'failed', failure, ...failed });
}

/** Gives up everything at once: calls in flight are aborted, and what they did stays unknown. [L16] */
export function cancelRun(
  turn: Turn,
  { reason, compensate = false, code }: Extract<Event, { kind: 'cancelled' }>,
): boolean {
  const { recorder, instances } = turn;
  if (recorder.run.cancelling !== undefined) return false;
  const cancelling = { reason, compensate, ...(code === undefined ? {} : { code }) };
  recorder.putRun({ ...recorder.run, cancelling });
  const failure = failures.cancelledInFlight(reason);
  stopScope(turn, instances.root, { how: 'cancel', reason: 'run_ended', failure });
  return true;
}

/** Every node at the top has settled. A cancelled run may still have to be undone. */
export function finishRun(turn: Turn): void {
  const { recorder } = turn;
  const { cancelling, status } = recorder.run;
  if (status !== 'running') return;
  if (cancelling === undefined) {
    finishByOutcome(turn);
    return;
  }
  const effects = cancelling.compensate ? undoableInRun(turn) : [];
  if (effects.length > 0) beginRollback(turn, undefined, effects);
  // What a node was undoing when the run was cancelled is waited for.
  else if ((recorder.run.compensations ?? 0) === 0) finishCancelled(turn);
}

/** What a cancelled run did is undone. */
export function runUndone(turn: Turn, report: CompensationReport): void {
  finishCancelled(turn, report);
}

/** A run succeeds only when no failure is left. */
function finishByOutcome(turn: Turn): void {
  const { recorder, instances } = turn;
  const outcome = outcomeOf(turn, instances.root);
  const { endedBy, failedNode } = recorder.tables.scopes.need(instances.root.key);
  const run = { ...recorder.run, ...(endedBy === undefined ? {} : { endedBy }) };
  if (outcome.status === 'succeeded') {
    finish(turn, {
      ...run,
      status: 'succeeded',
      ...(outcome.value === undefined ? {} : { result: outcome.value }),
    });
  } else if (outcome.status === 'failed') {
    const { failure } = outcome;
    const from = failedNode === undefined ? {} : { failedNode };
    finish(turn, { ...run, status: 'failed', failure, ...from, ...failuresOf(turn) });
  } else throw new Error('a run was left unfinished that nobody cancelled');
}

function finishCancelled(turn: Turn, report?: CompensationReport): void {
  const { cancelling, ...run } = turn.recorder.run;
  const failure = failures.cancelled(cancelling?.reason ?? '', report, cancelling?.code);
  finish(turn, { ...run, status: 'cancelled', failure, ...failuresOf(turn) });
}

/** Every node that failed, as the end of a run tells it. */
function failuresOf(turn: Turn): Pick<RunRow, 'failures'> {
  const { nodes, containers, scopes } = turn.recorder.tables;
  const failed: NodeFailure[] = [];
  const collect = (scope: ScopeInstance): void => {
    for (const planned of scope.plan.nodes) {
      const node = turn.instances.node(scope, planned);
      const { status, failure } = nodes.need(node.key);
      if (status !== 'failed' || failure === undefined) continue;
      failed.push({ node: node.key, failure });
      const container = containers.get(node.key);
      for (let part = container?.first ?? 0; part < (container?.next ?? 0); part += 1) {
        const inside = turn.instances.part(node, part);
        if (scopes.get(inside.key) !== undefined) collect(inside);
      }
    }
  };
  collect(turn.instances.root);
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
