import { unreachable } from '../../graph/unreachable.js';
import { failForGood, finishIfDone } from './ending.js';
import { type JoinVerdict, join } from './join.js';
import { beginCall } from './nodes/call.js';
import { beginCompute } from './nodes/compute.js';
import { beginError } from './nodes/error.js';
import { beginRead } from './nodes/resource.js';
import { beginReturn } from './nodes/return.js';
import type { PlannedNode, RunnableNode } from './plan.js';
import { hasFreePlace, nextInLine, standInLine } from './ready-line.js';
import { skip } from './settle.js';
import type { Turn } from './turn.js';

/** Does everything that can be done without an answer from outside, and ends the run when nothing is left. */
export function runOn(turn: Turn): void {
  while (startFromLine(turn) || activateDue(turn));
  finishIfDone(turn);
}

/** Those who waited for a place come before those who only now may start. */
function startFromLine(turn: Turn): boolean {
  if (!hasFreePlace(turn)) return false;
  const planned = nextInLine(turn);
  if (planned === undefined) return false;
  begin(turn, planned);
  return true;
}

function activateDue(turn: Turn): boolean {
  const planned = turn.due.take();
  if (planned === undefined) return false;
  // The run may have ended since the node became due.
  if (turn.recorder.node(planned.node.id).status === 'pending') activate(turn, planned);
  return true;
}

/** Every dependency has settled: join, then condition, then a place. */
function activate(turn: Turn, planned: PlannedNode): void {
  const { node } = planned;
  const verdict = verdictOf(turn, planned);
  if (!verdict.run) {
    skip(turn, planned, verdict.reason);
    return;
  }
  if (node.when !== undefined) {
    const condition = turn.evaluation.condition(node.when);
    if (!condition.ok) {
      // A fallback stands in for the node's work, not for the question whether it has any.
      failForGood(turn, planned, condition.failure);
      return;
    }
    if (!condition.value) {
      skip(turn, planned, 'condition_false');
      return;
    }
  }
  if (takesPlace(node) && !hasFreePlace(turn)) standInLine(turn, planned);
  else begin(turn, planned);
}

function verdictOf({ recorder }: Turn, { node, joins, needs }: PlannedNode): JoinVerdict {
  const rows = (ids: readonly string[]) => ids.map((id) => recorder.node(id));
  const verdict = join(node.join, rows(joins));
  return verdict.run ? join('none_failed', rows(needs)) : verdict;
}

/** Only what is in flight takes a place; everything else is done as soon as it starts. */
function takesPlace(node: RunnableNode): boolean {
  switch (node.kind) {
    case 'call':
    case 'resource':
      return true;
    case 'compute':
      return node.function !== undefined;
    case 'error':
    case 'return':
      return false;
    default:
      return unreachable(node);
  }
}

/** Starts a node, or its next attempt. */
function begin(turn: Turn, planned: PlannedNode): void {
  const { node } = planned;
  if (turn.recorder.node(node.id).attempt === 0) {
    turn.recorder.report({
      kind: 'nodeStarted',
      node: node.id,
      nodeKind: node.kind,
      ...guidanceOf(turn, node),
    });
  }
  switch (node.kind) {
    case 'call':
      beginCall(turn, planned, node);
      return;
    case 'resource':
      beginRead(turn, planned, node);
      return;
    case 'compute':
      beginCompute(turn, planned, node);
      return;
    case 'error':
      beginError(turn, planned, node);
      return;
    case 'return':
      beginReturn(turn, planned, node);
      return;
    default:
      unreachable(node);
  }
}

/** Guidance is advice: a fault in it is reported beside the start and never fails the node. Empty advice is none. */
function guidanceOf({ evaluation }: Turn, node: RunnableNode) {
  if (node.guidance === undefined) return {};
  const guidance = evaluation.guidance(node.guidance);
  if (!guidance.ok) return { guidanceFailure: guidance.failure };
  return guidance.value === '' ? {} : { guidance: guidance.value };
}
