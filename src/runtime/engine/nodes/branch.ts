import type { Arm, BranchNode } from '../../../graph/model.js';
import { fail } from '../ending.js';
import { failures } from '../failures.js';
import type { NodeRecord } from '../records.js';
import { beginParts, openContainer } from '../scopes.js';
import { select, succeed } from '../settle.js';
import { readerOf, type Transition } from '../transition.js';

/** Takes the first case that holds: runs its body, or selects the node it names. [G6, G8] */
export function beginBranch(transition: Transition, node: NodeRecord, model: BranchNode): void {
  const { attempt: reached } = node;
  let arm: Arm | undefined = model.else;
  for (const each of model.cases) {
    const condition = readerOf(transition, node).condition(each.when);
    if (!condition.ok) {
      fail(transition, node, { failure: condition.failure, reached, final: true });
      return;
    }
    if (condition.value) {
      arm = each;
      break;
    }
  }
  if (arm === undefined) {
    fail(transition, node, { failure: failures.noMatch(), reached, final: true });
    return;
  }
  const taken = { kind: 'branchTaken', node: node.key, arm: arm.id } as const;
  if ('goto' in arm) {
    transition.report({ ...taken, goto: arm.goto });
    select(transition, node, arm.goto, 'goto');
    succeed(transition, node, undefined);
    return;
  }
  transition.report(taken);
  const { id } = arm;
  const part = node.planned.parts.findIndex((each) => each.arm === id);
  openContainer(transition, node, part, part + 1);
  beginParts(transition, node, 1);
}
