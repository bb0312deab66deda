import type { Expr } from '../../graph/expression/tree.js';
import type { Value } from '../../graph/json.js';
import type { SettledStatus } from '../../graph/nodes.js';
import { recordAbandoned, recordUnknown } from './effects.js';
import { readerIn } from './evaluation.js';
import type { Fact, Failure, OwedCommand, SkipReason } from './events.js';
import { type ContainerRecord, isInRollback, type NodeRecord, type ScopeRecord } from './records.js';
import type { SelectionReason } from './rows.js';
import { nodeOf } from './state.js';
import { changeSlots, leaveQueue, type Transition } from './transition.js';
import { compensationReturned, forgetUndone } from './undo.js';

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
  const workflowValue = nodeKind === 'workflow' && value !== undefined ? { value } : {};
  return {
    ...plain,
    ...workflowValue,
    ...(summary === undefined ? {} : summaryOf(transition, node, summary)),
  };
}

/** A fault in a summary is reported with the success and never fails the node. An empty summary is left out. */
function summaryOf(transition: Transition, { scope }: NodeRecord, expr: Expr) {
  const summary = readerIn(transition, scope).text(expr, 'summary');
  if (!summary.ok) return { summaryFailure: summary.failure };
  return summary.value === '' ? {} : { summary: summary.value };
}

export function skip(transition: Transition, node: NodeRecord, reason: SkipReason): void {
  node.set('reason', reason);
  node.set('failure', undefined);
  settle(transition, node, 'skipped');
  transition.report({ kind: 'nodeSkipped', node: node.key, nodeKind: node.planned.node.kind, reason });
}

export function cancel(transition: Transition, node: NodeRecord): void {
  node.set('failure', undefined);
  settle(transition, node, 'cancelled');
  transition.report({ kind: 'nodeCancelled', node: node.key, nodeKind: node.planned.node.kind });
}

/** Ends a node, frees its slot, and makes dependents ready that waited only for it. */
export function settle(transition: Transition, node: NodeRecord, status: SettledStatus): void {
  const { planned, scope } = node;
  transition.change(node);
  leaveQueue(transition, node);
  if (node.status === 'running' && planned.takesSlot) changeSlots(transition, -1);
  // A record counts unsettled dependencies when it is created: create it before this node settles.
  for (const each of planned.successors) scope.node(each);
  for (const each of planned.routes) scope.node(each);
  node.status = status;
  node.set('input', undefined);
  scope.open -= 1;
  if (scope.details.stopped && status === 'cancelled') transition.change(scope).set('interrupted', true);
  releaseSuccessors(transition, node);
  releaseRoutes(transition, node);
  if (planned.node.kind === 'compensate') notifyRollbacks(transition, node);
  if (scope.open === 0) transition.completions.push({ kind: 'scope', scope });
}

function releaseSuccessors({ ready }: Transition, { planned, scope }: NodeRecord): void {
  for (const each of planned.successors) {
    const successor = scope.node(each);
    if (successor.status !== 'pending') continue;
    successor.waitingFor -= 1;
    if (successor.waitingFor === 0) ready.add(successor);
  }
}

/** Makes nodes ready to be skipped that no remaining node can select. */
function releaseRoutes({ ready }: Transition, { planned, scope }: NodeRecord): void {
  for (const each of planned.routes) {
    const target = scope.node(each);
    if (target.status !== 'pending') continue;
    target.routers -= 1;
    if (target.routers === 0 && target.details.selections.length === 0) ready.add(target);
  }
}

/** Completes the `parallel` nodes whose rollback this node was. */
function notifyRollbacks({ completions }: Transition, { planned, scope }: NodeRecord): void {
  for (const router of planned.routers) {
    const of = scope.node(router);
    if (
      of.container?.undoing === true &&
      router.node.kind === 'parallel' &&
      router.node.compensateNode === planned.node.id
    )
      completions.push({ kind: 'rollback', of });
  }
}

/**
 * Selects a node of the same scope, if it is pending and needs a selection. The first selection counts; later ones are
 * kept in case a `goto` cancels the first.
 */
