import type { Graph } from '../../graph/model.js';
import { unreachable } from '../../graph/unreachable.js';
import type { PlanFault } from '../../plan/fault.js';
import type { CompensationReport, Event, Failure } from './contract.js';
import { failures } from './failures.js';
import { completeItem } from './nodes/foreach.js';
import { completeBranch, completeCompensate, completeRollback } from './nodes/parallel.js';
import type { NodeRecord, ScopeRecord } from './records.js';
import type { NodeFailure } from './rows.js';
import { closeContainer, closePart, failedWith, outcomeOf } from './scopes.js';
import type { RunRecord } from './state.js';
import { stopScope } from './stop.js';
import type { Transition } from './transition.js';
import { beginRollback, goOnUndoing, undoableInRun } from './undo.js';

/** Handles the next completion. They are handled one after the other, however deep they lead. */
export function completeNext(transition: Transition): boolean {
  const next = transition.first.pop() ?? shiftOf(transition.completions);
  if (next === undefined) return false;
  switch (next.kind) {
    case 'scope':
      completeScope(transition, next.scope);
      return true;
    case 'rollback':
      completeRollback(transition, next.of);
      return true;
    case 'goOn': {
      const { by, hasTurn } = next;
      // It may have been aborted as well.
      if (transition.state.undoing.get(by?.key ?? '') !== undefined) goOnUndoing(transition, by, hasTurn);
      return true;
    }
    case 'undone': {
      const { by, report, hasHalted } = next;
      if (by === undefined) runUndone(transition, report);
      else if (by.planned.node.kind === 'compensate') {
        // An abort may have come first.
        if (by.status === 'running') completeCompensate(transition, by, report, hasHalted);
      } else completeRollback(transition, by, report);
      return true;
    }
    default:
      return unreachable(next);
  }
}

/** An empty list is not touched: most often it is. */
function shiftOf<T>(list: T[]): T | undefined {
  return list.length === 0 ? undefined : list.shift();
}

function completeScope(transition: Transition, scope: ScopeRecord): void {
  const { container } = scope;
  if (container === undefined) {
    finishRun(transition);
    return;
  }
  if (transition.rehearsal?.ended(transition, container, scope) === true) return;
  const { node } = container.planned;
  if (node.kind === 'parallel') completeBranch(transition, container, node, scope);
  else if (node.kind === 'foreach') completeItem(transition, container, node, scope);
  else completeOnlyPart(transition, container, scope);
}

/** A branch and a `workflow` node end as what they ran does, unless their time was up. */
function completeOnlyPart(transition: Transition, node: NodeRecord, scope: ScopeRecord): void {
  const outcome = outcomeOf(transition, scope);
  const { failure, final } = closePart(transition, node, scope, outcome);
  closeContainer(transition, node, failure === undefined ? outcome : failedWith(failure, final));
}

/** The graph as a whole cannot run: the run fails before anything has started. */
export function endWithFault(transition: Transition, graph: Graph, { failure, node }: PlanFault): void {
  for (const { id, kind: nodeKind } of graph.nodes) {
    if (id === node?.id) transition.report({ kind: 'nodeFailed', node: id, nodeKind, failure });
    else transition.report({ kind: 'nodeSkipped', node: id, nodeKind, reason: 'run_ended' });
  }
  const failed = node === undefined ? {} : { failedNode: node.id, failures: [{ node: node.id, failure }] };
  finish(transition, { status: 'failed', failure, ...failed });
}

/** Cancels everything at once: calls in flight are aborted, and what they did stays unknown. [L16] */
export function cancelRun(
  transition: Transition,
  { reason, compensate = false, code }: Extract<Event, { kind: 'cancelled' }>,
): boolean {
  const { run, root } = transition.state;
  if (run.cancelling !== undefined) return false;
  transition.changeRun().cancelling = { reason, compensate, ...(code === undefined ? {} : { code }) };
  const failure = failures.cancelledInFlight(reason);
  stopScope(transition, root, { how: 'cancel', reason: 'run_ended', failure });
  return true;
}

/** Every node at the top has settled. A cancelled run may still have to be undone. */
function finishRun(transition: Transition): void {
  const { run, compensations } = transition.state;
  const { cancelling, status } = run;
  if (status !== 'running') return;
  if (cancelling === undefined) {
    finishByOutcome(transition);
    return;
  }
  const effects = cancelling.compensate ? undoableInRun(transition) : [];
  if (effects.length > 0) beginRollback(transition, undefined, effects);
  // What a node was undoing when the run was cancelled is waited for.
  else if (compensations === 0) finishCancelled(transition);
}

/** What a cancelled run did is undone. */
function runUndone(transition: Transition, report: CompensationReport): void {
  finishCancelled(transition, report);
}

/** A run succeeds only when no failure is left. */
function finishByOutcome(transition: Transition): void {
  const { root } = transition.state;
  const outcome = outcomeOf(transition, root);
  transition.changeRun().endedBy = root.details.endedBy;
  if (outcome.status === 'succeeded') {
    finish(transition, { status: 'succeeded', result: outcome.value });
  } else if (outcome.status === 'failed') {
    const { failure } = outcome;
    const failures = failuresIn(root);
    finish(transition, { status: 'failed', failure, failedNode: root.details.failedNode?.key, failures });
  } else throw new Error('a run is unfinished and was not cancelled');
}

function finishCancelled(transition: Transition, report?: CompensationReport): void {
  const { cancelling } = transition.state.run;
  const failure = failures.cancelled(cancelling?.reason ?? '', report, cancelling?.code);
  transition.changeRun().cancelling = undefined;
  finish(transition, { status: 'cancelled', failure, failures: failuresIn(transition.state.root) });
}

/** Every node that failed, as the end of a run names it. */
function failuresIn(root: ScopeRecord): readonly NodeFailure[] {
  const failed: NodeFailure[] = [];
  const collect = ({ plan, nodes }: ScopeRecord): void => {
    for (const { index } of plan.nodes) {
      const node = nodes[index];
      const failure = node?.details.failure;
      if (node?.status !== 'failed' || failure === undefined) continue;
      failed.push({ node: node.key, failure });
      for (const inside of node.container?.parts ?? []) if (inside !== undefined) collect(inside);
    }
  };
  collect(root);
  return failed;
}

interface RunEnd extends Partial<Pick<RunRecord, 'result' | 'failedNode'>> {
  readonly status: 'succeeded' | 'failed' | 'cancelled';
  readonly failure?: Failure;
  readonly failures?: readonly NodeFailure[];
}

function finish(
  transition: Transition,
  { status, result, failure, failedNode, failures = [] }: RunEnd,
): void {
  const run = transition.changeRun();
  run.status = status;
  run.result = result;
  run.failure = failure;
  run.failedNode = failedNode;
  if (failures.length > 0) run.failures = failures;
  transition.report({
    kind: 'finished',
    status,
    ...(result === undefined ? {} : { result }),
    ...(failure === undefined ? {} : { failure }),
    ...(failedNode === undefined ? {} : { node: failedNode }),
    ...(failures.length === 0 ? {} : { failures }),
  });
}
