import type { Value } from '../../graph/json.js';
import type { PlannedNode } from '../../plan/plan.js';
import { attemptFailed, complete } from './attempt.js';
import { forgetUncompensated } from './effects.js';
import { readerIn } from './evaluation.js';
import type { Fact, Failure } from './events.js';
import { failures } from './failures.js';
import { deleteFields } from './fields.js';
import { attemptId, attemptsInside, restartsInside, timerId } from './identity.js';
import { ContainerRecord, type NodeRecord, type ScopeRecord } from './records.js';
import { cancel, stopParts } from './settle.js';
import { containerOf } from './state.js';
import { Entry } from './tables.js';
import type { Transition } from './transition.js';

/** How a scope ended. */
export type Outcome =
  | { readonly status: 'succeeded'; readonly value: Value }
  | {
      readonly status: 'failed';
      readonly failure: Failure;
      readonly isPermanent: boolean;
      /** A container ends with the failure of a part, which it does not handle. */
      readonly isPassedOn?: true;
    }
  | { readonly status: 'cancelled' };

/** Begins a scope: its nodes are pending, and those without dependencies are ready. */
export function openScope({ ready, completions }: Transition, scope: ScopeRecord): void {
  const { nodes } = scope.plan;
  for (const planned of nodes) if (planned.isReadyAtStart) ready.add(scope.node(planned));
  if (nodes.length === 0) completions.push({ kind: 'scope', scope });
}

function openPart(transition: Transition, node: NodeRecord, container: ContainerRecord, part: number): void {
  const { state } = transition;
  const scope = transition.change(state.newPart(node, part));
  scope.set('restarts', restartsInside(state, node));
  scope.set('attempts', attemptsInside(node, node.attempt));
  container.parts[part] = scope;
  openScope(transition, scope);
}

/** The outcome of a scope whose nodes have all settled. A failure takes precedence over a cancelled node. */
export function outcomeOf(transition: Transition, scope: ScopeRecord): Outcome {
  const { plan, workflow } = scope;
  const { failure, isPermanent, interrupted, endedBy, value: returned } = scope.details;
  if (failure !== undefined) return { status: 'failed', failure, isPermanent };
  if (interrupted) return { status: 'cancelled' };
  // A `return` ended the workflow with its value.
  const isTop = plan.container === undefined;
  if (isTop && endedBy !== undefined) return { status: 'succeeded', value: returned };
  const expr = isTop ? workflow.plan.graph.returns : plan.value;
  if (expr === undefined) return { status: 'succeeded', value: isTop ? null : undefined };
  const value = readerIn(transition, scope).value(expr);
  if (value.ok) return { status: 'succeeded', value: value.value };
  transition.change(scope).set('failure', value.failure);
  scope.set('isPermanent', true);
  return { status: 'failed', failure: value.failure, isPermanent: true };
}

/** Deletes a scope and everything inside it. Its value stays in the container. */
function deleteScope(transition: Transition, scope: ScopeRecord): void {
  transition.change(scope).isOpen = false;
  for (const node of scope.nodes) {
    if (node === undefined) continue;
    transition.change(node);
    deleteParts(transition, node);
  }
  scope.nodes.length = 0;
}

function deletePart(transition: Transition, container: ContainerRecord, part: number): void {
  const scope = container.parts[part];
  if (scope === undefined) return;
  deleteScope(transition, scope);
  container.parts[part] = undefined;
}

/** Deletes the container record of a node, and its parts. */
export function deleteParts(transition: Transition, node: NodeRecord): void {
  const { container } = node;
  if (container === undefined) return;
  for (let part = container.first; part < container.next; part += 1) deletePart(transition, container, part);
  deleteContainer(transition, node, container);
}

/** Deletes a container record whose parts are deleted. */
function deleteContainer(transition: Transition, node: NodeRecord, container: ContainerRecord): void {
  const { items, inputs } = transition.state;
  deleteValues(transition, container);
  if (container.items !== undefined) items.delete(node.key);
  if (container.input !== undefined) inputs.delete(node.key);
  deleteFields(transition, node);
  transition.change(container).isOpen = false;
  node.container = undefined;
}

function deleteValues(transition: Transition, { values }: ContainerRecord): void {
  for (const value of values) if (value !== undefined) transition.change(value).value = undefined;
  values.length = 0;
}

function hasParts({ node, parts }: PlannedNode): boolean {
  return parts.length > 0 || node.kind === 'workflow';
}

/** Deletes the failed items of a loop that starts over, and of loops inside. */
export function forgetFailedItems({ state }: Transition, { key, planned }: NodeRecord): void {
  const { failedItems } = state;
  if (failedItems.size === 0 || !hasParts(planned)) return;
  for (const row of failedItems.inside(key)) failedItems.delete(row);
}

/** Begins an attempt of a container. Its parts from `first` up to `end` are to run; none has begun. */
export function openContainer(
  transition: Transition,
  node: NodeRecord,
  first: number,
  end: number,
): ContainerRecord {
  transition.change(node).status = 'running';
  node.attempt += 1;
  const container = transition.change(new ContainerRecord(node.key, first, end));
  node.container = container;
  const { timeoutMs } = node.planned.node;
  if (timeoutMs === undefined) return container;
  const id = timerId(attemptId(transition.state, node, node.attempt));
  const dueAt = transition.at + timeoutMs;
  transition.issueCommand(node, {
    ...{ kind: 'startTimer', id, node: node.key, purpose: 'timeout', dueAt },
  });
  return container;
}

