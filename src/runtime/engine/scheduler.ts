import { Budget } from '../../graph/expression/evaluate.js';
import type { Expr } from '../../graph/expression/tree.js';
import { MAX_STARTED_NODES } from '../../graph/limits.js';
import type { Graph, JoinRule } from '../../graph/model.js';
import { unreachable } from '../../graph/unreachable.js';
import type { PlanFault } from '../../plan/fault.js';
import type { PlannedNode } from '../../plan/plan.js';
import { failForGood } from './attempt.js';
import type { CompensationReport, Event, Failure, NodeFailure, NodeStatus, SkipReason } from './events.js';
import { failures } from './failures.js';
import { beginNode } from './nodes/begin.js';
import { completeItem } from './nodes/control-flow.js';
import { completeBranch, completeCompensate, completeRollback } from './nodes/parallel.js';
import type { NodeRecord, ScopeRecord } from './records.js';
import type { Completion, OwedWork, ScopeRef } from './rows.js';
import { closeContainer, closePart, failedWith, forgetFailedItems, outcomeOf, wipeParts } from './scopes.js';
import { skip, stopScope } from './settle.js';
import type { RunRecord } from './state.js';
import {
  ADVANCE_BUDGET,
  enterQueue,
  hasFreeSlot,
  nextInQueue,
  readerOf,
  type Transition,
} from './transition.js';
import { beginRollback, goOnUndoing, undoableInRun } from './undo.js';

/** What a node's dependencies mean for it: it runs, or it is skipped for a reason. */
export type JoinVerdict = { readonly run: true } | { readonly run: false; readonly reason: SkipReason };

const RUN: JoinVerdict = { run: true };
const SKIP_FAILED: JoinVerdict = { run: false, reason: 'upstream_failed' };
const SKIP_SKIPPED: JoinVerdict = { run: false, reason: 'upstream_skipped' };

/** Does everything that can be done without an answer from outside, as far as the limit of the transition lets it. */
export function runOn(transition: Transition): void {
  while (transition.activations > 0) {
    if (!completeNext(transition) && !startFromQueue(transition) && !activateNext(transition)) return;
    transition.activations -= 1;
  }
  putOff(transition);
}

/** Those who waited for a slot come before those who only now may start. */
function startFromQueue(transition: Transition): boolean {
  const { queue, tables } = transition.state;
  if (queue.isEmpty || !hasFreeSlot(transition)) return false;
  const node = nextInQueue(transition);
  if (node === undefined) return false;
  if (tables.known('undoing')?.get(node.key) === undefined) begin(transition, node);
  else goOnUndoing(transition, node, true);
  return true;
}

function activateNext(transition: Transition): boolean {
  const node = transition.ready.take();
  if (node === undefined) return false;
  // Since it became ready it may have been skipped, or begun already, or its scope is over.
  if (!node.scope.isOpen) return true;
  if (node.status === 'pending') activate(transition, node);
  else if (node.status === 'ready' && !node.planned.takesSlot) begin(transition, node);
  return true;
}

/** Every dependency has settled: selection, join, then condition, then a slot. */
function activate(transition: Transition, node: NodeRecord): void {
  const { planned, waitingFor, routers } = node;
  const { rehearsal } = transition;
  if (rehearsal !== undefined && waitingFor === 0 && (node.details.selections.length > 0 || routers === 0)) {
    const turn = rehearsal.resume(transition, node);
    if (turn === 'begin') begin(transition, node);
    if (turn !== 'activate') return;
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
      // A fallback stands in for the node's work, not for the question whether it has any.
      failForGood(transition, node, { failure: condition.failure, reached: 0, final: true });
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
  const found = new Settlements();
  for (const each of dependencies) {
    const { status, details } = scope.node(each);
    found.add(status, details.reason);
  }
  return found;
}

/** What the settled dependencies of a node count as in its join. */
export class Settlements {
  #succeeded = false;
  #failed = false;
  #skipped = false;

  /**
   * Adds a dependency. One that was skipped because of a failure further up counts as failed, so that a failure reaches
   * all who depend on it; a skip for any other reason, and a failure that was handled, count as skipped.
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

  /** Decides by a join rule. Without dependencies every rule lets the node run. */
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
  if (node.attempt > 0) startAgain(transition, node);
  else if (!start(transition, node)) return;
  if (transition.rehearsal === undefined) beginNode(transition, node);
  else transition.rehearsal.begin(transition, node);
}

/** What the attempt before left inside goes. */
function startAgain(transition: Transition, node: NodeRecord): void {
  wipeParts(transition, node);
  forgetFailedItems(transition, node);
}

/** Reports that a node starts. False, and a failed node, where the run has started too many. */
function start(transition: Transition, node: NodeRecord): boolean {
  if (transition.state.run.started >= MAX_STARTED_NODES) {
    failForGood(transition, node, {
      ...{ failure: failures.stepLimit(MAX_STARTED_NODES), reached: 0, final: true },
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

/** Guidance is advice: a fault in it is reported beside the start and never fails the node. Empty advice is none. */
function guidanceOf(transition: Transition, node: NodeRecord, expr: Expr) {
  const guidance = readerOf(transition, node).guidance(expr);
  if (!guidance.ok) return { guidanceFailure: guidance.failure };
  return guidance.value === '' ? {} : { guidance: guidance.value };
}

/** Writes down what is left of an event when its transition is at its limit. Nothing, where nothing is left. */
function putOff(transition: Transition): void {
  const { state, at, budget, ready } = transition;
  const ended = [...[...transition.first].reverse(), ...transition.completions].map((completion) =>
    renamed(completion, keyOf, scopeRef),
  );
  const isReady = !state.queue.isEmpty && hasFreeSlot(transition);
  if (state.run.status === 'running' && (ready.size > 0 || ended.length > 0 || isReady)) {
    const work = { at, budget: budget.left, due: ready.keys(), ended };
    transition.changeRun().owed = work;
  }
}

/** Takes up what the transition before left. */
export function takeUp(transition: Transition, owed: OwedWork): void {
  const { state, ready, completions } = transition;
  transition.changeRun().owed = undefined;
  transition.at = owed.at;
  transition.budget = new Budget(owed.budget, ADVANCE_BUDGET);
  for (const key of owed.due) ready.add(state.find(key));
  const find = (key: string): NodeRecord => state.find(key);
  const scopeAt = ({ container, part }: ScopeRef): ScopeRecord =>
    container === undefined ? state.root : state.part(find(container), part);
  for (const each of owed.ended) completions.push(renamed(each, find, scopeAt));
}

/** A completion of which nodes and scopes are named in another way. */
function renamed<N, S, M, R>(
  completion: Completion<N, S>,
  node: (node: N) => M,
  scope: (scope: S) => R,
): Completion<M, R> {
  switch (completion.kind) {
    case 'scope':
      return { kind: 'scope', scope: scope(completion.scope) };
    case 'rollback':
      return { kind: 'rollback', of: node(completion.of) };
    case 'goOn':
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

function scopeRef({ container, part }: ScopeRecord): ScopeRef {
  return container === undefined ? { part } : { container: container.key, part };
}

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
  if (transition.rehearsal?.endPart(transition, container, scope) === true) return;
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
