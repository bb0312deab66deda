import { canonicalJson } from '../../../graph/canonical.js';
import { defined } from '../../../graph/defined.js';
import { type JsonObject, ownProperty } from '../../../graph/json.js';
import type { AskNode, CallNode } from '../../../graph/model.js';
import { sha256Hex } from '../../../graph/sha256.js';
import { isYes } from '../answers.js';
import { failWithoutFallback } from '../attempt.js';
import type { Evaluated } from '../evaluation.js';
import type { Approval } from '../events.js';
import { failures } from '../failures.js';
import { restartsInside } from '../identity.js';
import { inputOf } from '../pause.js';
import type { NodeRecord } from '../records.js';
import { sibling } from '../settle.js';
import type { Transition } from '../transition.js';
import { startOver } from './control-flow.js';

// A question approves one call: its tool, and the input that it has when the question is asked. [N15]

/** The call that a question approves, as it is shown; undefined without one. */
export function approvalOf(
  transition: Transition,
  node: NodeRecord,
  { approves }: AskNode,
): Evaluated<Approval | undefined> {
  if (approves === undefined) return { ok: true, value: undefined };
  const approved = callBy(transition, sibling(node, approves));
  if (!approved.ok) return approved;
  const { askedAgain } = node.details;
  return { ok: true, value: { ...approved.value, ...defined({ askedAgain }) } };
}

function callBy(transition: Transition, call: NodeRecord): Evaluated<Approval> {
  const { tool } = call.planned.node as CallNode;
  const input = inputOf(transition, call, call.planned.node as CallNode);
  if (!input.ok) return input;
  const digest = sha256Hex(canonicalJson({ tool, input: input.value }));
  const restarts = restartsInside(transition.state, call);
  return { ok: true, value: { tool, input: input.value, digest, restarts } };
}

/**
 * Whether a call may begin: no question approves it, or its answer was a yes to exactly what would be sent. Else the
 * question is asked again, or the call fails where there was no yes.
 */
export function isApproved(transition: Transition, call: NodeRecord): boolean {
  const { approvedBy } = call.planned;
  if (approvedBy === undefined) return true;
  const question = call.scope.node(approvedBy);
  const { approved, askedAgain } = question.details;
  // A yes that no caller gave, such as the value of a fallback, approves no input however often it is asked for.
  if (approved === undefined && (!isYes(question.output) || askedAgain !== undefined)) {
    const failure = failures.notApproved(approvedBy.node.id);
    failWithoutFallback(transition, call, { failure, reached: 0, isPermanent: true });
    return false;
  }
  const next = callBy(transition, call);
  // A call fails by itself if its input has no value.
  if (!next.ok || isSame(approved, next.value)) return true;
  startOver(transition, call.scope, [question, call]);
  question.set('askedAgain', changeBetween(approved, next.value));
  return false;
}

function isSame(approved: Approval | undefined, { digest, restarts }: Approval): boolean {
  return approved?.digest === digest && approved.restarts === restarts;
}

/** Why an approval does not hold for a call. */
function changeBetween(before: Approval | undefined, { tool, input, digest }: Approval): string {
  if (before === undefined) return 'it was approved without its input';
  if (before.digest === digest) return 'the call it was for was made, and is to be made again';
  if (before.tool !== tool) return `its tool was '${before.tool}'`;
  const names = [...new Set([...Object.keys(before.input), ...Object.keys(input)])].filter(
    (name) => canonicalJson(pick(before.input, name)) !== canonicalJson(pick(input, name)),
  );
  return `its input changed: ${names.map((name) => `'${name}'`).join(', ')}`;
}

function pick(input: JsonObject, name: string): JsonObject {
  return defined({ [name]: ownProperty(input, name) }) as JsonObject;
}
