import { defined } from '../../graph/defined.js';
import { Budget } from '../../graph/expression/evaluate.js';
import type { Expr } from '../../graph/expression/tree.js';
import { unreachable } from '../../graph/json.js';
import type { JoinRule } from '../../graph/kinds/node.js';
import { MAX_STARTED_NODES } from '../../graph/limits.js';
import type { Graph } from '../../graph/model.js';
import type { PlanFault, PlannedNode } from '../../plan/plan.js';
import { failWithoutFallback } from './attempt.js';
import { markForUndo } from './effects.js';
import { readerOf } from './evaluation.js';
import type { CompensationReport, Event, Failure, NodeFailure, NodeStatus, SkipReason } from './events.js';
import { failures } from './failures.js';
import { beginNode, isApproved, readsNext } from './nodes/begin.js';
import { completeOnlyPart } from './nodes/control-flow.js';
import { completeItem } from './nodes/loops.js';
import { completeBranch, completeCompensate, completeRollback } from './nodes/parallel.js';
import { type NodeRecord, type ScopeRecord, undoesOnFailure } from './records.js';
import type { Completion, RemainingWork, ScopeRef } from './rows.js';
import { deleteParts, forgetFailedItems, outcomeOf } from './scopes.js';
import { skip, stopScope } from './settle.js';
import type { RunRecord } from './state.js';
import { ADVANCE_BUDGET, enterQueue, hasFreeSlot, nextInQueue, type Transition } from './transition.js';
import { beginRollback, continueUndo } from './undo.js';

/** What the join of a node decides: it runs, or it is skipped for a reason. */
export type JoinVerdict = { readonly run: true } | { readonly run: false; readonly reason: SkipReason };

const RUN: JoinVerdict = { run: true };
const SKIP_FAILED: JoinVerdict = { run: false, reason: 'upstream_failed' };
const SKIP_SKIPPED: JoinVerdict = { run: false, reason: 'upstream_skipped' };

/** Does all work that needs no event, up to the limit of the transition. The state owes the rest. */
export function runActivations(transition: Transition): void {
  while (transition.activations > 0) {
    if (!completeNext(transition) && !startFromQueue(transition) && !activateNext(transition)) return;
    transition.activations -= 1;
  }
  saveRemainingWork(transition);
}

/** Nodes that wait for a slot start before nodes that become ready now. */
function startFromQueue(transition: Transition): boolean {
  const { queue, tables } = transition.state;
  if (queue.isEmpty || !hasFreeSlot(transition)) return false;
  const node = nextInQueue(transition);
  if (node === undefined) return false;
  if (tables.existing('undoing')?.get(node.key) === undefined) begin(transition, node);
  else continueUndo(transition, node, true);
  return true;
}

function activateNext(transition: Transition): boolean {
  const node = transition.ready.take();
  if (node === undefined) return false;
  // It may have been skipped or started since, or its scope was deleted.
  if (!node.scope.isOpen) return true;
  if (node.status === 'pending') activate(transition, node);
  else if (node.status === 'ready' && !node.planned.takesSlot) begin(transition, node);
  return true;
}

/** Decides by selection, join and condition, in this order, and then by free slots. */
function activate(transition: Transition, node: NodeRecord): void {
  const { planned, waitingFor, routers } = node;
  const { rehearsal } = transition;
  if (rehearsal !== undefined && waitingFor === 0 && (node.details.selections.length > 0 || routers === 0)) {
    const next = rehearsal.resume(transition, node);
    if (next === 'begin') begin(transition, node);
    if (next !== 'activate') return;
  }
  if (planned.needsSelection && node.details.selections.length === 0) {
    if (routers === 0) skip(transition, node, 'not_selected');
    return;
  }
  if (waitingFor > 0) return;
  const verdict = verdictOf(node);
  if (!verdict.run) {
    skip(transition, node, verdict.reason);
    return;
  }
  const { when } = planned.node;
  if (when !== undefined) {
    const condition = readerOf(transition, node).condition(when);
    if (!condition.ok) {
      // A fallback replaces the work of a node, not its condition.
      failWithoutFallback(transition, node, { failure: condition.failure, reached: 0, isPermanent: true });
      return;
    }
    if (!condition.value) {
      skip(transition, node, 'condition_false');
      return;
    }
  }
  if (planned.takesSlot && !hasFreeSlot(transition)) enterQueue(transition, node);
  else begin(transition, node);
}

