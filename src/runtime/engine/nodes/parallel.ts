import type { Json, JsonObject } from '../../../graph/json.js';
import type { ParallelNode } from '../../../graph/model.js';
import { complete, fail, failWithoutFallback } from '../attempt.js';
import { closeRollback, markForUndo } from '../effects.js';
import type { CompensationReport, Failure } from '../events.js';
import { failures, reportAsJson } from '../failures.js';
import type { ContainerRecord, NodeRecord, ScopeRecord } from '../records.js';
import {
  beginParts,
  closeContainer,
  completePart,
  failedWith,
  isFinished,
  type Outcome,
  openContainer,
  passedOn,
  succeededWith,
} from '../scopes.js';
import { select, sibling } from '../settle.js';
import { containerOf } from '../state.js';
import type { Transition } from '../transition.js';
import { beginCompensating, beginRollback } from '../undo.js';

/** Runs its branches concurrently. [N1] */
export function beginParallel(transition: Transition, node: NodeRecord, model: ParallelNode): void {
  openContainer(transition, node, 0, model.branches.length);
  continueBranches(transition, node, model);
}

/** Ends a branch. With the policy `abort`, a failure aborts the other branches. [E14] */
export function completeBranch(
  transition: Transition,
  node: NodeRecord,
  model: ParallelNode,
  scope: ScopeRecord,
): void {
  completePart(transition, node, scope, model.onPartialFailure === 'abort' ? 'abort' : undefined);
  continueBranches(transition, node, model);
}

function continueBranches(transition: Transition, node: NodeRecord, model: ParallelNode): void {
  beginParts(transition, node, model.concurrency ?? Number.POSITIVE_INFINITY);
  const container = containerOf(node);
  if (!isFinished(container)) return;
  const { effects } = transition.state;
  const isPartial = model.onPartialFailure === 'rollback' && failedBranches(node).length > 0;
  const isCut = model.onPartialFailure === 'rollback' && container.failure !== undefined;
  // After an abort or a timeout there is no rollback: report the effects that remain.
  if ((isPartial && container.aborted) || isCut) markForUndo(transition, effects.open(node));
  if (!isPartial || container.failure !== undefined) {
    closeContainer(transition, node, outcomeOfBranches(node, container, model));
  } else if (container.aborted) {
    closeContainer(transition, node, failedWith(partialFailure(node), hasPermanentFailure(node)));
  } else {
    transition.change(container).undoing = true;
    rollBack(transition, node, model);
  }
}

function outcomeOfBranches(node: NodeRecord, container: ContainerRecord, model: ParallelNode): Outcome {
  const { end, next, interrupted, failure, failedPart, isPermanent } = container;
  const available = valuesOf(node, container);
  if (failure !== undefined) {
    return failedPart === undefined
      ? failedWith(failure, isPermanent)
      : passedOn(failures.aborted(failure, available), isPermanent);
  }
  if (interrupted || next < end) return { status: 'cancelled' };
  const failed = failedBranches(node);
  const [first] = failed;
  if (first !== undefined && failed.length === end) return failedWith(first.failure, first.isPermanent);
  const faults = failed.map(({ arm, failure: { code, message } }) => [arm, { error: { code, message } }]);
  const values = { ...available, ...Object.fromEntries(faults) };
  // In declaration order, failed branches included.
  const entries = model.branches.flatMap(({ id }) => (Object.hasOwn(values, id) ? [[id, values[id]]] : []));
  return succeededWith(Object.fromEntries(entries) as JsonObject);
}

interface FailedBranch {
  readonly arm: string;
  readonly failure: Failure;
  readonly isPermanent: boolean;
}

/** In declaration order. */
function failedBranches({ planned, container }: NodeRecord): FailedBranch[] {
  return planned.parts.flatMap(({ arm = '' }, part) => {
    const { failure, isPermanent = false } = container?.parts[part]?.details ?? {};
    return failure === undefined ? [] : [{ arm, failure, isPermanent }];
  });
}

