import { unreachable } from '../../../graph/unreachable.js';
import type { NodeInstance } from '../instances.js';
import type { Turn } from '../turn.js';
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
export function beginNode(turn: Turn, node: NodeInstance): void {
  const model = node.planned.node;
  switch (model.kind) {
    case 'call':
      beginCall(turn, node, model);
      return;
    case 'resource':
      beginRead(turn, node, model);
      return;
    case 'compute':
      beginCompute(turn, node, model);
      return;
    case 'branch':
      beginBranch(turn, node, model);
      return;
    case 'parallel':
      beginParallel(turn, node, model);
      return;
    case 'foreach':
      beginForeach(turn, node, model);
      return;
    case 'workflow':
      beginWorkflow(turn, node, model);
      return;
    case 'ask':
      beginAsk(turn, node, model);
      return;
    case 'wait':
      beginWait(turn, node, model);
      return;
    case 'set':
      beginSet(turn, node, model);
      return;
    case 'return':
      beginReturn(turn, node, model);
      return;
    case 'goto':
      beginGoto(turn, node, model);
      return;
    case 'error':
      beginError(turn, node, model);
      return;
    case 'compensate':
      beginCompensate(turn, node);
      return;
    default:
      unreachable(model);
  }
}
