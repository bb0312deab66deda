import type { Arm, BranchNode } from '../../../graph/model.js';
import { beginParts, openContainer } from '../containers.js';
import { fail } from '../ending.js';
import { failures } from '../failures.js';
import type { NodeInstance } from '../instances.js';
import { select, succeed } from '../settle.js';
import { readerOf, type Turn } from '../turn.js';

/** Takes the first case that holds: runs its body, or selects the node it names. [G6, G8] */
export function beginBranch(turn: Turn, node: NodeInstance, model: BranchNode): void {
  const { attempt: reached } = turn.recorder.tables.nodes.need(node.key);
  let arm: Arm | undefined = model.else;
  for (const each of model.cases) {
    const condition = readerOf(turn, node).condition(each.when);
    if (!condition.ok) {
      fail(turn, node, { failure: condition.failure, reached, final: true });
      return;
    }
    if (condition.value) {
      arm = each;
      break;
    }
  }
  if (arm === undefined) {
    fail(turn, node, { failure: failures.noMatch(), reached, final: true });
    return;
  }
  const taken = { kind: 'branchTaken', node: node.key, arm: arm.id } as const;
  if ('goto' in arm) {
    turn.recorder.report({ ...taken, goto: arm.goto });
    select(turn, node, arm.goto, 'goto');
    succeed(turn, node, undefined);
    return;
  }
  turn.recorder.report(taken);
  const { id } = arm;
  const part = node.planned.parts.findIndex((each) => each.arm === id);
  openContainer(turn, node, part, part + 1);
  beginParts(turn, node, 1);
}
