import type { Expr } from '../../graph/expression/tree.js';
import type { Value } from '../../graph/json.js';
import { unreachable } from '../../graph/unreachable.js';
import type { PlannedNode } from '../../plan/plan.js';
import type { Fact, NodeRow, NodeStatus, Selection, SkipReason } from './contract.js';
import type { NodeInstance } from './instances.js';
import { changePlaces, leaveLine, takesPlace } from './ready-line.js';
import { readerIn, type Turn } from './turn.js';

/** A node has done its work. An absent value leaves no output. */
export function succeed(turn: Turn, node: NodeInstance, value: Value): void {
  const { recorder } = turn;
  if (value !== undefined) recorder.tables.outputs.put(node.key, value);
  settle(turn, node, SUCCEEDED);
  recorder.report(successOf(turn, node, value));
}

const SUCCEEDED: Settled = { status: 'succeeded' };

function successOf(turn: Turn, node: NodeInstance, value: Value): Fact {
  const { kind: nodeKind, summary } = node.planned.node;
  const plain = { kind: 'nodeSucceeded', node: node.key, nodeKind } as const;
  if (summary === undefined && nodeKind !== 'workflow') return plain;
  const given = nodeKind === 'workflow' && value !== undefined ? { value } : {};
  return { ...plain, ...given, ...(summary === undefined ? {} : summaryOf(turn, node, summary)) };
}

/** A summary is for readers: a fault in it is reported beside the success. An empty one is none. */
function summaryOf(turn: Turn, { scope }: NodeInstance, expr: Expr) {
  const summary = readerIn(turn, scope).text(expr, 'summary');
  if (!summary.ok) return { summaryFailure: summary.failure };
  return summary.value === '' ? {} : { summary: summary.value };
}

/** A node will not run. */
export function skip(turn: Turn, node: NodeInstance, reason: SkipReason): void {
  settle(turn, node, { status: 'skipped', reason });
  const nodeKind = node.planned.node.kind;
  turn.recorder.report({ kind: 'nodeSkipped', node: node.key, nodeKind, reason });
}

/** A node was given up from outside. */
export function cancel(turn: Turn, node: NodeInstance): void {
  settle(turn, node, { status: 'cancelled' });
  turn.recorder.report({ kind: 'nodeCancelled', node: node.key, nodeKind: node.planned.node.kind });
}

/** How a node ended. */
export type Settled = Pick<NodeRow, 'reason' | 'failure' | 'failedAs' | 'final' | 'reached'> & {
  readonly status: Extract<NodeStatus, 'succeeded' | 'failed' | 'handled' | 'skipped' | 'cancelled'>;
};

/** Puts a node's final row, frees its place, and makes those due that waited for it last. */
export function settle(turn: Turn, node: NodeInstance, settled: Settled): void {
  const { nodes, scopes } = turn.recorder.tables;
  leaveLine(turn, node);
  const row = nodes.need(node.key);
  if (row.status === 'running' && takesPlace(node.planned.node)) changePlaces(turn, -1);
  if (
    settled === SUCCEEDED &&
    row.failure === undefined &&
    row.routers === undefined &&
    row.input === undefined
  ) {
    nodes.draft(node.key).status = settled.status;
  } else {
    // What only those need that have not settled goes.
    const { failure: _failure, routers: _routers, input: _input, ...rest } = row;
    nodes.put(node.key, { ...rest, ...settled });
  }
  const scope = scopes.draft(node.scope.key);
  scope.open -= 1;
  if (scope.stopped && settled.status === 'cancelled') scope.cut = true;
  releaseSuccessors(turn, node);
  releaseRoutes(turn, node);
  if (node.planned.node.kind === 'compensate') tellRollbacks(turn, node);
  if (scope.open === 0) turn.ended.push({ kind: 'scope', scope: node.scope });
}

/** Who was left out meanwhile waits no more. */
function releaseSuccessors({ recorder, instances, due }: Turn, { planned, scope }: NodeInstance): void {
  const { nodes } = recorder.tables;
  for (const each of planned.successors) {
    const successor = instances.node(scope, each);
    if (nodes.need(successor.key).status !== 'pending') continue;
    const row = nodes.draft(successor.key);
    row.waitingFor -= 1;
    if (row.waitingFor === 0) due.add(successor);
  }
}

/** A node that could still have been selected learns that this one will not do it any more. */
function releaseRoutes({ recorder, instances, due }: Turn, { planned, scope }: NodeInstance): void {
  const { nodes } = recorder.tables;
  for (const each of planned.routes) {
    const target = instances.node(scope, each);
    const row = nodes.need(target.key);
    if (row.status !== 'pending') continue;
    const routers = (row.routers ?? 0) - 1;
    nodes.put(target.key, { ...row, routers });
    if (routers === 0 && row.selections === undefined) due.add(target);
  }
}

/** The `parallel` nodes that wait for this node to undo what they did. */
function tellRollbacks(turn: Turn, { planned, scope }: NodeInstance): void {
  for (const router of planned.routers) {
    const of = turn.instances.node(scope, router);
    const isWaiting = turn.recorder.tables.containers.get(of.key)?.undoing === true;
    if (isWaiting && isRollbackOf(router, planned)) turn.ended.push({ kind: 'rollback', of });
  }
}

function isRollbackOf({ node }: PlannedNode, { node: { id } }: PlannedNode): boolean {
  return node.kind === 'parallel' && node.compensateNode === id;
}

/**
 * Selects a node of the same scope. The first selection counts, later ones are kept for the case that a jump takes it
 * back; one that needs none, or is settled, is left alone.
 */
export function select(turn: Turn, by: NodeInstance, target: string, why: Selection['why']): void {
  const { recorder, due } = turn;
  const node = neighbour(turn, by, target);
  const row = recorder.tables.nodes.need(node.key);
  if (!node.planned.needsSelection || row.status !== 'pending') return;
  const selections = [...(row.selections ?? []), { by: by.key, why }];
  recorder.tables.nodes.put(node.key, { ...row, selections });
  if (selections.length === 1 && row.waitingFor === 0) due.add(node);
}

/** Another node of the same scope. */
export function neighbour({ instances }: Turn, { scope }: NodeInstance, id: string): NodeInstance {
  const planned = scope.workflow.plan.byId.get(id);
  if (planned === undefined) throw new Error(`the plan has no node '${id}'`);
  return instances.node(scope, planned);
}

/** Whether a node has come to its end. */
export function isSettled({ status }: NodeRow): boolean {
  switch (status) {
    case 'succeeded':
    case 'failed':
    case 'handled':
    case 'skipped':
    case 'cancelled':
      return true;
    case 'pending':
    case 'ready':
    case 'running':
    case 'waiting':
      return false;
    default:
      return unreachable(status);
  }
}
