import type { GotoNode } from '../../../graph/model.js';
import { fail, forgetFailures } from '../ending.js';
import { failures } from '../failures.js';
import { countRestart } from '../generation.js';
import { type NodeRecord, recount } from '../records.js';
import { forgetFailedItems, wipeParts } from '../scopes.js';
import { succeed } from '../settle.js';
import type { Transition } from '../transition.js';

/** Goes back to its target, as often as it may. [Q14] */
export function beginGoto(
  transition: Transition,
  node: NodeRecord,
  { target, max, onLimit }: GotoNode,
): void {
  const { jumps } = node.details;
  if (jumps < max) {
    transition.report({ kind: 'jumped', node: node.key, target, visit: jumps + 1, max });
    transition.change(node).set('jumps', jumps + 1);
    startOver(transition, node);
  } else if (onLimit === 'continue') {
    succeed(transition, node, undefined);
  } else {
    fail(transition, node, { failure: failures.loopLimit(max), reached: 0, final: true });
  }
}

/** Makes every node from the target to the `goto` pending again. All but the `goto` have settled: it waited for them. */
function startOver(transition: Transition, node: NodeRecord): void {
  const { state, due } = transition;
  const { scope, planned } = node;
  const members = [...new Set([...planned.slice, planned])].map((each) => scope.node(each));
  const isMember = new Set(members);
  transition.change(scope).open += planned.slice.length;
  for (const member of members) {
    wipeParts(transition, member);
    forgetFailedItems(transition, member);
    countRestart(state, member.key);
    // What selected it from outside of the loop still holds.
    const selections = member.details.selections.filter(({ by }) => !isMember.has(by));
    transition.change(member).startOver(selections);
  }
  for (const member of members) recount(member);
  for (const member of members) if (member !== node) makeWait(transition, member, isMember);
  for (const member of members) if (mayBeDue(member)) due.add(member);
  forgetFailures(transition, scope);
}

/** Waits for nothing, or can no longer be selected. */
function mayBeDue({ planned, waitingFor, routers, details }: NodeRecord): boolean {
  return !planned.needsSelection || details.selections.length > 0 ? waitingFor === 0 : routers === 0;
}

/** Those outside of the loop that have not started wait for its nodes once more. */
function makeWait(transition: Transition, member: NodeRecord, isMember: ReadonlySet<NodeRecord>): void {
  const { planned, scope } = member;
  for (const each of [...planned.successors, ...planned.routes]) {
    const behind = scope.nodes[each.index];
    if (behind?.status !== 'pending' || isMember.has(behind)) continue;
    // Who starts over selects anew.
    const { selections } = behind.details;
    if (selections.some(({ by }) => by === member)) {
      transition.change(behind).select(selections.filter(({ by }) => by !== member));
    }
    recount(behind);
  }
}
