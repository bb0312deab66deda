import type { Expr } from '../../graph/expression/tree.js';
import { MAX_STARTED_NODES } from '../../graph/limits.js';
import type { PlannedNode } from '../../plan/plan.js';
import { failForGood } from './ending.js';
import { tellNext } from './ends.js';
import { failures } from './failures.js';
import type { NodeInstance, ScopeInstance } from './instances.js';
import { type JoinVerdict, Settlements } from './join.js';
import { beginNode } from './nodes/begin.js';
import { putOff } from './owed.js';
import { hasFreePlace, nextInLine, standInLine, takesPlace } from './ready-line.js';
import { skip } from './settle.js';
import { readerOf, type Turn } from './turn.js';
import { goOnUndoing } from './undo.js';
import { forgetFailedItems, wipeParts } from './wipe.js';

/** Does everything that can be done without an answer from outside, as far as the limit of the transition lets it. */
export function runOn(turn: Turn): void {
  while (turn.activations > 0) {
    if (!tellNext(turn) && !startFromLine(turn) && !activateDue(turn)) return;
    turn.activations -= 1;
  }
  putOff(turn);
}

/** Those who waited for a place come before those who only now may start. */
function startFromLine(turn: Turn): boolean {
  if (!hasFreePlace(turn)) return false;
  const node = nextInLine(turn);
  if (node === undefined) return false;
  if (turn.recorder.tables.undoing.get(node.key) === undefined) begin(turn, node);
  else goOnUndoing(turn, node, true);
  return true;
}

function activateDue(turn: Turn): boolean {
  const node = turn.due.take();
  if (node === undefined) return false;
  const row = turn.recorder.tables.nodes.get(node.key);
  // Since it became due it may have been left out, or begun already.
  if (row?.status === 'pending') activate(turn, node);
  else if (row?.status === 'ready' && !takesPlace(node.planned.node)) begin(turn, node);
  return true;
}

/** Every dependency has settled: selection, join, then condition, then a place. */
function activate(turn: Turn, node: NodeInstance): void {
  const { planned } = node;
  const { waitingFor, routers, selections } = turn.recorder.tables.nodes.need(node.key);
  if (planned.needsSelection && selections === undefined) {
    if (routers === 0) skip(turn, node, 'not_selected');
    return;
  }
  if (waitingFor > 0) return;
  const verdict = verdictOf(turn, node);
  if (!verdict.run) {
    skip(turn, node, verdict.reason);
    return;
  }
  const { when } = planned.node;
  if (when !== undefined) {
    const condition = readerOf(turn, node).condition(when);
    if (!condition.ok) {
      // A fallback stands in for the node's work, not for the question whether it has any.
      failForGood(turn, node, { failure: condition.failure, reached: 0, final: true });
      return;
    }
    if (!condition.value) {
      skip(turn, node, 'condition_false');
      return;
    }
  }
  if (takesPlace(planned.node) && !hasFreePlace(turn)) standInLine(turn, node);
  else begin(turn, node);
}

function verdictOf(turn: Turn, { planned, scope }: NodeInstance): JoinVerdict {
  const needed = settlements(turn, scope, planned.needs).verdict('none_failed');
  if (!needed.run) return needed;
  return settlements(turn, scope, planned.joins).verdict(planned.node.join);
}

function settlements(turn: Turn, scope: ScopeInstance, dependencies: readonly PlannedNode[]): Settlements {
  const { nodes } = turn.recorder.tables;
  const found = new Settlements();
  for (const each of dependencies) found.add(nodes.need(turn.instances.node(scope, each).key));
  return found;
}

/** Starts a node, or its next attempt. */
function begin(turn: Turn, node: NodeInstance): void {
  if (turn.recorder.tables.nodes.need(node.key).attempt > 0) startAgain(turn, node);
  else if (!start(turn, node)) return;
  beginNode(turn, node);
}

/** What the attempt before left inside goes. */
function startAgain(turn: Turn, node: NodeInstance): void {
  wipeParts(turn, node);
  forgetFailedItems(turn, node);
}

/** Tells that a node starts. False, and a failed node, where the run has started too many. */
function start(turn: Turn, node: NodeInstance): boolean {
  const { recorder } = turn;
  if (recorder.run.started >= MAX_STARTED_NODES) {
    failForGood(turn, node, { failure: failures.stepLimit(MAX_STARTED_NODES), reached: 0, final: true });
    return false;
  }
  recorder.draftRun().started += 1;
  const { kind: nodeKind, guidance } = node.planned.node;
  if (guidance === undefined) recorder.report({ kind: 'nodeStarted', node: node.key, nodeKind });
  else
    recorder.report({ kind: 'nodeStarted', node: node.key, nodeKind, ...guidanceOf(turn, node, guidance) });
  return true;
}

/** Guidance is advice: a fault in it is reported beside the start and never fails the node. Empty advice is none. */
function guidanceOf(turn: Turn, node: NodeInstance, expr: Expr) {
  const guidance = readerOf(turn, node).guidance(expr);
  if (!guidance.ok) return { guidanceFailure: guidance.failure };
  return guidance.value === '' ? {} : { guidance: guidance.value };
}
