import type { Expr } from '../../graph/expression/tree.js';
import type { Value } from '../../graph/json.js';
import type { PlannedNode } from '../../plan/plan.js';
import { abandon, noteUnknown } from './effects.js';
import type { Fact, Failure, NodeStatus, OwedCommand, SkipReason } from './events.js';
import type { ContainerRecord, NodeRecord, ScopeRecord } from './records.js';
import type { SelectionReason } from './rows.js';
import { nodeOf } from './state.js';
import { changeSlots, leaveQueue, readerIn, type Transition } from './transition.js';
import { compensationReturned, forgetUndone } from './undo.js';

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

/** How a scope is kept from going on. */
export interface Stop {
  /** `stop`: calls in flight settle. `abort`: they are cancelled. `cancel`: what is pending counts as cancelled, too. */
  readonly how: 'stop' | 'abort' | 'cancel';
  /** Why nodes are skipped that can no longer start. */
  readonly reason: SkipReason;
  /** What calls fail with that are cancelled. */
  readonly failure: Failure;
}

/** Nothing new starts in a scope because of something outside. Looks at each of its nodes once. */
export function stopScope(transition: Transition, scope: ScopeRecord, stop: Stop): void {
  if (scope.open === 0) return;
  transition.change(scope).set('stopped', true);
  transition.spend(scope.plan.nodes.length);
  for (const planned of scope.plan.nodes) stopNode(transition, scope.node(planned), stop);
}

function stopNode(transition: Transition, node: NodeRecord, stop: Stop): void {
  switch (node.status) {
    case 'pending':
      if (stop.how !== 'stop' || !isRollbackAtHand(node)) leaveOut(transition, node, stop);
      return;
    case 'ready':
      if (node.attempt === 0) leaveOut(transition, node, stop);
      else cancel(transition, node);
      return;
    case 'waiting':
      withdrawOwn(transition, node, stop.failure);
      cancel(transition, node);
      return;
    case 'running':
      stopRunning(transition, node, stop);
      return;
    default:
      return;
  }
}

function leaveOut(transition: Transition, node: NodeRecord, stop: Stop): void {
  if (stop.how === 'cancel') {
    cancel(transition, node);
    return;
  }
  transition.change(node.scope).set('cut', true);
  skip(transition, node, stop.reason);
}

function stopRunning(transition: Transition, node: NodeRecord, stop: Stop): void {
  if (node.container !== undefined) {
    stopContainer(transition, node, node.container, stop);
  } else if (stop.how !== 'stop') {
    withdrawUndo(transition, node, stop);
    withdrawOwn(transition, node, stop.failure);
    cancel(transition, node);
  }
}

/** No further part of a container begins, and those that run are stopped. What undoes is only ever aborted. */
export function stopContainer(
  transition: Transition,
  node: NodeRecord,
  container: ContainerRecord,
  stop: Stop,
): void {
  transition.change(container).stopped = true;
  if (stop.how !== 'stop') container.aborted = true;
  stopParts(transition, container, stop);
  if (stop.how === 'stop') return;
  withdrawOwn(transition, node, stop.failure);
  if (!container.undoing) return;
  withdrawUndo(transition, node, stop);
  cancel(transition, node);
}

/** Stops the parts of a container that run. */
export function stopParts(transition: Transition, { parts, running }: ContainerRecord, stop: Stop): void {
  if (running === 0) return;
  for (const scope of parts) if (scope !== undefined) stopScope(transition, scope, stop);
}

/** A node undoes no further. The compensation in flight is cancelled, unless the run is cancelled: then it goes on. */
function withdrawUndo(transition: Transition, node: NodeRecord, { how, failure }: Stop): void {
  const { key } = node;
  const { undoing, items, owed } = transition.state;
  const row = undoing.get(key);
  if (row === undefined) return;
  forgetUndone(transition, node, row);
  undoing.delete(key);
  items.delete(key);
  const command = row.current === undefined ? undefined : owed.get(row.current.command)?.command;
  // What another owner issued is not this node's to give up.
  if (how === 'cancel' || command === undefined || command.node !== key) return;
  withdraw(transition, command, failure);
}

/**
 * Nothing new starts in a scope because of one of its own nodes: a `return`, an `error`, or a failure that fails fast.
 * What is pending is skipped, what runs settles, what waits for an answer or a time is cancelled, and scopes inside are
 * stopped. Looks at each of its nodes, once in the life of the scope.
 */
export function endScope(transition: Transition, scope: ScopeRecord, by: string, stop: Stop): void {
  if (scope.details.endedBy !== undefined) return;
  transition.change(scope).set('endedBy', by);
  transition.spend(scope.plan.nodes.length);
  const wasFailing = scope.details.failure !== undefined;
  for (const planned of scope.plan.nodes) {
    const node = scope.node(planned);
    const { status, attempt, container } = node;
    if (status === 'pending' || (status === 'ready' && attempt === 0)) {
      if (status !== 'pending' || !isRollbackAtHand(node)) skip(transition, node, stop.reason);
    } else if (status === 'running') {
      if (container !== undefined) stopContainer(transition, node, container, stop);
    } else if (status === 'waiting' || status === 'ready') {
      const goesOn = isBetweenAttempts(node) && (wasFailing || planned.takesSlot);
      if (!goesOn) stopNode(transition, node, stop);
    }
  }
}

/** Whether a node's latest attempt has failed, and it waits for the next one. */
export function isBetweenAttempts({ status, attempt, command }: NodeRecord): boolean {
  if (status === 'ready') return attempt > 0;
  return status === 'waiting' && command?.kind === 'startTimer' && command.purpose === 'backoff';
}

/** What undoes for a `parallel` that runs is no new work: it stays at hand until that has settled. */
function isRollbackAtHand(node: NodeRecord): boolean {
  return node.planned.routers.some((router) => {
    if (router.node.kind !== 'parallel' || router.node.compensateNode !== node.planned.node.id) return false;
    return neighbour(node, router.node.id).status === 'running';
  });
}

/** Withdraws what a node still waits for: its answer, its time, the delay before its next attempt. */
function withdrawOwn(transition: Transition, node: NodeRecord, failure: Failure): void {
  if (node.command !== undefined) withdraw(transition, node.command, failure);
}

/**
 * Withdraws a command. A call that was in flight has failed with `failure`, and one that was not made yet has done
 * nothing.
 */
export function withdraw(transition: Transition, command: OwedCommand, failure: Failure): void {
  const { id } = command;
  if (command.kind === 'startTimer') {
    const owed = transition.state.owed.get(id);
    if (owed !== undefined) transition.cancelTimer(nodeOf(owed));
    return;
  }
  transition.cancelCall(id);
  if (command.kind !== 'callTool' && command.kind !== 'readResource') return;
  const attempted = !transition.notStarted.has(id);
  const { outcomeUnknown: _unknown, ...known } = failure;
  const outcome = { ok: false, failure: attempted ? failure : known } as const;
  transition.report({ kind: 'callReturned', node: command.node, command: id, attempted, outcome });
  if (command.kind !== 'callTool') return;
  if (command.isCompensation) compensationReturned(transition, command, outcome.failure, true);
  else if (attempted) {
    noteUnknown(transition, command, failure);
    abandon(transition, command);
  }
}