function verdictOf({ planned, scope }: NodeRecord): JoinVerdict {
  if (planned.needs.length > 0) {
    const needed = settlements(scope, planned.needs).verdict('none_failed');
    if (!needed.run) return needed;
  }
  return settlements(scope, planned.joins).verdict(planned.node.join);
}

function settlements(scope: ScopeRecord, dependencies: readonly PlannedNode[]): Settlements {
  const result = new Settlements();
  for (const each of dependencies) {
    const { status, details } = scope.node(each);
    result.add(status, details.reason);
  }
  return result;
}

/** The settled dependencies of a node, as its join counts them. */
export class Settlements {
  #succeeded = false;
  #failed = false;
  #skipped = false;

  /**
   * Adds a dependency. A skip because of an upstream failure counts as failed, so that a failure reaches all dependents.
   * Any other skip and a handled failure count as skipped.
   */
  add(status: NodeStatus, reason?: SkipReason): void {
    switch (status) {
      case 'succeeded':
        this.#succeeded = true;
        return;
      case 'failed':
      case 'cancelled':
        this.#failed = true;
        return;
      case 'handled':
        this.#skipped = true;
        return;
      case 'skipped':
        if (reason === 'upstream_failed') this.#failed = true;
        else this.#skipped = true;
        return;
      case 'pending':
      case 'ready':
      case 'running':
      case 'waiting':
        throw new Error(`join of a dependency that is still ${status}`);
      default:
        unreachable(status);
    }
  }

