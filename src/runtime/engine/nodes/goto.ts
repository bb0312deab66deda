import type { GotoNode } from '../../../graph/model.js';
import type { PlannedNode } from '../../../plan/plan.js';
import type { NodeRow, Selection } from '../contract.js';
import { fail, forgetFailures } from '../ending.js';
import { failures } from '../failures.js';
import { countRestart } from '../generation.js';
import type { NodeInstance, ScopeInstance } from '../instances.js';
import { succeed } from '../settle.js';
import type { Turn } from '../turn.js';
import { forgetFailedItems, wipeParts } from '../wipe.js';

/** Goes back to its target, as often as it may. [Q14] */
export function beginGoto(turn: Turn, node: NodeInstance, { target, max, onLimit }: GotoNode): void {
  const { recorder } = turn;
  const { jumps = 0 } = recorder.tables.nodes.need(node.key);
  if (jumps < max) {
    recorder.report({ kind: 'jumped', node: node.key, target, visit: jumps + 1, max });
    startOver(turn, node, jumps + 1);
  } else if (onLimit === 'continue') {
    succeed(turn, node, undefined);
  } else {
    fail(turn, node, { failure: failures.loopLimit(max), reached: 0, final: true });
  }
}

/** Makes every node from the target to the `goto` pending again. All but the `goto` have settled: it waited for them. */
function startOver(turn: Turn, node: NodeInstance, jumps: number): void {
  const { scopes, nodes, outputs } = turn.recorder.tables;
  const { scope, planned } = node;
  const members = new Set([...planned.slice, planned]);
  const { open, ...scopeRow } = scopes.need(scope.key);
  scopes.put(scope.key, { open: open + planned.slice.length, ...scopeRow });
  for (const member of members) {
    const each = turn.instances.node(scope, member);
    if (member !== planned) makeWait(turn, scope, member, members);
    wipeParts(turn, each);
    forgetFailedItems(turn, each);
    countRestart(turn, each);
    outputs.delete(each.key);
    const row = startedOver(turn, scope, member, members);
    nodes.put(each.key, member === planned ? { ...row, jumps } : row);
    if (mayBeDue(row)) turn.due.add(each);
  }
  forgetFailures(turn, scope);
}

/** A node as it stands before its next visit. What selected it from outside of the loop still holds. */
function startedOver(
  turn: Turn,
  scope: ScopeInstance,
  member: PlannedNode,
  members: ReadonlySet<PlannedNode>,
): NodeRow {
  const { key } = turn.instances.node(scope, member);
  const { jumps, selections } = turn.recorder.tables.nodes.need(key);
  const still = selections?.filter(({ by }) => !members.has(turn.instances.find(by).planned));
  return {
    status: 'pending',
    waitingFor: member.orders.filter((before) => members.has(before)).length,
    ...(member.needsSelection
      ? { routers: member.routers.filter((router) => members.has(router)).length }
      : {}),
    ...withSelections(still),
    attempt: 0,
    ...(jumps === undefined ? {} : { jumps }),
  };
}

/** Waits for nothing, or can no longer be selected. */
function mayBeDue({ waitingFor, routers, selections }: NodeRow): boolean {
  return routers === undefined || selections !== undefined ? waitingFor === 0 : routers === 0;
}

/** Those outside of the loop that have not started wait for its nodes once more. */
function makeWait(
  turn: Turn,
  scope: ScopeInstance,
  member: PlannedNode,
  members: ReadonlySet<PlannedNode>,
): void {
  const { nodes } = turn.recorder.tables;
  const update = (planned: PlannedNode, change: (row: NodeRow) => NodeRow): void => {
    const { key } = turn.instances.node(scope, planned);
    const row = nodes.need(key);
    if (row.status === 'pending' && !members.has(planned)) nodes.put(key, change(row));
  };
  for (const behind of member.successors) {
    update(behind, (row) => ({ ...row, waitingFor: row.waitingFor + 1 }));
  }
  const { key } = turn.instances.node(scope, member);
  for (const target of member.routes) {
    update(target, (row) => ({ ...unselected(row, key), routers: (row.routers ?? 0) + 1 }));
  }
}

/** A node that is not selected by that one any more, if it was. Who starts over selects anew. */
function unselected({ selections, ...row }: NodeRow, by: string): NodeRow {
  return { ...row, ...withSelections(selections?.filter((selection) => selection.by !== by)) };
}

function withSelections(selections: readonly Selection[] = []): Pick<NodeRow, 'selections'> {
  return selections.length === 0 ? {} : { selections };
}
