import type { Json, JsonObject } from '../../../graph/json.js';
import type { ParallelNode } from '../../../graph/model.js';
import { fail, failForGood } from '../attempt.js';
import { closeRollback, want } from '../effects.js';
import type { CompensationReport, Failure } from '../events.js';
import { failures, reportAsJson } from '../failures.js';
import type { ContainerRecord, NodeRecord, ScopeRecord } from '../records.js';
import {
  beginParts,
  closeContainer,
  completePart,
  failedWith,
  isOver,
  type Outcome,
  openContainer,
  succeededWith,
} from '../scopes.js';
import { neighbour, select, succeed } from '../settle.js';
import { containerOf } from '../state.js';
import type { Transition } from '../transition.js';
import { beginCompensating, beginRollback } from '../undo.js';

/** Runs its branches side by side. [N1] */
export function beginParallel(transition: Transition, node: NodeRecord, model: ParallelNode): void {
  openContainer(transition, node, 0, model.branches.length);
  goOnWithBranches(transition, node, model);
}

/** A branch has ended. Where it failed and the policy is `abort`, all others are aborted. [E14] */
export function completeBranch(
  transition: Transition,
  node: NodeRecord,
  model: ParallelNode,
  scope: ScopeRecord,
): void {
  completePart(transition, node, scope, model.onPartialFailure === 'abort' ? 'abort' : undefined);
  goOnWithBranches(transition, node, model);
}

function goOnWithBranches(transition: Transition, node: NodeRecord, model: ParallelNode): void {
  beginParts(transition, node, model.concurrency ?? Number.POSITIVE_INFINITY);
  const container = containerOf(node);
  if (!isOver(container)) return;
  const { effects } = transition.state;
  const isPartial = model.onPartialFailure === 'rollback' && failedBranches(node).length > 0;
  const isCut = model.onPartialFailure === 'rollback' && container.failure !== undefined;
  // What is not undone although a branch failed, or the time was up, is named.
  if ((isPartial && container.aborted) || isCut) want(transition, effects.open(node));
  if (!isPartial || container.failure !== undefined) {
    closeContainer(transition, node, outcomeOfBranches(node, container, model));
  } else if (container.aborted) {
    closeContainer(transition, node, failedWith(partialFailure(node), isFinal(node)));
  } else {
    transition.change(container).undoing = true;
    rollBack(transition, node, model);
  }
}

function outcomeOfBranches(node: NodeRecord, container: ContainerRecord, model: ParallelNode): Outcome {
  const { end, next, cut, failure, failedPart, final } = container;
  const known = valuesOf(node, container);
  if (failure !== undefined) {
    return failedWith(failedPart === undefined ? failure : failures.aborted(failure, known), final);
  }
  if (cut || next < end) return { status: 'cancelled' };
  const failed = failedBranches(node);
  const [first] = failed;
  if (first !== undefined && failed.length === end) return failedWith(first.failure, first.final);
  const faults = failed.map(({ arm, failure: { code, message } }) => [arm, { error: { code, message } }]);
  const values = { ...known, ...Object.fromEntries(faults) };
  // In declaration order, those that failed among them.
  const entries = model.branches.flatMap(({ id }) => (Object.hasOwn(values, id) ? [[id, values[id]]] : []));
  return succeededWith(Object.fromEntries(entries) as JsonObject);
}

interface FailedBranch {
  readonly arm: string;
  readonly failure: Failure;
  readonly final: boolean;
}

/** In declaration order. */
function failedBranches({ planned, container }: NodeRecord): FailedBranch[] {
  return planned.parts.flatMap(({ arm = '' }, part) => {
    const { failure, final = false } = container?.parts[part]?.details ?? {};
    return failure === undefined ? [] : [{ arm, failure, final }];
  });
}

/** Values of the branches that have succeeded, absent ones left out. */
function valuesOf({ planned }: NodeRecord, { values }: ContainerRecord): Readonly<Record<string, Json>> {
  const entries = planned.parts.flatMap(({ arm = '' }, part) => {
    const value = values[part]?.value;
    return value === undefined ? [] : [[arm, value] as const];
  });
  return Object.fromEntries(entries);
}

/** All branches have settled, and one has failed: what succeeded is undone. No limit of time cuts that short. [E10, E12] */
function rollBack(transition: Transition, node: NodeRecord, model: ParallelNode): void {
  transition.cancelTimer(node);
  const effects = transition.state.effects.open(node);
  if (model.compensateNode === undefined) {
    beginRollback(transition, node, effects, partialFailure(node));
    return;
  }
  want(transition, effects);
  select(transition, node, model.compensateNode, 'rollback');
  // One that ran before, for another node, undoes no second time.
  if (neighbour(node, model.compensateNode).isSettled) completeRollback(transition, node);
}

/** What a `parallel` that rolls back fails with. */
function partialFailure(node: NodeRecord, report?: CompensationReport): Failure {
  const failed = failedBranches(node);
  const faults = failed.map(({ arm, failure: { code, message } }) => [arm, { code, message }] as const);
  return failures.partialFailure(Object.fromEntries(faults), node.planned.parts.length, report);
}

/** Whether a retry of a container around a rolled back `parallel` would fail in the same way. */
function isFinal(node: NodeRecord): boolean {
  return failedBranches(node)[0]?.final ?? false;
}

/** What the branches did is undone, by itself or by the node that does so for them: now the `parallel` fails. */
export function completeRollback(
  transition: Transition,
  node: NodeRecord,
  report?: CompensationReport,
): void {
  const { container } = node;
  // An abort may have come first.
  if (container?.undoing !== true || node.status !== 'running') return;
  transition.change(container).undoing = false;
  const { node: model } = node.planned;
  const by = model.kind === 'parallel' ? model.compensateNode : undefined;
  const undone = by === undefined ? undefined : neighbour(node, by);
  const { selections, failure: passedOn } = undone?.details ?? {};
  const isSame = selections?.[0]?.by === node && passedOn?.code === 'E_PARTIAL_FAILURE';
  const failure = isSame ? passedOn : partialFailure(node, report);
  const isUnsafe = closeRollback(transition, node);
  closeContainer(transition, node, failedWith(failure, isUnsafe || isFinal(node)));
}

/** Undoes earlier work in the written order. [E9] */
export function beginCompensate(transition: Transition, node: NodeRecord): void {
  transition.change(node).status = 'running';
  node.attempt += 1;
  beginCompensating(transition, node, causeOf(transition, node)?.failure);
}

/**
 * All is undone that could be. One that was selected because of a failure passes that on; one that a branch chose has
 * done its work, unless that failed.
 */
export function completeCompensate(
  transition: Transition,
  node: NodeRecord,
  report: CompensationReport,
  hasHalted: boolean,
): void {
  const { attempt: reached } = node;
  const cause = causeOf(transition, node, report);
  if (cause !== undefined) failForGood(transition, node, { ...cause, reached });
  else if (hasHalted)
    fail(transition, node, { failure: failures.compensation(report), reached, final: true });
  else succeed(transition, node, reportAsJson(report));
}

/** The failure that led here. */
function causeOf(transition: Transition, { details }: NodeRecord, report?: CompensationReport) {
  const [selection] = details.selections;
  if (selection === undefined) return undefined;
  const { by, why } = selection;
  if (why === 'rollback') {
    const isUnsafe = report !== undefined && closeRollback(transition, by);
    return { failure: partialFailure(by, report), final: isUnsafe || isFinal(by) };
  }
  const { failure, final } = by.details;
  return why === 'fallback' && failure !== undefined ? { failure, final } : undefined;
}
