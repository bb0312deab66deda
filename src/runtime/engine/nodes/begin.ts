import { unreachable } from '../../../graph/unreachable.js';
import type { NodeRecord } from '../records.js';
import type { Transition } from '../transition.js';
import { beginAsk } from './ask.js';
import { beginBranch } from './branch.js';
import { beginCall } from './call.js';
import { beginCompensate } from './compensate.js';
import { beginCompute } from './compute.js';
import { beginError } from './error.js';
import { beginForeach } from './foreach.js';
import { beginGoto } from './goto.js';
import { beginParallel } from './parallel.js';
import { beginRead } from './resource.js';
import { beginReturn } from './return.js';
import { beginSet } from './set.js';
import { beginWait } from './wait.js';
import { beginWorkflow } from './workflow.js';

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
