import type { Value } from '../../graph/json.js';
import type { NodeRow, NodeStatus, SkipReason } from './contract.js';
import type { PlannedNode, RunnableNode } from './plan.js';
import type { Turn } from './turn.js';

/** A node has done its work. An absent value leaves no output. */
export function succeed(turn: Turn, planned: PlannedNode, value: Value): void {
  const { node } = planned;
  if (value !== undefined) turn.recorder.putOutput(node.id, value);
  settle(turn, planned, { status: 'succeeded' });
  const summary = summaryOf(turn, node);
  turn.recorder.report({ kind: 'nodeSucceeded', node: node.id, nodeKind: node.kind, ...summary });
}

/** A summary is for readers: a fault in it is reported beside the success. An empty one is none. */
function summaryOf({ evaluation }: Turn, node: RunnableNode) {
  if (node.summary === undefined) return {};
  const summary = evaluation.text(node.summary, 'summary');
  if (!summary.ok) return { summaryFailure: summary.failure };
  return summary.value === '' ? {} : { summary: summary.value };
}

/** A node will not run. */
export function skip(turn: Turn, planned: PlannedNode, reason: SkipReason): void {
  const { id, kind } = planned.node;
  settle(turn, planned, { status: 'skipped', reason });
  turn.recorder.report({ kind: 'nodeSkipped', node: id, nodeKind: kind, reason });
}

/** How a node ended. */
export type Settled = Pick<NodeRow, 'reason' | 'failure'> & {
  readonly status: Extract<NodeStatus, 'succeeded' | 'failed' | 'skipped' | 'cancelled'>;
};

/** Puts a node's final row, frees its place, and makes those due that waited for it last. */
export function settle(turn: Turn, planned: PlannedNode, settled: Settled): void {
  const { recorder } = turn;
  const { id } = planned.node;
  const { waitingFor, attempt, status } = recorder.node(id);
  recorder.putNode(id, { waitingFor, attempt, ...settled });
  const { run } = recorder;
  const running = status === 'running' ? run.running - 1 : run.running;
  recorder.putRun({ ...run, open: run.open - 1, running });
  // Once nothing new may start, nobody waits any more.
  if (run.endedBy === undefined) releaseSuccessors(turn, planned);
}

function releaseSuccessors({ recorder, due }: Turn, planned: PlannedNode): void {
  for (const successor of planned.successors) {
    const row = recorder.node(successor.node.id);
    recorder.putNode(successor.node.id, { ...row, waitingFor: row.waitingFor - 1 });
    if (row.waitingFor === 1) due.add(successor);
  }
}
