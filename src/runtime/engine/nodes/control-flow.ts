import { type JsonObject, ownProperty } from '../../../graph/json.js';
import { MAX_WORKFLOW_DEPTH } from '../../../graph/limits.js';
import type { Arm, BranchNode, GotoNode, Graph, WorkflowNode } from '../../../graph/model.js';
import { complete, fail, forgetFailures } from '../attempt.js';
import { markForUndo } from '../effects.js';
import { type Evaluated, readerOf } from '../evaluation.js';
import { failures } from '../failures.js';
import { countRestart } from '../identity.js';
import { type NodeRecord, recount, type ScopeRecord, undoesOnFailure } from '../records.js';
import {
  beginParts,
  closeContainer,
  closePart,
  deleteParts,
  failedWith,
  forgetFailedItems,
  openContainer,
  outcomeOf,
  passedOn,
} from '../scopes.js';
import { select, succeed } from '../settle.js';
import type { Transition } from '../transition.js';
import { beginRollback } from '../undo.js';

/** Takes the first case whose condition is true: runs its body, or selects its `goto` node. [G6, G8] */
export function beginBranch(transition: Transition, node: NodeRecord, model: BranchNode): void {
  const { attempt: reached } = node;
  let arm: Arm | undefined = model.else;
  for (const each of model.cases) {
    const condition = readerOf(transition, node).condition(each.when);
    if (!condition.ok) {
      fail(transition, node, { failure: condition.failure, reached, isPermanent: true });
      return;
    }
    if (condition.value) {
      arm = each;
      break;
    }
  }
  if (arm === undefined) {
    fail(transition, node, { failure: failures.noMatch(), reached, isPermanent: true });
    return;
  }
  const fact = { kind: 'branchTaken', node: node.key, arm: arm.id } as const;
  if ('goto' in arm) {
    transition.report({ ...fact, goto: arm.goto });
    select(transition, node, arm.goto, 'goto');
    complete(transition, node, undefined);
    return;
  }
  transition.report(fact);
  const { id } = arm;
  const part = node.planned.parts.findIndex((each) => each.arm === id);
  openContainer(transition, node, part, part + 1);
  beginParts(transition, node, 1);
}

/** Jumps to its target, at most `max` times. [Q14] */
export function beginGoto(
  transition: Transition,
  node: NodeRecord,
  { target, max, onLimit }: GotoNode,
): void {
  const { jumps } = node.details;
  if (jumps < max) {
    transition.report({ kind: 'jumped', node: node.key, target, visit: jumps + 1, max });
    transition.change(node).set('jumps', jumps + 1);
    startOver(transition, node.scope, membersOf(node));
  } else if (onLimit === 'continue') {
    succeed(transition, node, undefined);
  } else {
    fail(transition, node, { failure: failures.loopLimit(max), reached: 0, isPermanent: true });
  }
}

/** The nodes from the target of a `goto` to itself. The others have settled, as it depends on them. */
function membersOf({ scope, planned }: NodeRecord): NodeRecord[] {
  return [...new Set([...planned.slice, planned])].map((each) => scope.node(each));
}

/** Resets nodes of a scope: those that have settled, and one that was about to begin. */
export function startOver(transition: Transition, scope: ScopeRecord, members: readonly NodeRecord[]): void {
  const { state, ready } = transition;
  const isMember = new Set(members);
  const settled = members.filter((member) => member.isSettled);
  transition.change(scope).open += settled.length;
  for (const member of members) {
    deleteParts(transition, member);
    forgetFailedItems(transition, member);
    countRestart(state, member.key);
    // Selections by nodes outside the loop remain.
    const selections = member.details.selections.filter(({ by }) => !isMember.has(by));
    transition.change(member).startOver(selections);
  }
  for (const member of members) recount(member);
  for (const member of settled) recountDependents(transition, member, isMember);
  for (const member of members) if (isReady(member)) ready.add(member);
  forgetFailures(transition, scope);
}