/** Begins parts of a container, as many as may run at once. */
export function beginParts(transition: Transition, node: NodeRecord, concurrency: number): void {
  const container = containerOf(node);
  while (mayBegin(container) && container.running < Math.max(1, concurrency)) {
    const part = container.next;
    transition.change(container);
    container.next += 1;
    container.running += 1;
    const fact = partInFact(node, part);
    const count = container.end - container.first;
    if (fact !== undefined) transition.report({ kind: 'partStarted', ...fact, count });
    openPart(transition, node, container, part);
  }
}

function mayBegin({ next, end, stopped, failure }: ContainerRecord): boolean {
  return next < end && !stopped && failure === undefined;
}

/** Whether no part of a container runs or will begin in this attempt. */
export function isFinished(container: ContainerRecord): boolean {
  return container.running === 0 && !mayBegin(container);
}

export function closePart(
  transition: Transition,
  node: NodeRecord,
  { part }: ScopeRecord,
  outcome: Outcome,
): ContainerRecord {
  const container = transition.change(containerOf(node));
  container.running -= 1;
  if (outcome.status === 'cancelled') container.interrupted = true;
  const fact = partInFact(node, part);
  if (fact !== undefined) transition.report({ kind: 'partEnded', ...fact, outcome: outcomeInFact(outcome) });
  const { kind } = node.planned.node;
  if (kind === 'foreach' || kind === 'workflow') deletePart(transition, container, part);
  return container;
}

/**
 * Ends a branch or an item and keeps its value. If failures are `fatal`, the first one becomes that of the container: no
 * further part begins, and running ones are stopped or aborted.
 */
export function completePart(
  transition: Transition,
  node: NodeRecord,
  scope: ScopeRecord,
  fatal: 'stop' | 'abort' | undefined,
): void {
  const { part, key } = scope;
  const outcome = outcomeOf(transition, scope);
  const container = closePart(transition, node, scope, outcome);
  if (outcome.status === 'succeeded' && outcome.value !== undefined) {
    container.values[part] = transition.change(new Entry('outputs', key, outcome.value));
  }
  if (outcome.status !== 'failed' || container.failure !== undefined) return;
  const { failure, isPermanent } = outcome;
  if (fatal === undefined) {
    // The value of a failed item is null. Its failure is kept until the loop starts over.
    const isItem = node.planned.node.kind === 'foreach';
    if (isItem) transition.state.failedItems.put(key, { step: node.key, index: part, failure });
    // An item that would fail again spares its loop another attempt.
    if (isItem && isPermanent) container.isPermanent = true;
    return;
  }
  container.failure = failure;
  container.failedPart = part;
  container.isPermanent = isPermanent;
  stopParts(transition, container, {
    how: fatal,
    reason: 'upstream_failed',
    failure: failures.cancelledElsewhere(),
  });
}

/** An item or a parallel branch, in the facts of its start and its end. The other parts have facts of their own. */
function partInFact({ key: node, planned }: NodeRecord, part: number) {
  if (planned.node.kind === 'foreach') return { node, index: part };
  const arm = planned.node.kind === 'parallel' ? planned.parts[part]?.arm : undefined;
  return arm === undefined ? undefined : { node, arm };
}

function outcomeInFact(outcome: Outcome): Extract<Fact, { kind: 'partEnded' }>['outcome'] {
  if (outcome.status === 'failed') return { status: 'failed', failure: outcome.failure };
  if (outcome.status === 'cancelled' || outcome.value === undefined) return { status: outcome.status };
  return { status: 'succeeded', value: outcome.value };
}

/** Ends the attempt of a container. */
export function closeContainer(transition: Transition, node: NodeRecord, outcome: Outcome): void {
  const container = containerOf(node);
  transition.cancelTimer(node);
  const { kind } = node.planned.node;
  deleteValues(transition, container);
  if (kind === 'parallel' || kind === 'workflow') forgetUncompensated(transition, node);
  if (kind === 'foreach' || kind === 'workflow') deleteContainer(transition, node, container);
  settleWith(transition, node, outcome);
}

function settleWith(transition: Transition, node: NodeRecord, outcome: Outcome): void {
  switch (outcome.status) {
    case 'succeeded':
      complete(transition, node, outcome.value);
      return;
    case 'failed':
      attemptFailed(transition, node, outcome);
      return;
    case 'cancelled':
      cancel(transition, node);
      return;
  }
}

export function failedWith(failure: Failure, isPermanent = false): Outcome {
  return { status: 'failed', failure, isPermanent };
}

/** The failure of a part becomes that of its container. */
export function passedOn(failure: Failure, isPermanent: boolean): Outcome {
  return { status: 'failed', failure, isPermanent, isPassedOn: true };
}

export function succeededWith(value: Value): Outcome {
  return { status: 'succeeded', value };
}