export function select(transition: Transition, by: NodeRecord, target: string, why: SelectionReason): void {
  const node = sibling(by, target);
  if (!node.planned.needsSelection || node.status !== 'pending') return;
  const { selections } = node.details;
  transition.change(node).select([...selections, { by, why }]);
  if (selections.length === 0 && node.waitingFor === 0) transition.ready.add(node);
}

/** Another node of the same scope, by its id. */
export function sibling({ scope }: NodeRecord, id: string): NodeRecord {
  const planned = scope.workflow.plan.byId.get(id);
  if (planned === undefined) throw new Error(`the plan has no node '${id}'`);
  return scope.node(planned);
}

export function nodeInFact({ key, planned }: NodeRecord) {
  return { node: key, nodeKind: planned.node.kind };
}

/** How a scope is stopped. */
export interface Stop {
  /**
   * `stop`: calls in flight settle. `abort`: they are cancelled, unless an undoing follows. `cancel`: pending nodes are
   * cancelled as well.
   */
  readonly how: 'stop' | 'abort' | 'cancel';
  /** Why pending nodes are skipped. */
  readonly reason: SkipReason;
  /** The failure of cancelled calls. */
  readonly failure: Failure;
}

/** Stops a scope because of an event outside it: no further node starts. */
export function stopScope(transition: Transition, scope: ScopeRecord, stop: Stop): void {
  if (scope.open === 0) return;
  transition.change(scope).set('stopped', true);
  transition.spend(scope.plan.nodes.length);
  for (const planned of scope.plan.nodes) stopNode(transition, scope.node(planned), stop);
}

function stopNode(transition: Transition, node: NodeRecord, stop: Stop): void {
  switch (node.status) {
    case 'pending':
      if (stop.how !== 'stop' || !isPendingRollback(node)) skipOrCancel(transition, node, stop);
      return;
    case 'ready':
      if (node.hasStarted) cancel(transition, node);
      else skipOrCancel(transition, node, stop);
      return;
    case 'waiting':
      withdrawCommandOf(transition, node, stop.failure);
      cancel(transition, node);
      return;
    case 'running':
      stopRunning(transition, node, stop);
      return;
    default:
      return;
  }
}

function skipOrCancel(transition: Transition, node: NodeRecord, stop: Stop): void {
  if (stop.how === 'cancel') {
    cancel(transition, node);
    return;
  }
  transition.change(node.scope).set('interrupted', true);
  skip(transition, node, stop.reason);
}

function stopRunning(transition: Transition, node: NodeRecord, stop: Stop): void {
  if (node.container !== undefined) {
    stopContainer(transition, node, node.container, stop);
  } else if (stop.how !== 'stop' && !settlesBeforeUndoing(transition, node)) {
    stopUndoing(transition, node, stop);
    withdrawCommandOf(transition, node, stop.failure);
    cancel(transition, node);
  }
}

/**
 * Whether a call in flight settles, in place of being cancelled, because what it does is to be undone before what came
 * before it. [E12]
 */
function settlesBeforeUndoing({ state, notStarted }: Transition, node: NodeRecord): boolean {
  const { command } = node;
  if (command?.kind !== 'callTool' || notStarted.has(command.id)) return false;
  if (state.safetyOf(command.tool) === 'readOnly') return false;
  const { cancelling } = state.run;
  if (cancelling === undefined) return isInRollback(node);
  return cancelling.compensate && (node.planned.compensations.length > 0 || state.effects.hasUndoable);
}

/** Stops the parts of a container, and begins none. A rollback goes on unless it is aborted. */
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
  withdrawCommandOf(transition, node, stop.failure);
  if (!container.undoing) return;
  stopUndoing(transition, node, stop);
  cancel(transition, node);
}

export function stopParts(transition: Transition, { parts, running }: ContainerRecord, stop: Stop): void {
  if (running === 0) return;
  for (const scope of parts) if (scope !== undefined) stopScope(transition, scope, stop);
}

