import type { Expr } from '../../graph/expression/tree.js';
import type { Value } from '../../graph/json.js';
import type { PlannedNode } from '../../plan/plan.js';
import type { Fact, NodeStatus, SkipReason } from './contract.js';
import { changeSlots, leaveQueue } from './queues.js';
import type { NodeRecord } from './records.js';
import type { SelectionReason } from './rows.js';
import { readerIn, type Transition } from './transition.js';

/** How a node ends. */
type EndStatus = Extract<NodeStatus, 'succeeded' | 'failed' | 'handled' | 'skipped' | 'cancelled'>;

/** A node has done its work. */
export function succeed(transition: Transition, node: NodeRecord, value: Value): void {
  node.output = value;
  node.set('failure', undefined);
  settle(transition, node, 'succeeded');
  transition.report(successOf(transition, node, value));
}

function successOf(transition: Transition, node: NodeRecord, value: Value): Fact {
  const { kind: nodeKind, summary } = node.planned.node;
  const plain = { kind: 'nodeSucceeded', node: node.key, nodeKind } as const;
  if (summary === undefined && nodeKind !== 'workflow') return plain;
  const given = nodeKind === 'workflow' && value !== undefined ? { value } : {};
  return { ...plain, ...given, ...(summary === undefined ? {} : summaryOf(transition, node, summary)) };
}

/** A summary is for readers: a fault in it is reported beside the success. An empty one is none. */
function summaryOf(transition: Transition, { scope }: NodeRecord, expr: Expr) {
  const summary = readerIn(transition, scope).text(expr, 'summary');
  if (!summary.ok) return { summaryFailure: summary.failure };
  return summary.value === '' ? {} : { summary: summary.value };
}

/** A node will not run. */
export function skip(transition: Transition, node: NodeRecord, reason: SkipReason): void {
  node.set('reason', reason);
  node.set('failure', undefined);
  settle(transition, node, 'skipped');
  transition.report({ kind: 'nodeSkipped', node: node.key, nodeKind: node.planned.node.kind, reason });
}

/** A node was cancelled from outside. */
export function cancel(transition: Transition, node: NodeRecord): void {
  node.set('failure', undefined);
  settle(transition, node, 'cancelled');
  transition.report({ kind: 'nodeCancelled', node: node.key, nodeKind: node.planned.node.kind });
}

/** Ends a node, frees its slot, and makes those ready that waited for it last. */
export function settle(transition: Transition, node: NodeRecord, status: EndStatus): void {
  const { planned, scope } = node;
  transition.change(node);
  leaveQueue(transition, node);
  if (node.status === 'running' && planned.takesSlot) changeSlots(transition, -1);
  // They count what they wait for when they are first looked at: this node among it.
  for (const each of planned.successors) scope.node(each);
  for (const each of planned.routes) scope.node(each);
  node.status = status;
  node.set('input', undefined);
  scope.open -= 1;
  if (scope.details.stopped && status === 'cancelled') transition.change(scope).set('cut', true);
  releaseSuccessors(transition, node);
  releaseRoutes(transition, node);
  if (planned.node.kind === 'compensate') notifyRollbacks(transition, node);
  if (scope.open === 0) transition.completions.push({ kind: 'scope', scope });
}

/** Who was left out meanwhile waits no more. */
function releaseSuccessors({ ready }: Transition, { planned, scope }: NodeRecord): void {
  for (const each of planned.successors) {
    const successor = scope.node(each);
    if (successor.status !== 'pending') continue;
    successor.waitingFor -= 1;
    if (successor.waitingFor === 0) ready.add(successor);
  }
}

/** A node that could still have been selected learns that this one will not do it any more. */
function releaseRoutes({ ready }: Transition, { planned, scope }: NodeRecord): void {
  for (const each of planned.routes) {
    const target = scope.node(each);
    if (target.status !== 'pending') continue;
    target.routers -= 1;
    if (target.routers === 0 && target.details.selections.length === 0) ready.add(target);
  }
}

/** The `parallel` nodes that wait for this node to undo what they did. */
function notifyRollbacks({ completions }: Transition, { planned, scope }: NodeRecord): void {
  for (const router of planned.routers) {
    const of = scope.node(router);
    if (of.container?.undoing === true && isRollbackOf(router, planned))
      completions.push({ kind: 'rollback', of });
  }
}

function isRollbackOf({ node }: PlannedNode, { node: { id } }: PlannedNode): boolean {
  return node.kind === 'parallel' && node.compensateNode === id;
}

/**
 * Selects a node of the same scope. The first selection counts, later ones are kept for the case that a jump takes it
 * back; one that needs none, or is settled, is left alone.
 */
export function select(transition: Transition, by: NodeRecord, target: string, why: SelectionReason): void {
  const node = neighbour(by, target);
  if (!node.planned.needsSelection || node.status !== 'pending') return;
  const { selections } = node.details;
  transition.change(node).select([...selections, { by, why }]);
  if (selections.length === 0 && node.waitingFor === 0) transition.ready.add(node);
}

/** Another node of the same scope. */
export function neighbour({ scope }: NodeRecord, id: string): NodeRecord {
  const planned = scope.workflow.plan.byId.get(id);
  if (planned === undefined) throw new Error(`the plan has no node '${id}'`);
  return scope.node(planned);
}

/** How facts name a node. */
export function named({ key, planned }: NodeRecord) {
  return { node: key, nodeKind: planned.node.kind };
}
