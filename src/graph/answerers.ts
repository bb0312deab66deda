import { isJsonObject } from './json.js';

/** The owner of a run, as who may answer a question of it. */
export interface OwnerAnswerer {
  readonly kind: 'owner';
}

/** Callers with a role, as who may answer a question. */
export interface RoleAnswerer {
  readonly kind: 'role';
  readonly role: string;
  /** The owner of the run may not answer, even with the role. */
  readonly except?: 'owner';
}

/** The owner of a run as a person, on the page of a question: no model and no program of a client. */
export interface HumanAnswerer {
  readonly kind: 'human';
}

/** Who may answer a question. */
export type Answerer = OwnerAnswerer | RoleAnswerer | HumanAnswerer;

/** A role: a text that a line of a message shows as it is. */
const ROLE = /^(?! )[^\p{C}\p{Zl}\p{Zp}'"`]{1,128}(?<! )$/u;

/** True for the name of a role: 1 to 128 printable characters without quotes, and no space at either end. */
export function isRole(text: unknown): text is string {
  return typeof text === 'string' && ROLE.test(text);
}

/** Whether a value is an answerer; programs in JavaScript may write anything. */
export function isAnswerer(value: unknown): value is Answerer {
  if (!isJsonObject(value)) return false;
  const { kind, role, except } = value;
  if (kind === 'owner' || kind === 'human') return true;
  return kind === 'role' && isRole(role) && (except === undefined || except === 'owner');
}

/** Equal for answerers that name the same callers. */
export function answererKey(answerer: Answerer): string {
  if (answerer.kind === 'role') return `${answerer.except ?? ''} ${answerer.role}`;
  return answerer.kind === 'owner' ? '' : answerer.kind;
}

/** Whether a list has at least one answerer, and none twice. */
export function isListOfAnswerers(answerBy: readonly Answerer[]): boolean {
  return answerBy.length > 0 && new Set(answerBy.map(answererKey)).size === answerBy.length;
}

/** Whether the owner may not answer, even with a role that may. */
export function isForOthers(answerBy: readonly Answerer[] | undefined): answerBy is readonly Answerer[] {
  return answerBy !== undefined && !answerBy.some(({ kind }) => kind === 'owner');
}

/** Whether a person may answer on the page of the question, and the owner not in any other way. */
export function needsPage(answerBy: readonly Answerer[] | undefined): boolean {
  return isForOthers(answerBy) && answerBy.some(({ kind }) => kind === 'human');
}

/** Names who may answer: `the owner of the run, or a caller with the role 'lead' who is not the owner`. */
export function describeAnswerers(answerBy: readonly Answerer[]): string {
  return answerBy.map(describeAnswerer).join(', or ');
}

function describeAnswerer(answerer: Answerer): string {
  if (answerer.kind === 'owner') return 'the owner of the run';
  if (answerer.kind === 'human') return 'a person on the page of the question';
  const { role, except } = answerer;
  return `a caller with the role '${role}'${except === undefined ? '' : ' who is not the owner'}`;
}
