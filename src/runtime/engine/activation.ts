import { unreachable } from '../../graph/unreachable.js';
import { failForGood } from './ending.js';
import { tellNext } from './ends.js';
import { failures } from './failures.js';
import type { NodeInstance } from './instances.js';
import { type JoinVerdict, join } from './join.js';
import { beginAsk } from './nodes/ask.js';
import { beginBranch } from './nodes/branch.js';
import { beginCall } from './nodes/call.js';
import { beginCompensate } from './nodes/compensate.js';
import { beginCompute } from './nodes/compute.js';
import { beginError } from './nodes/error.js';
import { beginForeach } from './nodes/foreach.js';
import { beginGoto } from './nodes/goto.js';
import { beginParallel } from './nodes/parallel.js';
import { beginRead } from './nodes/resource.js';
import { beginReturn } from './nodes/return.js';
import { beginSet } from './nodes/set.js';
import { beginWait } from './nodes/wait.js';
import { beginWorkflow } from './nodes/workflow.js';
import type { PlannedNode } from './plan.js';
import { hasFreePlace, nextInLine, standInLine, takesPlace } from './ready-line.js';
import { skip } from './settle.js';
import { readerOf, type Turn } from './turn.js';
import { goOnUndoing } from './undo.js';

/** More started nodes than this are no work but a loop without end. */
export const MAX_STARTED = 100_000;

/** Does everything that can be done without an answer from outside. */
export function runOn(turn: Turn): void {
  while (tellNext(turn) || startFromLine(turn) || activateDue(turn));
}

/** Those who waited for a place come before those who only now may start. */
function startFromLine(turn: Turn): boolean {
  if (!hasFreePlace(turn)) return false;
  const node = nextInLine(turn);
  if (node === undefined) return false;
  if (turn.recorder.tables.undoing.get(node.key) === undefined) begin(turn, node);
  else goOnUndoing(turn, node);
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
  const { waitingFor, routers, selectedBy } = turn.recorder.tables.nodes.need(node.key);
  if (planned.needsSelection && selectedBy === undefined) {
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
  const { nodes } = turn.recorder.tables;
  const rows = (dependencies: readonly PlannedNode[]) =>
    dependencies.map((each) => nodes.need(turn.instances.node(scope, each).key));
  const verdict = join(planned.node.join, rows(planned.joins));
  return verdict.run ? join('none_failed', rows(planned.needs)) : verdict;
}

/** Starts a node, or its next attempt. */
function begin(turn: Turn, node: NodeInstance): void {
  const model = node.planned.node;
  if (turn.recorder.tables.nodes.need(node.key).attempt === 0 && !start(turn, node)) return;
  switch (model.kind) {
    case 'call':
      return beginCall(turn, node, model);
    case 'resource':
      return beginRead(turn, node, model);
    case 'compute':
      return beginCompute(turn, node, model);
    case 'branch':
      return beginBranch(turn, node, model);
    case 'parallel':
      return beginParallel(turn, node, model);
    case 'foreach':
      return beginForeach(turn, node, model);
    case 'workflow':
      return beginWorkflow(turn, node, model);
    case 'ask':
      return beginAsk(turn, node, model);
    case 'wait':
      return beginWait(turn, node, model);
    case 'set':
      return beginSet(turn, node, model);
    case 'return':
      return beginReturn(turn, node, model);
    case 'goto':
      return beginGoto(turn, node, model);
    case 'error':
      return beginError(turn, node, model);
    case 'compensate':
      return beginCompensate(turn, node);
    default:
      unreachable(model);
  }
}

/** Tells that a node starts. False, and a failed node, where the run has started too many. */
function start(turn: Turn, node: NodeInstance): boolean {
  const { recorder } = turn;
  const { started } = recorder.run;
  if (started >= MAX_STARTED) {
    failForGood(turn, node, { failure: failures.stepLimit(MAX_STARTED), reached: 0, final: true });
    return false;
  }
  recorder.putRun({ ...recorder.run, started: started + 1 });
  const { kind: nodeKind } = node.planned.node;
  recorder.report({ kind: 'nodeStarted', node: node.key, nodeKind, ...guidanceOf(turn, node) });
  return true;
}

/** Guidance is advice: a fault in it is reported beside the start and never fails the node. Empty advice is none. */
function guidanceOf(turn: Turn, node: NodeInstance) {
  const expr = node.planned.node.guidance;
  if (expr === undefined) return {};
  const guidance = readerOf(turn, node).guidance(expr);
  if (!guidance.ok) return { guidanceFailure: guidance.failure };
  return guidance.value === '' ? {} : { guidance: guidance.value };
}
