import type { Value } from '../../graph/json.js';
import { abandonTimer, attemptId, timerId } from './commands.js';
import type { ContainerRow, Fact, Failure } from './contract.js';
import { forgetKept } from './effects.js';
import { failures } from './failures.js';
import type { NodeInstance, ScopeInstance } from './instances.js';
import { attemptFailed } from './nodes/attempt.js';
import { type Outcome, openPart, outcomeOf } from './scopes.js';
import { cancel, succeed } from './settle.js';
import { stopParts } from './stop.js';
import type { Turn } from './turn.js';
import { wipeScope } from './wipe.js';

/** Begins an attempt of a node with scopes of its own: `end - first` parts are to run, and none has begun. */
export function openContainer(turn: Turn, node: NodeInstance, first: number, end: number): void {
  const { recorder, at } = turn;
  const { nodes, containers } = recorder.tables;
  const row = nodes.need(node.key);
  const attempt = row.attempt + 1;
  nodes.put(node.key, { ...row, status: 'running', attempt });
  containers.put(node.key, { first, next: first, end, running: 0 });
  const { timeoutMs } = node.planned.node;
  if (timeoutMs === undefined) return;
  const id = timerId(attemptId(turn, node, attempt));
  recorder.expect({ kind: 'startTimer', id, node: node.key, purpose: 'timeout', dueAt: at + timeoutMs });
}

/** Begins as many further parts of a container as may run at once. */
export function beginParts(turn: Turn, node: NodeInstance, concurrency: number): void {
  const { containers } = turn.recorder.tables;
  for (;;) {
    const row = containers.need(node.key);
    if (!mayBegin(row) || row.running >= Math.max(1, concurrency)) return;
    const part = row.next;
    const begun = containers.draft(node.key);
    begun.next += 1;
    begun.running += 1;
    reportStarted(turn, node, part, row.end - row.first);
    openPart(turn, node, part);
  }
}

function mayBegin({ next, end, stopped, failure }: ContainerRow): boolean {
  return next < end && stopped !== true && failure === undefined;
}

/** Whether nothing of a container runs any more, nor ever will in this attempt. */
export function isOver(row: ContainerRow): boolean {
  return row.running === 0 && !mayBegin(row);
}

/** Takes note that a part has ended. Gives the container's row as it stands then. */
export function closePart(
  turn: Turn,
  node: NodeInstance,
  scope: ScopeInstance,
  outcome: Outcome,
): ContainerRow {
  const { containers } = turn.recorder.tables;
  const closed = containers.draft(node.key);
  closed.running -= 1;
  if (outcome.status === 'cancelled') closed.cut = true;
  reportEnded(turn, node, scope.part, outcome);
  const { kind } = node.planned.node;
  if (kind === 'foreach' || kind === 'workflow') wipeScope(turn, scope);
  return closed;
}

/**
 * A branch or an item has ended, and its value is kept. Where its failure is `fatal`, the first such failure is what the
 * node fails with: no further part begins, and those that run are stopped or aborted.
 */
export function partEnded(
  turn: Turn,
  node: NodeInstance,
  scope: ScopeInstance,
  fatal: 'stop' | 'abort' | undefined,
): void {
  const { containers, outputs } = turn.recorder.tables;
  const outcome = outcomeOf(turn, scope);
  const row = closePart(turn, node, scope, outcome);
  if (outcome.status === 'succeeded' && outcome.value !== undefined) outputs.put(scope.key, outcome.value);
  if (outcome.status !== 'failed' || row.failure !== undefined) return;
  const { failure } = outcome;
  if (fatal === undefined) {
    noteFailedItem(turn, node, scope, failure);
    return;
  }
  const final = outcome.final ? { final: true as const } : {};
  containers.put(node.key, { ...row, failure, failedPart: scope.part, ...final });
  stopParts(turn, node, row, { how: fatal, reason: 'upstream_failed', failure: failures.givenUp() });
}

/** The value of an item that failed is null: why is kept until the loop starts over. */
function noteFailedItem(
  turn: Turn,
  node: NodeInstance,
  { key, part }: ScopeInstance,
  failure: Failure,
): void {
  if (node.planned.node.kind !== 'foreach') return;
  turn.recorder.tables.failedItems.put(key, { step: node.key, index: part, failure });
}

/** Tells that an item or a branch begins. An arm that a branch took, and a workflow, are told of otherwise. */
function reportStarted(
  { recorder }: Turn,
  { key, planned }: NodeInstance,
  part: number,
  count: number,
): void {
  if (planned.node.kind === 'foreach') {
    recorder.report({ kind: 'partStarted', node: key, index: part, count });
  } else if (planned.node.kind === 'parallel') {
    const { arm } = planned.parts[part] ?? {};
    if (arm !== undefined) recorder.report({ kind: 'partStarted', node: key, arm, count });
  }
}

/** Tells that what `reportStarted` told of has ended. */
function reportEnded({ recorder }: Turn, { key, planned }: NodeInstance, part: number, ended: Outcome): void {
  const outcome = told(ended);
  if (planned.node.kind === 'foreach') {
    recorder.report({ kind: 'partEnded', node: key, index: part, outcome });
  } else if (planned.node.kind === 'parallel') {
    const { arm } = planned.parts[part] ?? {};
    if (arm !== undefined) recorder.report({ kind: 'partEnded', node: key, arm, outcome });
  }
}

function told(outcome: Outcome): Extract<Fact, { kind: 'partEnded' }>['outcome'] {
  if (outcome.status === 'failed') return { status: 'failed', failure: outcome.failure };
  if (outcome.status === 'cancelled' || outcome.value === undefined) return { status: outcome.status };
  return { status: 'succeeded', value: outcome.value };
}

/** A container's attempt has come to its end. */
export function closeContainer(turn: Turn, node: NodeInstance, outcome: Outcome): void {
  const { nodes, containers, items, inputs, outputs } = turn.recorder.tables;
  const { first, next } = containers.need(node.key);
  abandonTimer(turn, timerId(attemptId(turn, node, nodes.need(node.key).attempt)));
  const { kind } = node.planned.node;
  for (let part = first; part < next; part += 1) outputs.delete(turn.instances.part(node, part).key);
  if (kind === 'parallel') forgetKept(turn, node);
  if (kind === 'foreach' || kind === 'workflow') {
    containers.delete(node.key);
    items.delete(node.key);
    inputs.delete(node.key);
  }
  settleBy(turn, node, outcome);
}

function settleBy(turn: Turn, node: NodeInstance, outcome: Outcome): void {
  switch (outcome.status) {
    case 'succeeded':
      succeed(turn, node, outcome.value);
      return;
    case 'failed':
      attemptFailed(turn, node, outcome);
      return;
    case 'cancelled':
      cancel(turn, node);
      return;
  }
}

/** What a container ends with that fails. */
export function failedWith(failure: Failure, final = false): Outcome {
  return { status: 'failed', failure, final };
}

/** What a container ends with that has a value. */
export function succeededWith(value: Value): Outcome {
  return { status: 'succeeded', value };
}
