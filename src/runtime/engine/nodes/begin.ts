import { failureCodeOf } from '../../../graph/failure-code.js';
import type { Value } from '../../../graph/json.js';
import type { ErrorNode, ReturnNode, SetNode } from '../../../graph/model.js';
import { unreachable } from '../../../graph/unreachable.js';
import type { NodeRecord } from '../records.js';
import { endWithError, endWithReturn, fail, failForGood, succeed } from '../settle.js';
import { readerOf, type Transition } from '../transition.js';
import { beginCall, beginCompute, beginRead } from './call.js';
import { beginBranch, beginGoto, beginWorkflow } from './control-flow.js';
import { beginForeach } from './foreach.js';
import { beginCompensate, beginParallel } from './parallel.js';
import { beginAsk, beginWait } from './wait.js';

/** Does what a node is there for, or begins to. */
export function beginNode(transition: Transition, node: NodeRecord): void {
  const model = node.planned.node;
  switch (model.kind) {
    case 'call':
      beginCall(transition, node, model);
      return;
    case 'resource':
      beginRead(transition, node, model);
      return;
    case 'compute':
      beginCompute(transition, node, model);
      return;
    case 'branch':
      beginBranch(transition, node, model);
      return;
    case 'parallel':
      beginParallel(transition, node, model);
      return;
    case 'foreach':
      beginForeach(transition, node, model);
      return;
    case 'workflow':
      beginWorkflow(transition, node, model);
      return;
    case 'ask':
      beginAsk(transition, node, model);
      return;
    case 'wait':
      beginWait(transition, node, model);
      return;
    case 'set':
      beginSet(transition, node, model);
      return;
    case 'return':
      beginReturn(transition, node, model);
      return;
    case 'goto':
      beginGoto(transition, node, model);
      return;
    case 'error':
      beginError(transition, node, model);
      return;
    case 'compensate':
      beginCompensate(transition, node);
      return;
    default:
      unreachable(model);
  }
}

/** Writes fields of the run's state: every value is read before any field is written. */
export function beginSet(transition: Transition, node: NodeRecord, { updates }: SetNode): void {
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
export function beginReturn(transition: Transition, node: NodeRecord, { value }: ReturnNode): void {
  const evaluated = readerOf(transition, node).value(value);
  if (evaluated.ok) endWithReturn(transition, node, evaluated.value);
  else failForGood(transition, node, { failure: evaluated.failure, reached: 0, final: true });
}

/** Ends the node's scope as failed, also when the message itself cannot be made. [E8] */
export function beginError(transition: Transition, node: NodeRecord, error: ErrorNode): void {
  const told = readerOf(transition, node).text(error.message, 'message');
  endWithError(
    transition,
    node,
    told.ok ? { code: failureCodeOf(error), message: told.value } : told.failure,
  );
}
