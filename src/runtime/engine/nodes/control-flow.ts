import { type JsonObject, ownProperty } from '../../../graph/json.js';
import { MAX_WORKFLOW_DEPTH } from '../../../graph/limits.js';
import type { Arm, BranchNode, GotoNode, Graph, WorkflowNode } from '../../../graph/model.js';
import type { Failure } from '../contract.js';
import type { Evaluated } from '../evaluation.js';
import { fail, forgetFailures } from '../fail.js';
import { failures } from '../failures.js';
import { countRestart } from '../identity.js';
import { type NodeRecord, recount } from '../records.js';
import { beginParts, forgetFailedItems, openContainer, wipeParts } from '../scopes.js';
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
  const { state, ready } = transition;
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
  for (const member of members) if (isReady(member)) ready.add(member);
  forgetFailures(transition, scope);
}

/** Waits for nothing, or can no longer be selected. */
function isReady({ planned, waitingFor, routers, details }: NodeRecord): boolean {
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

/** Runs another workflow with inputs, names and steps of its own. [N6] */
export function beginWorkflow(transition: Transition, node: NodeRecord, model: WorkflowNode): void {
  const { state } = transition;
  const { plan, depth } = state.part(node, 0).workflow;
  const given = readerOf(transition, node).object(model.input, 'input');
  const input = given.ok ? inputFor(plan.graph, given.value) : given;
  const failure = input.ok ? tooDeep(depth) : input.failure;
  if (!input.ok || failure !== undefined) {
    const { attempt: reached } = node;
    fail(transition, node, {
      ...{ failure: failure ?? failures.depth(MAX_WORKFLOW_DEPTH), reached, final: true },
    });
    return;
  }
  openContainer(transition, node, 0, 1).input = input.value;
  state.inputs.put(node.key, input.value);
  beginParts(transition, node, 1);
}

function tooDeep(depth: number): Failure | undefined {
  return depth > MAX_WORKFLOW_DEPTH ? failures.depth(MAX_WORKFLOW_DEPTH) : undefined;
}

/** The input a workflow runs with: what it was given, and the defaults of what it was not. */
function inputFor({ name: workflow, inputs }: Graph, given: JsonObject): Evaluated<JsonObject> {
  const known = new Set(inputs.map(({ name }) => name));
  const unknown = Object.keys(given).filter((name) => !known.has(name));
  const missing: string[] = [];
  const entries: [string, JsonObject[string]][] = [];
  for (const input of inputs) {
    const own = ownProperty(given, input.name);
    // Null is a value: only what is absent has its default.
    const value = own === undefined ? input.default : own;
    if (value !== undefined) entries.push([input.name, value]);
    else if (input.required) missing.push(input.name);
  }
  if (missing.length + unknown.length > 0) {
    return { ok: false, failure: failures.workflowInput(workflow, missing, unknown) };
  }
  return { ok: true, value: Object.fromEntries(entries) };
}
