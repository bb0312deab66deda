import type { Json, JsonObject } from '../../../graph/json.js';
import type { ParallelNode } from '../../../graph/model.js';
import { abandonTimer, attemptId, timerId } from '../commands.js';
import {
  beginParts,
  closeContainer,
  failedWith,
  isOver,
  openContainer,
  partEnded,
  succeededWith,
} from '../containers.js';
import type { CompensationReport, Failure } from '../contract.js';
import { closeRollback, openEffects, want } from '../effects.js';
import { failures } from '../failures.js';
import type { NodeInstance, ScopeInstance } from '../instances.js';
import type { Outcome } from '../scopes.js';
import { isSettled, neighbour, select } from '../settle.js';
import type { Turn } from '../turn.js';
import { beginRollback } from '../undo.js';

/** Runs its branches side by side. [N1] */
export function beginParallel(turn: Turn, node: NodeInstance, model: ParallelNode): void {
  openContainer(turn, node, 0, model.branches.length);
  goOnWithBranches(turn, node, model);
}

/** A branch has ended. Where it failed and the policy is `abort`, all others are aborted. [E14] */
export function branchEnded(turn: Turn, node: NodeInstance, model: ParallelNode, scope: ScopeInstance): void {
  partEnded(turn, node, scope, model.onPartialFailure === 'abort' ? 'abort' : undefined);
  goOnWithBranches(turn, node, model);
}

function goOnWithBranches(turn: Turn, node: NodeInstance, model: ParallelNode): void {
  const { containers } = turn.recorder.tables;
  beginParts(turn, node, model.concurrency ?? Number.POSITIVE_INFINITY);
  const row = containers.need(node.key);
  if (!isOver(row)) return;
  const isPartial = model.onPartialFailure === 'rollback' && failedBranches(turn, node).length > 0;
  const isCut = model.onPartialFailure === 'rollback' && row.failure !== undefined;
  // What is not undone although a branch failed, or the time was up, is named.
  if ((isPartial && row.aborted) || isCut) want(turn, openEffects(turn, node));
  if (!isPartial || row.failure !== undefined) {
    closeContainer(turn, node, outcomeOfBranches(turn, node, model));
  } else if (row.aborted) {
    closeContainer(turn, node, failedWith(partialFailure(turn, node), isFinal(turn, node)));
  } else {
    containers.put(node.key, { ...row, undoing: true });
    rollBack(turn, node, model);
  }
}

function outcomeOfBranches(turn: Turn, node: NodeInstance, model: ParallelNode): Outcome {
  const { end, next, cut, failure, failedPart, final } = turn.recorder.tables.containers.need(node.key);
  if (failure !== undefined) {
    const isAborted = failedPart !== undefined;
    return failedWith(isAborted ? failures.aborted(failure, valuesOf(turn, node)) : failure, final);
  }
  if (cut || next < end) return { status: 'cancelled' };
  const failed = failedBranches(turn, node);
  const [first] = failed;
  if (first !== undefined && failed.length === end) return failedWith(first.failure, first.final);
  const faults = failed.map(({ arm, failure: { code, message } }) => [arm, { error: { code, message } }]);
  const values = { ...valuesOf(turn, node), ...Object.fromEntries(faults) };
  // In declaration order, whoever failed.
  const entries = model.branches.flatMap(({ id }) => (Object.hasOwn(values, id) ? [[id, values[id]]] : []));
  return succeededWith(Object.fromEntries(entries) as JsonObject);
}

interface FailedBranch {
  readonly arm: string;
  readonly failure: Failure;
  readonly final: boolean;
}

/** In declaration order. */
function failedBranches(turn: Turn, node: NodeInstance): FailedBranch[] {
  return node.planned.parts.flatMap(({ arm = '' }, part) => {
    const row = turn.recorder.tables.scopes.get(turn.instances.part(node, part).key);
    return row?.failure === undefined ? [] : [{ arm, failure: row.failure, final: row.final ?? false }];
  });
}

/** Values of the branches that have succeeded, absent ones left out. */
function valuesOf(turn: Turn, node: NodeInstance): Readonly<Record<string, Json>> {
  const entries = node.planned.parts.flatMap(({ arm = '' }, part) => {
    const value = turn.recorder.tables.outputs.get(turn.instances.part(node, part).key);
    return value === undefined ? [] : [[arm, value] as const];
  });
  return Object.fromEntries(entries);
}

/** All branches have settled, and one has failed: what succeeded is undone. No limit of time cuts that short. [E10, E12] */
function rollBack(turn: Turn, node: NodeInstance, model: ParallelNode): void {
  const { nodes } = turn.recorder.tables;
  abandonTimer(turn, timerId(attemptId(turn, node, nodes.need(node.key).attempt)));
  const effects = openEffects(turn, node);
  if (model.compensateNode === undefined) {
    beginRollback(turn, node, effects, partialFailure(turn, node));
    return;
  }
  want(turn, effects);
  select(turn, node, model.compensateNode, 'rollback');
  // One that ran before, for another node, undoes no second time.
  if (isSettled(nodes.need(neighbour(turn, node, model.compensateNode).key))) rolledBack(turn, node);
}

/** What a `parallel` that rolls back fails with. */
export function partialFailure(turn: Turn, node: NodeInstance, report?: CompensationReport): Failure {
  const failed = failedBranches(turn, node);
  const faults = failed.map(({ arm, failure: { code, message } }) => [arm, { code, message }] as const);
  return failures.partialFailure(Object.fromEntries(faults), node.planned.parts.length, report);
}

/** Whether a retry of whatever a rolled back `parallel` stands in would fail in the same way. */
export function isFinal(turn: Turn, node: NodeInstance): boolean {
  return failedBranches(turn, node)[0]?.final ?? false;
}

/** What the branches did is undone, by itself or by the node that does so for them: now the `parallel` fails. */
export function rolledBack(turn: Turn, node: NodeInstance, report?: CompensationReport): void {
  const { nodes, containers } = turn.recorder.tables;
  const row = containers.get(node.key);
  // An abort may have come first.
  if (row?.undoing !== true || nodes.need(node.key).status !== 'running') return;
  const { undoing: _undoing, ...ended } = row;
  containers.put(node.key, ended);
  const { node: model } = node.planned;
  const by = model.kind === 'parallel' ? model.compensateNode : undefined;
  const undone = by === undefined ? undefined : nodes.need(neighbour(turn, node, by).key);
  const isSame = undone?.selections?.[0]?.by === node.key && undone.failure?.code === 'E_PARTIAL_FAILURE';
  const failure =
    isSame && undone.failure !== undefined ? undone.failure : partialFailure(turn, node, report);
  const isUnsafe = closeRollback(turn, node);
  closeContainer(turn, node, failedWith(failure, isUnsafe || isFinal(turn, node)));
}