  /** Decides by a join rule. Without dependencies the node runs. */
  verdict(rule: JoinRule): JoinVerdict {
    const [succeeded, failed, skipped] = [this.#succeeded, this.#failed, this.#skipped];
    if (!succeeded && !failed && !skipped) return RUN;
    switch (rule) {
      case 'all_success':
        if (failed) return SKIP_FAILED;
        return skipped ? SKIP_SKIPPED : RUN;
      case 'none_failed':
        return failed ? SKIP_FAILED : RUN;
      case 'none_failed_min_one_success':
        if (failed) return SKIP_FAILED;
        return succeeded ? RUN : SKIP_SKIPPED;
      case 'one_success':
        if (succeeded) return RUN;
        return failed ? SKIP_FAILED : SKIP_SKIPPED;
      case 'all_done':
        return RUN;
      default:
        return unreachable(rule);
    }
  }
}

/** Starts a node, or its next attempt. */
function begin(transition: Transition, node: NodeRecord): void {
  if (transition.rehearsal === undefined && !isApproved(transition, node)) return;
  if (node.hasStarted) clearAttempt(transition, node);
  else if (!start(transition, node)) return;
  if (transition.rehearsal !== undefined) transition.rehearsal.begin(transition, node);
  else if (!readsNext(transition, node)) beginNode(transition, node);
}

/** Deletes what the previous attempt left inside. */
function clearAttempt(transition: Transition, node: NodeRecord): void {
  deleteParts(transition, node);
  forgetFailedItems(transition, node);
}

/** Reports the start of a node. Fails the node and returns false if the run has started too many. */
function start(transition: Transition, node: NodeRecord): boolean {
  const limit = Math.min(transition.plan.graph.limits?.steps ?? MAX_STARTED_NODES, MAX_STARTED_NODES);
  if (transition.state.run.started >= limit) {
    failWithoutFallback(transition, node, {
      ...{ failure: failures.stepLimit(limit), reached: 0, isPermanent: true },
    });
    return false;
  }
  transition.changeRun().started += 1;
  const { kind: nodeKind, guidance } = node.planned.node;
  if (guidance === undefined) transition.report({ kind: 'nodeStarted', node: node.key, nodeKind });
  else {
    const advice = guidanceOf(transition, node, guidance);
    transition.report({ kind: 'nodeStarted', node: node.key, nodeKind, ...advice });
  }
  return true;
}

/** A fault in guidance is reported with the start and never fails the node. Empty guidance is left out. */
function guidanceOf(transition: Transition, node: NodeRecord, expr: Expr) {
  const guidance = readerOf(transition, node).guidance(expr);
  if (!guidance.ok) return { guidanceFailure: guidance.failure };
  return guidance.value === '' ? {} : { guidance: guidance.value };
}

/** Saves the rest of the work of an event when the transition is at its limit. */
function saveRemainingWork(transition: Transition): void {
  const { state, at, budget, ready } = transition;
  const completions = [...[...transition.continuations].reverse(), ...transition.completions].map(
    (completion) => mapCompletion(completion, keyOf, scopeRefOf),
  );
  const isReady = !state.queue.isEmpty && hasFreeSlot(transition);
  if (state.run.status === 'running' && (ready.size > 0 || completions.length > 0 || isReady)) {
    transition.changeRun().remainingWork = { at, budget: budget.remaining, ready: ready.keys(), completions };
  }
}

/** Resumes the work that the previous transition saved. */
export function resumeRemainingWork(transition: Transition, work: RemainingWork): void {
  const { state, ready, completions } = transition;
  transition.changeRun().remainingWork = undefined;
  transition.at = work.at;
  transition.budget = new Budget(work.budget, ADVANCE_BUDGET);
  for (const key of work.ready) ready.add(state.find(key));
  const find = (key: string): NodeRecord => state.find(key);
  const scopeAt = ({ container, part }: ScopeRef): ScopeRecord =>
    container === undefined ? state.root : state.part(find(container), part);
  for (const each of work.completions) completions.push(mapCompletion(each, find, scopeAt));
}

/** Converts a completion between keys, as in a row, and records, as in memory. */
function mapCompletion<N, S, M, R>(
  completion: Completion<N, S>,
  node: (node: N) => M,
  scope: (scope: S) => R,
): Completion<M, R> {
  switch (completion.kind) {
    case 'scope':
      return { kind: 'scope', scope: scope(completion.scope) };
    case 'rollback':
      return { kind: 'rollback', of: node(completion.of) };
    case 'continueUndo':
    case 'undone': {
      const { by, ...rest } = completion;
      return by === undefined ? rest : { ...rest, by: node(by) };
    }
    default:
      return unreachable(completion);
  }
}

function keyOf({ key }: NodeRecord): string {
  return key;
}

function scopeRefOf({ container, part }: ScopeRecord): ScopeRef {
  return container === undefined ? { part } : { container: container.key, part };
}

/** Handles the next completion. A queue instead of recursion: nesting may be deep. */
function completeNext(transition: Transition): boolean {
  const next = transition.continuations.pop() ?? shiftOf(transition.completions);
  if (next === undefined) return false;
  switch (next.kind) {
    case 'scope':
      completeScope(transition, next.scope);
      return true;
    case 'rollback':
      completeRollback(transition, next.of);
      return true;
    case 'continueUndo': {
      const { by, hasSlot } = next;
      // An abort may have ended it meanwhile.
      if (transition.state.undoing.get(by?.key ?? '') !== undefined) continueUndo(transition, by, hasSlot);
      return true;
    }
    case 'undone': {
      const { by, report, hasHalted } = next;
      if (by === undefined) finishUndone(transition, report);
      else if (by.planned.node.kind === 'compensate') {
        // An abort may have cancelled it meanwhile.
        if (by.status === 'running') completeCompensate(transition, by, report, hasHalted);
      } else completeRollback(transition, by, report);
      return true;
    }
    default:
      return unreachable(next);
  }
}

/** Skips `shift` on an empty list, which is the usual case. */
function shiftOf<T>(list: T[]): T | undefined {
  return list.length === 0 ? undefined : list.shift();
}

function completeScope(transition: Transition, scope: ScopeRecord): void {
  const { container } = scope;
  if (container === undefined) {
    finishRun(transition);
    return;
  }
  if (transition.rehearsal?.endPart(transition, container, scope) === true) return;
  const { node } = container.planned;
  if (node.kind === 'parallel') completeBranch(transition, container, node, scope);
  else if (node.kind === 'foreach') completeItem(transition, container, node, scope);
  else completeOnlyPart(transition, container, scope);
}

/** Fails a run whose graph cannot run, before any node starts. */
export function endWithFault(transition: Transition, graph: Graph, { failure, node }: PlanFault): void {
  for (const { id, kind: nodeKind } of graph.nodes) {
    if (id === node?.id) transition.report({ kind: 'nodeFailed', node: id, nodeKind, failure });
    else transition.report({ kind: 'nodeSkipped', node: id, nodeKind, reason: 'run_ended' });
  }
  const failed = node === undefined ? {} : { failedNode: node.id, failures: [{ node: node.id, failure }] };
  finish(transition, { status: 'failed', failure, ...failed });
}

/** Cancels all nodes. Calls in flight are aborted, and their outcome is unknown. [L16] */
export function cancelRun(
  transition: Transition,
  { reason, compensate = false, code }: Extract<Event, { kind: 'cancelled' }>,
): boolean {
  const { run, root } = transition.state;
  // A run that has failed, and is undone, ends so.
  if (run.cancelling !== undefined || root.open === 0) return false;
  transition.changeRun().cancelling = { reason, compensate, ...defined({ code }) };
  const failure = failures.cancelledInFlight(reason);
  stopScope(transition, root, { how: 'cancel', reason: 'run_ended', failure });
  return true;
}

/** Ends the run: all nodes at the top have settled. A cancelled run may be rolled back first. */
function finishRun(transition: Transition): void {
  const { run, compensations, effects } = transition.state;
  const { cancelling, status } = run;
  if (status !== 'running') return;
  if (cancelling === undefined) {
    finishByOutcome(transition);
    return;
  }
  const undoable = cancelling.compensate ? effects.open().filter(({ tool }) => tool !== undefined) : [];
  if (undoable.length > 0) beginRollback(transition, undefined, undoable);
  // Compensations in flight when the run was cancelled go on.
  else if (compensations === 0) finishCancelled(transition);
}

/** Ends a run that was not cancelled. It succeeds only if no failure is left. One that fails may be rolled back first. */
function finishByOutcome(transition: Transition): void {
  const { root, effects } = transition.state;
  const outcome = outcomeOf(transition, root);
  if (outcome.status === 'cancelled') throw new Error('a run is unfinished and was not cancelled');
  if (outcome.status === 'succeeded') {
    transition.changeRun().endedBy = root.details.endedBy;
    finish(transition, { status: 'succeeded', result: outcome.value });
    return;
  }
  const open = effects.size === 0 ? [] : effects.open();
  if (open.length > 0 && undoesOnFailure(root)) {
    beginRollback(transition, undefined, open, outcome.failure);
    return;
  }
  // What could be undone remains, and is reported.
  markForUndo(
    transition,
    open.filter(({ tool }) => tool !== undefined),
  );
  finishFailed(transition, outcome.failure);
}

function finishFailed(transition: Transition, failure: Failure): void {
  const { root } = transition.state;
  transition.changeRun().endedBy = root.details.endedBy;
  const failedNode = root.details.failedNode?.key;
  finish(transition, { status: 'failed', failure, failures: failuresIn(root), ...defined({ failedNode }) });
}

/** Ends a run that was rolled back, because it was cancelled or because it failed. */
function finishUndone(transition: Transition, report: CompensationReport): void {
  const { run, root } = transition.state;
  const { failure } = root.details;
  if (run.cancelling !== undefined || failure === undefined) finishCancelled(transition, report);
  else finishFailed(transition, failures.undone(failure, report));
}

function finishCancelled(transition: Transition, report?: CompensationReport): void {
  const { cancelling } = transition.state.run;
  const failure = failures.cancelled(cancelling?.reason ?? '', report, cancelling?.code);
  transition.changeRun().cancelling = undefined;
  finish(transition, { status: 'cancelled', failure, failures: failuresIn(transition.state.root) });
}

/** Every node that failed, in declaration order, followed by failed nodes inside it. */
function failuresIn(root: ScopeRecord): readonly NodeFailure[] {
  const failed: NodeFailure[] = [];
  const collect = ({ plan, nodes }: ScopeRecord): void => {
    for (const { index } of plan.nodes) {
      const node = nodes[index];
      const failure = node?.details.failure;
      if (node?.status !== 'failed' || failure === undefined) continue;
      failed.push({ node: node.key, failure });
      for (const inner of node.container?.parts ?? []) if (inner !== undefined) collect(inner);
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
    ...defined({ result, failure, node: failedNode }),
    ...(failures.length === 0 ? {} : { failures }),
  });
}
