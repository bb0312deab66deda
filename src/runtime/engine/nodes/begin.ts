import { failureCodeOf } from '../../../graph/failure-code.js';
import type { Value } from '../../../graph/json.js';
import type { SupportedKind } from '../../../graph/kinds/kinds.js';
import type { ErrorNode, ReturnNode, SetNode } from '../../../graph/model.js';
import type { RunnableNode } from '../../../plan/plan.js';
import { endWithError, endWithReturn, fail, failForGood } from '../fail.js';
import type { NodeRecord } from '../records.js';
import { succeed } from '../settle.js';
import { readerOf, type Transition } from '../transition.js';
import { beginCall, beginCompute, beginRead } from './call.js';
import { beginBranch, beginGoto, beginWorkflow } from './control-flow.js';
import { beginForeach } from './foreach.js';
import { beginCompensate, beginParallel } from './parallel.js';
import { beginAsk, beginWait } from './wait.js';

type Begin<N> = (transition: Transition, node: NodeRecord, model: N) => void;

/** One entry for each kind that this version runs. */
const BEGIN: { readonly [K in SupportedKind]: Begin<Extract<RunnableNode, { kind: K }>> } = {
  call: beginCall,
  resource: beginRead,
  compute: beginCompute,
  branch: beginBranch,
  parallel: beginParallel,
  foreach: beginForeach,
  workflow: beginWorkflow,
  ask: beginAsk,
  wait: beginWait,
  set: beginSet,
  return: beginReturn,
  goto: beginGoto,
  error: beginError,
  compensate: beginCompensate,
};

/** Does what a node is there for, or begins to. */
export function beginNode(transition: Transition, node: NodeRecord): void {
  const model = node.planned.node;
  const begin = BEGIN[model.kind] as Begin<RunnableNode>;
  begin(transition, node, model);
}

/** Writes fields of the run's state: every value is read before any field is written. */
function beginSet(transition: Transition, node: NodeRecord, { updates }: SetNode): void {
  const reader = readerOf(transition, node);
  const written = new Map<string, Value>();
  for (const { field, value } of updates) {
    const evaluated = reader.value(value);
    if (!evaluated.ok) {
      fail(transition, node, { failure: evaluated.failure, reached: 0, final: true });
      return;
    }
    written.set(field, evaluated.value);
  }
  const given = [...written].flatMap(([field, value]) =>
    value === undefined ? [] : [[field, value] as const],
  );
  for (const [field, value] of written) {
    const row = value === undefined ? {} : { value };
    transition.state.fields.put(field, row);
    transition.report({ kind: 'stateSet', node: node.key, field, ...row });
  }
  succeed(transition, node, Object.fromEntries(given));
}

/** Ends the node's workflow with a value. */
function beginReturn(transition: Transition, node: NodeRecord, { value }: ReturnNode): void {
  const evaluated = readerOf(transition, node).value(value);
  if (evaluated.ok) endWithReturn(transition, node, evaluated.value);
  else failForGood(transition, node, { failure: evaluated.failure, reached: 0, final: true });
}

/** Ends the node's scope as failed, also when the message itself cannot be made. [E8] */
function beginError(transition: Transition, node: NodeRecord, error: ErrorNode): void {
  const message = readerOf(transition, node).text(error.message, 'message');
  endWithError(
    transition,
    node,
    message.ok ? { code: failureCodeOf(error), message: message.value } : message.failure,
  );
}