/** Ends the undoing of a node. Its compensation in flight is cancelled, except when the run is cancelled. */
function stopUndoing(transition: Transition, node: NodeRecord, { how, failure }: Stop): void {
  const { key } = node;
  const { undoing, items, owed } = transition.state;
  const row = undoing.get(key);
  if (row === undefined) return;
  forgetUndone(transition, node, row);
  undoing.delete(key);
  items.delete(key);
  const command = row.current === undefined ? undefined : owed.get(row.current.command)?.command;
  // A compensation that another node issued goes on.
  if (how === 'cancel' || command === undefined || command.node !== key) return;
  withdraw(transition, command, failure);
}

/**
 * Ends a scope because of one of its own nodes: a `return`, an `error`, or a failure that fails fast. Pending nodes are
 * skipped, running ones settle, waiting ones are cancelled, and scopes inside are stopped. Happens once for a scope.
 */
export function endScope(transition: Transition, scope: ScopeRecord, by: string, stop: Stop): void {
  if (scope.details.endedBy !== undefined) return;
  transition.change(scope).set('endedBy', by);
  transition.spend(scope.plan.nodes.length);
  const wasFailing = scope.details.failure !== undefined;
  for (const planned of scope.plan.nodes) {
    const node = scope.node(planned);
    const { status, hasStarted, container } = node;
    if (status === 'pending' || (status === 'ready' && !hasStarted)) {
      if (status !== 'pending' || !isPendingRollback(node)) skip(transition, node, stop.reason);
    } else if (status === 'running') {
      if (container !== undefined) stopContainer(transition, node, container, stop);
    } else if (status === 'waiting' || status === 'ready') {
      const keepsRetry = isBetweenAttempts(node) && (wasFailing || planned.takesSlot);
      // The caller fails nodes that have stopped: their failure must not be lost.
      if (!keepsRetry && !isPaused(node)) stopNode(transition, node, stop);
    }
  }
}

/** Whether a node waits for another attempt after a failed one. */
export function isBetweenAttempts({ status, attempt, command }: NodeRecord): boolean {
  if (status === 'ready') return attempt > 0;
  return status === 'waiting' && command?.kind === 'startTimer' && command.purpose === 'backoff';
}

/** Whether a node is the rollback of a running `parallel`: it may still start when its scope is stopped. */
function isPendingRollback(node: NodeRecord): boolean {
  return node.planned.routers.some((router) => {
    if (router.node.kind !== 'parallel' || router.node.compensateNode !== node.planned.node.id) return false;
    return sibling(node, router.node.id).status === 'running';
  });
}

/** Whether a node has stopped and waits to be made outside, or tried again. */
export function isPaused(node: NodeRecord): node is NodeRecord & { readonly command: OwedCommand } {
  return node.command?.kind === 'requestAction' && node.command.action.type === 'step';
}

function withdrawCommandOf(transition: Transition, node: NodeRecord, failure: Failure): void {
  if (node.command !== undefined) withdraw(transition, node.command, failure);
}

/** Reports how the read of one of a node's own resources ended. */
export function reportShown(
  transition: Transition,
  { node, id: command, resource, uri }: Extract<OwedCommand, { kind: 'readResource' }>,
  outcome: Extract<Fact, { kind: 'resourceShown' }>['outcome'],
): void {
  transition.report({ kind: 'resourceShown', node, command, resource, uri, outcome });
}

/**
 * Withdraws a command. A call in flight fails with `failure`. A call that the host has not made yet has no unknown
 * outcome.
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
  if (command.kind === 'readResource' && command.isOwn) {
    const { outcomeUnknown: _unknown, ...rest } = failure;
    reportShown(transition, command, { ok: false, failure: rest });
    return;
  }
  const attempted = !transition.notStarted.has(id);
  const { outcomeUnknown: _unknown, ...certain } = failure;
  const outcome = { ok: false, failure: attempted ? failure : certain } as const;
  transition.report({ kind: 'callReturned', node: command.node, command: id, attempted, outcome });
  if (command.kind !== 'callTool') return;
  if (command.isCompensation) compensationReturned(transition, command, outcome.failure, true);
  else if (attempted) {
    recordUnknown(transition, command, failure);
    recordAbandoned(transition, command);
  }
}