/** Values of the succeeded branches, without absent ones. */
function valuesOf({ planned }: NodeRecord, { values }: ContainerRecord): Readonly<Record<string, Json>> {
  const entries = planned.parts.flatMap(({ arm = '' }, part) => {
    const value = values[part]?.value;
    return value === undefined ? [] : [[arm, value] as const];
  });
  return Object.fromEntries(entries);
}

/** Rolls back after all branches have settled and one has failed. No timeout limits the rollback. [E10, E12] */
function rollBack(transition: Transition, node: NodeRecord, model: ParallelNode): void {
  transition.cancelTimer(node);
  const effects = transition.state.effects.open(node);
  if (model.compensateNode === undefined) {
    beginRollback(transition, node, effects, partialFailure(node));
    return;
  }
  markForUndo(transition, effects);
  select(transition, node, model.compensateNode, 'rollback');
  // A compensate node that has settled already, for another node, does not run again.
  if (sibling(node, model.compensateNode).isSettled) completeRollback(transition, node);
}

/** The failure of a `parallel` that rolls back. */
function partialFailure(node: NodeRecord, report?: CompensationReport): Failure {
  const failed = failedBranches(node);
  const faults = failed.map(({ arm, failure: { code, message } }) => [arm, { code, message }] as const);
  return failures.partialFailure(Object.fromEntries(faults), node.planned.parts.length, report);
}

/** Whether a retry of a container around the `parallel` would fail in the same way. */
function hasPermanentFailure(node: NodeRecord): boolean {
  return failedBranches(node)[0]?.isPermanent ?? false;
}

/** Fails a container after its rollback, by itself or by its compensate node. */
export function completeRollback(
  transition: Transition,
  node: NodeRecord,
  report?: CompensationReport,
): void {
  const { container } = node;
  // An abort may have cancelled it meanwhile.
  if (container?.undoing !== true || node.status !== 'running') return;
  transition.change(container).undoing = false;
  const { node: model } = node.planned;
  if (model.kind === 'workflow') {
    const { failure = partialFailure(node), isPermanent } = container;
    const undone = report === undefined ? failure : failures.undone(failure, report);
    closeContainer(transition, node, failedWith(undone, closeRollback(transition, node) || isPermanent));
    return;
  }
  const by = model.kind === 'parallel' ? model.compensateNode : undefined;
  const undone = by === undefined ? undefined : sibling(node, by);
  const { selections, failure: passedOn } = undone?.details ?? {};
  const isSame = selections?.[0]?.by === node && passedOn?.code === 'E_PARTIAL_FAILURE';
  const failure = isSame ? passedOn : partialFailure(node, report);
  const isUnsafe = closeRollback(transition, node);
  closeContainer(transition, node, failedWith(failure, isUnsafe || hasPermanentFailure(node)));
}

/** Runs the compensations of a `compensate` node in declaration order. [E9] */
export function beginCompensate(transition: Transition, node: NodeRecord): void {
  transition.change(node).status = 'running';
  node.attempt += 1;
  beginCompensating(transition, node, causeOf(transition, node)?.failure);
}

/**
 * Ends a `compensate` node. One that was selected because of a failure fails with it. One that a branch selected succeeds,
 * unless a compensation failed.
 */
export function completeCompensate(
  transition: Transition,
  node: NodeRecord,
  report: CompensationReport,
  hasHalted: boolean,
): void {
  const { attempt: reached } = node;
  const cause = causeOf(transition, node, report);
  if (cause !== undefined) failWithoutFallback(transition, node, { ...cause, reached });
  else if (hasHalted)
    fail(transition, node, { failure: failures.compensation(report), reached, isPermanent: true });
  else complete(transition, node, reportAsJson(report));
}

/** The failure because of which the node was selected. */
function causeOf(transition: Transition, { details }: NodeRecord, report?: CompensationReport) {
  const [selection] = details.selections;
  if (selection === undefined) return undefined;
  const { by, why } = selection;
  if (why === 'rollback') {
    const isUnsafe = report !== undefined && closeRollback(transition, by);
    return { failure: partialFailure(by, report), isPermanent: isUnsafe || hasPermanentFailure(by) };
  }
  const { failure, isPermanent } = by.details;
  return why === 'fallback' && failure !== undefined ? { failure, isPermanent } : undefined;
}
