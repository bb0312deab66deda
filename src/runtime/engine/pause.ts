import { defined } from '../../graph/defined.js';
import type { JsonObject } from '../../graph/json.js';
import type { CallNode } from '../../graph/model.js';
import { resultSchema } from './actions.js';
import type { Evaluated } from './evaluation.js';
import type { Failure, StepAction } from './events.js';
import { type NodeRecord, type ScopeRecord, undoesOnFailure } from './records.js';
import { readerOf, type Transition } from './transition.js';

// A step of a task that would fail its run stops instead: it waits with an action. [N13]

/** Whether a node stops in place of failing: its run is a task, which the failure would end. */
export function pausesAtFailure(transition: Transition, node: NodeRecord, isPermanent: boolean): boolean {
  const { state, plan, at, rehearsal } = transition;
  const { cancelling, deadlineAt = Number.POSITIVE_INFINITY } = state.run;
  if (plan.graph.task !== true || rehearsal !== undefined) return false;
  // What undoes is not made outside.
  if (cancelling !== undefined || deadlineAt <= at || node.planned.node.kind === 'compensate') return false;
  return failsRun(node.scope, isPermanent);
}

/** Whether a failure in a scope fails the run. In a scope that has ended it is one of several. */
function failsRun(scope: ScopeRecord, isPermanent: boolean): boolean {
  const { container } = scope;
  const { endedBy, stopped, failure } = scope.details;
  if (endedBy !== undefined || stopped) return false;
  if (container === undefined) return true;
  // The first failure of a scope is that of its container.
  const isCause = failure === undefined;
  const staysFailed = isCause ? isPermanent : scope.details.isPermanent;
  return !handlesFailure(container, scope, staysFailed) && failsRun(container.scope, staysFailed);
}

/** Whether a container does not pass on the failure of its part, or undoes something before. */
function handlesFailure({ planned, attempt }: NodeRecord, part: ScopeRecord, isPermanent: boolean): boolean {
  const { node, retry } = planned;
  if (node.onError !== undefined || undoesOnFailure(part)) return true;
  if (retry !== undefined && !isPermanent && attempt <= retry.extra) return true;
  if (node.kind === 'parallel') return node.onPartialFailure !== 'abort';
  return node.kind === 'foreach' && node.onItemError !== 'fail';
}

export function stepActionOf(transition: Transition, node: NodeRecord, failure: Failure): StepAction {
  const model = node.planned.node;
  const action = { type: 'step', failure, schema: resultSchema(model) } as const;
  if (model.kind !== 'call') return action;
  const args = inputOf(transition, node, model);
  return { ...action, tool: model.tool, ...defined({ args: args.ok ? args.value : undefined }) };
}

/** The input of a call. A later attempt has that of the first one. */
export function inputOf(
  transition: Transition,
  node: NodeRecord,
  { input }: CallNode,
): Evaluated<JsonObject> {
  const { input: earlier } = node.details;
  return earlier === undefined
    ? readerOf(transition, node).object(input, 'input')
    : { ok: true, value: earlier };
}
