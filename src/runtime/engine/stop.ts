import { attemptId, delayId } from './commands.js';
import type { ContainerRow, Failure, NodeRow, SkipReason } from './contract.js';
import type { NodeInstance, ScopeInstance } from './instances.js';
import { takesPlace } from './ready-line.js';
import { cancel, neighbour, skip } from './settle.js';
import type { Turn } from './turn.js';
import { withdraw } from './withdraw.js';

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
export function stopScope(turn: Turn, scope: ScopeInstance, stop: Stop): void {
  const { scopes, nodes } = turn.recorder.tables;
  const { open, ...row } = scopes.need(scope.key);
  if (open === 0) return;
  scopes.put(scope.key, { open, ...row, stopped: true });
  for (const planned of scope.plan.nodes) {
    const node = turn.instances.node(scope, planned);
    stopNode(turn, node, nodes.need(node.key), stop);
  }
}

function stopNode(turn: Turn, node: NodeInstance, row: NodeRow, stop: Stop): void {
  switch (row.status) {
    case 'pending':
      if (stop.how !== 'stop' || !isRollbackAtHand(turn, node)) leaveOut(turn, node, stop);
      return;
    case 'ready':
      if (row.attempt === 0) leaveOut(turn, node, stop);
      else cancel(turn, node);
      return;
    case 'waiting':
      withdraw(turn, attemptId(turn, node, row.attempt), stop.failure);
      cancel(turn, node);
      return;
    case 'running':
      stopRunning(turn, node, row, stop);
      return;
    default:
      return;
  }
}

function leaveOut(turn: Turn, node: NodeInstance, stop: Stop): void {
  if (stop.how === 'cancel') {
    cancel(turn, node);
    return;
  }
  const { scopes } = turn.recorder.tables;
  scopes.put(node.scope.key, { ...scopes.need(node.scope.key), cut: true });
  skip(turn, node, stop.reason);
}

function stopRunning(turn: Turn, node: NodeInstance, row: NodeRow, stop: Stop): void {
  if (turn.recorder.tables.containers.get(node.key) !== undefined) {
    stopContainer(turn, node, stop);
  } else if (stop.how !== 'stop') {
    withdrawUndo(turn, node, stop);
    withdraw(turn, attemptId(turn, node, row.attempt), stop.failure);
    cancel(turn, node);
  }
}

/** No further part of a container begins, and those that run are stopped. What undoes is only ever aborted. */
export function stopContainer(turn: Turn, node: NodeInstance, stop: Stop): void {
  const { containers, nodes } = turn.recorder.tables;
  const container = containers.need(node.key);
  const aborted = stop.how === 'stop' ? {} : { aborted: true as const };
  containers.put(node.key, { ...container, stopped: true, ...aborted });
  stopParts(turn, node, container, stop);
  if (stop.how === 'stop') return;
  const row = nodes.need(node.key);
  withdraw(turn, attemptId(turn, node, row.attempt), stop.failure);
  if (container.undoing !== true) return;
  withdrawUndo(turn, node, stop);
  cancel(turn, node);
}

/** Stops the parts of a container that run. */
export function stopParts(
  turn: Turn,
  node: NodeInstance,
  { first, next, running }: ContainerRow,
  stop: Stop,
): void {
  if (running === 0) return;
  const { scopes } = turn.recorder.tables;
  for (let part = first; part < next; part += 1) {
    const scope = turn.instances.part(node, part);
    if (scopes.get(scope.key) !== undefined) stopScope(turn, scope, stop);
  }
}

/** A node undoes no further. The compensation in flight is given up, unless the run is cancelled: then it goes on. */
function withdrawUndo(turn: Turn, node: NodeInstance, { how, failure }: Stop): void {
  const { undoing, items, commands } = turn.recorder.tables;
  const row = undoing.get(node.key);
  if (row === undefined) return;
  undoing.delete(node.key);
  items.delete(node.key);
  const command = row.current === undefined ? undefined : commands.get(row.current.command);
  // What another owner issued is not this node's to give up.
  if (how === 'cancel' || command === undefined || command.node !== node.key) return;
  withdraw(turn, command.id, failure);
}

/**
 * Nothing new starts in a scope because of one of its own nodes: a `return`, an `error`, or a failure that fails fast.
 * What is pending is skipped, what runs settles, what waits for an answer or a time is cancelled, and scopes inside are
 * stopped. Looks at each of its nodes, once in the life of the scope.
 */
export function endScope(turn: Turn, scope: ScopeInstance, by: string, stop: Stop): void {
  const { scopes, nodes } = turn.recorder.tables;
  const { endedBy, ...row } = scopes.need(scope.key);
  if (endedBy !== undefined) return;
  scopes.put(scope.key, { ...row, endedBy: by });
  for (const planned of scope.plan.nodes) {
    const node = turn.instances.node(scope, planned);
    const { status, attempt } = nodes.need(node.key);
    if (status === 'pending' || (status === 'ready' && attempt === 0)) {
      if (status !== 'pending' || !isRollbackAtHand(turn, node)) skip(turn, node, stop.reason);
    } else if (status === 'running') {
      if (turn.recorder.tables.containers.get(node.key) !== undefined) stopContainer(turn, node, stop);
    } else if (status === 'waiting' || status === 'ready') {
      const goesOn = isBetweenAttempts(turn, node) && (row.failure !== undefined || takesPlace(planned.node));
      if (!goesOn) stopNode(turn, node, nodes.need(node.key), stop);
    }
  }
}

/** Whether a node's latest attempt has failed, and it waits for the next one. */
export function isBetweenAttempts(turn: Turn, node: NodeInstance): boolean {
  const { nodes, commands } = turn.recorder.tables;
  const { status, attempt } = nodes.need(node.key);
  if (status === 'ready') return attempt > 0;
  return status === 'waiting' && commands.get(delayId(attemptId(turn, node, attempt))) !== undefined;
}

/** What undoes for a `parallel` that runs is no new work: it stays at hand until that has settled. */
function isRollbackAtHand(turn: Turn, node: NodeInstance): boolean {
  return node.planned.routers.some((router) => {
    if (router.node.kind !== 'parallel' || router.node.compensateNode !== node.planned.node.id) return false;
    return turn.recorder.tables.nodes.need(neighbour(turn, node, router.node.id).key).status === 'running';
  });
}