/** Whether a node can start, or can be skipped because no node can select it. */
function isReady({ planned, waitingFor, routers, details }: NodeRecord): boolean {
  return !planned.needsSelection || details.selections.length > 0 ? waitingFor === 0 : routers === 0;
}

/** Makes pending nodes outside the loop wait for a member of it again. */
function recountDependents(
  transition: Transition,
  member: NodeRecord,
  isMember: ReadonlySet<NodeRecord>,
): void {
  const { planned, scope } = member;
  for (const each of [...planned.successors, ...planned.routes]) {
    const behind = scope.nodes[each.index];
    if (behind?.status !== 'pending' || isMember.has(behind)) continue;
    // A node that starts over decides again.
    const { selections } = behind.details;
    if (selections.some(({ by }) => by === member)) {
      transition.change(behind).select(selections.filter(({ by }) => by !== member));
    }
    recount(behind);
  }
}

/** Runs another workflow with its own inputs, names and steps. [N6] */
export function beginWorkflow(transition: Transition, node: NodeRecord, model: WorkflowNode): void {
  const { state } = transition;
  const { plan, depth } = state.part(node, 0).workflow;
  const evaluated = readerOf(transition, node).object(model.input, 'input');
  const input = evaluated.ok ? inputFor(plan.graph, evaluated.value, depth) : evaluated;
  if (!input.ok) {
    fail(transition, node, { failure: input.failure, reached: node.attempt, isPermanent: true });
    return;
  }
  openContainer(transition, node, 0, 1).input = input.value;
  state.inputs.put(node.key, input.value);
  beginParts(transition, node, 1);
}

/** The input of a workflow, with the defaults of missing fields. */
function inputFor(
  { name: workflow, inputs }: Graph,
  input: JsonObject,
  depth: number,
): Evaluated<JsonObject> {
  const names = new Set(inputs.map(({ name }) => name));
  const unknown = Object.keys(input).filter((name) => !names.has(name));
  const missing: string[] = [];
  const entries: [string, JsonObject[string]][] = [];
  for (const declared of inputs) {
    const own = ownProperty(input, declared.name);
    // Null is a value: only an absent field gets its default.
    const value = own === undefined ? declared.default : own;
    if (value !== undefined) entries.push([declared.name, value]);
    else if (declared.required) missing.push(declared.name);
  }
  if (missing.length + unknown.length > 0) {
    return { ok: false, failure: failures.workflowInput(workflow, missing, unknown) };
  }
  if (depth > MAX_WORKFLOW_DEPTH) return { ok: false, failure: failures.depth(MAX_WORKFLOW_DEPTH) };
  return { ok: true, value: Object.fromEntries(entries) };
}

/**
 * Ends a `branch` or a `workflow` node: it settles as its only part did, unless it timed out. A workflow that undoes on failure
 * is rolled back first.
 */
export function completeOnlyPart(transition: Transition, node: NodeRecord, scope: ScopeRecord): void {
  const outcome = outcomeOf(transition, scope);
  const container = closePart(transition, node, scope, outcome);
  const { failure, isPermanent, aborted } = container;
  const undoes = undoesOnFailure(scope);
  const ended =
    outcome.status === 'failed' && !undoes ? passedOn(outcome.failure, outcome.isPermanent) : outcome;
  const end = failure === undefined ? ended : failedWith(failure, isPermanent);
  const effects = end.status === 'failed' && undoes ? transition.state.effects.open(node) : [];
  if (end.status !== 'failed' || aborted || effects.length === 0) {
    // After an abort or a timeout there is no rollback: report the effects that remain.
    markForUndo(transition, effects);
    closeContainer(transition, node, end);
    return;
  }
  transition.cancelTimer(node);
  transition.change(container).undoing = true;
  container.failure = end.failure;
  container.isPermanent = end.isPermanent;
  beginRollback(transition, node, effects, end.failure);
}
