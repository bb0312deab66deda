import { defined } from '../../graph/defined.js';
import { isJsonObject, type Json, ownProperty } from '../../graph/json.js';
import type { Node } from '../../graph/kinds/node.js';
import { addedBy } from '../../graph/kinds/waits.js';
import { DELIVERY_GRACE_MS, MAX_MODEL_TRIES } from '../../graph/limits.js';
import { asksModel, fits, isClientWork } from './actions.js';
import { attemptFailed, complete, failPaused, leavePause } from './attempt.js';
import { recordOutside } from './effects.js';
import type { Action, Event, Failure, OwedCommand } from './events.js';
import { failures } from './failures.js';
import type { NodeRecord } from './records.js';
import type { Transition } from './transition.js';

// What becomes of an action that a node waits for.

const OWNER = { kind: 'owner' } as const;

export type Request = Extract<OwedCommand, { kind: 'requestAction' }>;

/** Accepts an answer. The action stays open if the answer does not match it. */
export function actionSubmitted(
  transition: Transition,
  node: NodeRecord,
  request: Request,
  { at, by, value }: Extract<Event, { kind: 'actionSubmitted' }>,
): boolean {
  const { action, id } = request;
  if (!fits(action, value)) return false;
  transition.settleCommand(id);
  transition.state.submissions.put(id, { at, ...defined({ by }), value });
  transition.report({ kind: 'answered', node: request.node, command: id, value });
  if (action.type === 'ask' && action.approves !== undefined && isYes(value))
    transition.change(node).set('approved', action.approves);
  if (action.type === 'step') {
    leavePause(transition, node);
    recordOutside(transition, node, value);
  }
  const exitCode = isJsonObject(value) ? (ownProperty(value, 'exit_code') ?? null) : null;
  const { node: model } = node.planned;
  if (model.kind === 'shell' && model.failOnError && exitCode !== 0) {
    attemptFailed(transition, node, { failure: failures.exitCode(exitCode, value) });
  } else complete(transition, node, resultOf(model, value));
  return true;
}

/** The value of a node, from what was submitted. */
function resultOf({ kind }: Node, value: Json): Json {
  return kind === 'shell' ? { stdout: '', stderr: '', ...Object(value) } : value;
}

/** Takes note of a result that does not fit. The last one fails the attempt. [N10] */
export function valueRefused(
  transition: Transition,
  node: NodeRecord,
  { action, id, node: key }: Request,
  problems: readonly string[],
): boolean {
  if (!countsTries(action)) return false;
  const refused = [...node.details.refused, problems];
  const tries = refused.length;
  transition.change(node).set('refused', refused);
  transition.report({ kind: 'valueRefused', node: key, command: id, tries, of: MAX_MODEL_TRIES, problems });
  if (tries < MAX_MODEL_TRIES) return true;
  transition.settleCommand(id);
  const { schema } = action;
  const isModel = asksModel(action);
  const failure = failures[isModel ? 'modelValue' : 'resultShape'](tries, problems, schema);
  attemptFailed(transition, node, { failure, isPermanent: !isModel });
  return true;
}

/** Whether results that do not fit are counted: values of models, and responses that have a schema. */
function countsTries(action: Action): boolean {
  return asksModel(action) || (action.type === 'delegate' && action.json === true);
}

export function actionFailed(
  transition: Transition,
  node: NodeRecord,
  { id, action }: Request,
  failure: Failure,
): true {
  transition.settleCommand(id);
  if (action.type === 'step') failPaused(transition, node, failure);
  else attemptFailed(transition, node, { failure });
  return true;
}

/** Reminds of a question that is still open. Those to whom it is escalated may answer it from now on. [N14] */
export function remind(
  transition: Transition,
  node: NodeRecord,
  { kind, id, node: key, action, seq, reminder }: Request,
): void {
  const { escalateTo = [], limitAt } = reminder ?? {};
  const others = addedBy(escalateTo, action.answerBy);
  const answerBy = others.length === 0 ? action.answerBy : [...(action.answerBy ?? [OWNER]), ...others];
  const next = { ...action, ...defined({ answerBy }) };
  const dueAt = defined({ dueAt: limitAt });
  transition.reissueCommand(node, {
    kind,
    id,
    node: key,
    action: next,
    seq,
    remindedAt: transition.at,
    ...dueAt,
  });
  transition.report({ kind: 'reminded', node: key, command: id, action: next });
}

/** Begins the time limit of work of the client when it is delivered first. [N12] */
export function actionDelivered(transition: Transition, node: NodeRecord, request: Request): boolean {
  const { kind, id, node: key, action, seq, deliveredAt } = request;
  if (!isClientWork(action) || deliveredAt !== undefined) return false;
  const { state, at } = transition;
  const limit = at + action.timeoutMs + DELIVERY_GRACE_MS;
  const dueAt = Math.min(limit, state.run.deadlineAt ?? limit);
  // Written out: the same bytes after a restart.
  transition.reissueCommand(node, { kind, id, node: key, action, seq, deliveredAt: at, dueAt });
  return true;
}

/** Whether an answer, or the value of a question, is a yes. */
export function isYes(value: Json | undefined): boolean {
  return isJsonObject(value) && ownProperty(value, 'confirmed') === true;
}
