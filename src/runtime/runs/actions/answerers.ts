import type { Owner } from '../../../decorators/context.js';
import { type Answerer, describeAnswerers } from '../../../graph/answerers.js';
import { getOrInsert } from '../../../graph/maps.js';
import type { AskNode, Graph } from '../../../graph/model.js';
import { nodesWithTasks } from '../../../graph/nodes.js';
import { clip } from '../../../graph/printable-text.js';
import type { Failure } from '../../engine/contract.js';
import { accessKey, isSameUser, rolesOf } from '../run/owner.js';

/** Who may answer a question, as its action has it. */
type AnswerBy = readonly Answerer[] | undefined;

/** Whether a caller may answer a question of an owner's run. */
export function mayAnswer(answerBy: AnswerBy, caller: Owner, owner: Owner): boolean {
  const isOwner = accessKey(caller) === accessKey(owner);
  if (answerBy === undefined) return isOwner;
  return answerBy.some((answerer) => {
    if (answerer.kind === 'owner') return isOwner;
    if (answerer.kind === 'human') return isOwner && caller.person === true;
    // The user of an anonymous owner could be any caller.
    const isExcepted =
      answerer.except === 'owner' && (owner.kind === 'anonymous' || isSameUser(caller, owner));
    return !isExcepted && rolesOf(caller).includes(answerer.role);
  });
}

/** Where a server's callers get roles from. */
interface RoleSources {
  /** Of the user of this process. */
  readonly localRoles: readonly string[];
  /** Whether questions have pages, on which people answer. */
  readonly hasPages: boolean;
  /** Whether callers that a transport authenticates may have roles. */
  readonly hasAuthentication: boolean;
}

/** Why no run of a workflow may start for an owner: a question that no caller could answer. */
export function unanswerable(graph: Graph, owner: Owner, sources: RoleSources): Failure | undefined {
  for (const { step, answerBy } of restrictedQuestions(graph)) {
    if (answerBy.some((answerer) => canExist(answerer, owner, sources))) continue;
    const who = describeAnswerers(answerBy);
    if (!sources.hasPages && answerBy.every(({ kind }) => kind === 'human')) {
      const message = `The run was not started: only ${who} may answer its step '${clip(step)}', and this server has no pages. Its operator serves it over HTTP with the option questions: { page: true }.`;
      return { code: 'E_NO_ROLES', message, details: { step } };
    }
    const message =
      owner.kind === 'anonymous' && sources.hasAuthentication
        ? `The run was not started: only ${who} may answer its step '${clip(step)}', and a caller without a token cannot be distinguished from others. Send the request with a bearer token.`
        : `The run was not started: only ${who} may answer its step '${clip(step)}', and no caller of this server has this role. Its operator gives roles with \`auth\` over HTTP, and with \`localRoles\` over stdio.`;
    return {
      code: 'E_NO_ROLES',
      message,
      details: { step, answer_by: answerBy.map((each) => ({ ...each })) },
    };
  }
  return undefined;
}

function canExist(answerer: Answerer, owner: Owner, sources: RoleSources): boolean {
  const { localRoles, hasAuthentication, hasPages } = sources;
  if (answerer.kind === 'owner') return true;
  if (answerer.kind === 'human') return hasPages;
  // An owner that is not known cannot be distinguished from other callers.
  if (answerer.except !== undefined && owner.kind === 'anonymous') return false;
  if (hasAuthentication || owner.kind === 'principal') return true;
  // Without authentication every caller that reaches the run is its owner.
  return answerer.except === undefined && localRoles.includes(answerer.role);
}

interface RestrictedQuestion {
  readonly step: string;
  readonly answerBy: readonly Answerer[];
}

/** Those to whom a question is escalated are counted from the beginning: a run that can be answered is not refused. */
function restrictionOf({ id, answerBy, escalateTo = [] }: AskNode): readonly RestrictedQuestion[] {
  if (answerBy === undefined && escalateTo.length === 0) return [];
  return [{ step: id, answerBy: [...(answerBy ?? [OWNER]), ...escalateTo] }];
}

const OWNER = { kind: 'owner' } as const;

const restricted = new WeakMap<Graph, readonly RestrictedQuestion[]>();

/** The questions of a workflow, and of those that it runs, that say who may answer. */
export function restrictedQuestions(graph: Graph): readonly RestrictedQuestion[] {
  return getOrInsert(restricted, graph, () =>
    nodesWithTasks(graph).flatMap((node) => (node.kind === 'ask' ? restrictionOf(node) : [])),
  );
}
