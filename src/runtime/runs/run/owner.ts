import type { AuthInfo, Owner, Principal } from '../../../decorators/context.js';
import { type Answerer, describeAnswerers } from '../../../graph/answerers.js';
import { canonicalJson } from '../../../graph/canonical.js';
import { defined } from '../../../graph/defined.js';
import { type JsonObject, ownProperty } from '../../../graph/json.js';
import { getOrInsert } from '../../../graph/maps.js';
import type { AskNode, Graph } from '../../../graph/model.js';
import { nodesWithTasks } from '../../../graph/nodes.js';
import { clip } from '../../../graph/printable-text.js';
import { sha256Hex } from '../../../graph/sha256.js';
import type { Failure } from '../../engine/contract.js';

/** What makes two callers one owner. */
export interface OwnerRule {
  /**
   * `subject`: a user has the same runs in every client. `client+subject`: each client of a user has runs of its own.
   * Default: `subject`.
   */
  readonly owner?: 'subject' | 'client+subject';
  /** The claim of `auth.extra` that names the user. Default: `sub`. */
  readonly subjectClaim?: string;
}

/** A caller as the transport knows it. `AuthInfo` of `@modelcontextprotocol/sdk` fits `auth`. */
export interface Caller {
  /** Missing without authentication. */
  readonly auth?:
    | {
        readonly clientId: string;
        readonly subject?: unknown;
        readonly extra?: Readonly<Record<string, unknown>> | undefined;
      }
    | undefined;
  /** The caller is the user who started this process: it speaks over stdio. */
  readonly local?: boolean;
}

/** An authenticated caller whose claims do not say who it is. Nothing is done for it. */
export class UnidentifiedCallerError extends Error {
  override readonly name = 'UnidentifiedCallerError';
}

/**
 * Says whose the runs are that a caller starts. This is the one rule: the server applies it to every request, and a
 * program that keeps sessions applies it to bind each of them to its caller.
 *
 * An authenticated caller is the pair of issuer (`extra.iss`, where known) and subject; without a subject, of issuer and
 * client id. The subject is a text or a number, and `1` is not `'1'`.
 *
 * @throws UnidentifiedCallerError for a claim that is present and not of its type: callers that cannot be distinguished
 *   must not share runs.
 */
export function ownerOf({ auth, local }: Caller, rule: OwnerRule = {}): Owner {
  if (auth === undefined) return local === true ? { kind: 'local' } : { kind: 'anonymous' };
  const { owner = 'subject', subjectClaim } = rule;
  const claims = auth.extra ?? {};
  const issuer = textClaim('iss', ownProperty(claims, 'iss'));
  const subject = subjectOf(auth.subject, claims, subjectClaim);
  const head: Principal = { kind: 'principal', ...defined({ issuer }) };
  if (subject !== undefined && owner === 'subject') return { ...head, subject };
  const clientId = textClaim('clientId', auth.clientId);
  if (clientId === undefined) throw new UnidentifiedCallerError(claimMissing('clientId'));
  return { ...head, ...defined({ subject }), clientId };
}

/** An owner without what does not distinguish it from others. */
export function identityOf(owner: Owner): JsonObject {
  const { roles: _, person: __, ...identity } = { roles: undefined, person: undefined, ...owner };
  return { ...identity };
}

/** A text that is equal for the same owner only, whatever roles it has. */
export function ownerKey(owner: Owner): string {
  return canonicalJson(identityOf(owner));
}

/**
 * What callers that are not the owner know a run by: the id cannot be had from it. A run without authentication is
 * reached by its id.
 */
export function answerId(run: string): string {
  return sha256Hex(`answer ${run}`).slice(0, 32);
}

/** What an agent knows the item of a run by that it drives: what {@link answerId} returns, and the id of the child. */
export function childId(run: string, child: string): string {
  return `${answerId(run)}-${child}`;
}

/** Reads an id that {@link childId} has made; undefined for any other. */
export function childIn(id: string): { readonly alias: string; readonly child: string } | undefined {
  const [, alias, child] = /^([0-9a-f]{32})-([0-9a-f]{32})$/.exec(id) ?? [];
  return alias === undefined || child === undefined ? undefined : { alias, child };
}

/** The hex digits of an id: 128 bits. */
const ID_LENGTH = 32;

/** Random bits are drawn for many ids at once: a call of the system costs as much for one. */
let [ids, drawn] = ['', 0];

/** An id that no caller can guess: of a process, since a workflow on Temporal has no such source. */
export function randomId(): string {
  if (drawn === ids.length) {
    ids = Buffer.from(crypto.getRandomValues(new Uint8Array(ID_LENGTH * 128))).toString('hex');
    drawn = 0;
  }
  drawn += ID_LENGTH;
  return ids.slice(drawn - ID_LENGTH, drawn);
}

/** Whether the caller is the owner, in any of its clients. */
function isSameUser(caller: Owner, owner: Owner): boolean {
  if (accessKey(caller) === accessKey(owner)) return true;
  if (caller.kind !== 'principal' || owner.kind !== 'principal') return false;
  const { issuer, subject } = owner;
  return subject !== undefined && caller.subject === subject && caller.issuer === issuer;
}

export function rolesOf(caller: Owner): readonly string[] {
  return caller.kind === 'anonymous' ? [] : (caller.roles ?? []);
}

/**
 * A text that is equal for owners who reach each other's runs by their ids: without authentication the id is all there
 * is, with it the id is not enough.
 */
export function accessKey(owner: Owner): string {
  return owner.kind === 'principal' ? ownerKey(owner) : 'unauthenticated';
}

/**
 * The scopes that a caller lacks. The user of this process has all, an authenticated caller those of its token, and any
 * other none.
 */
export function lackingScopes(
  required: readonly string[] = [],
  { auth, local }: { readonly auth?: AuthInfo | undefined; readonly local?: boolean },
): string[] {
  if (required.length === 0 || (auth === undefined && local === true)) return [];
  return required.filter((scope) => auth?.scopes.includes(scope) !== true);
}

/** The refusal of a call whose caller lacks scopes. */
export function scopeFailure(missing: readonly string[]): Failure {
  return {
    code: 'E_SCOPE',
    message: `The caller lacks the ${missing.length === 1 ? 'scope' : 'scopes'} ${missing.map((scope) => `'${clip(scope)}'`).join(', ')}: call again with a token that has ${missing.length === 1 ? 'it' : 'them'}`,
    details: { missing },
  };
}

export function withRoles(owner: Owner, roles: readonly string[] = [], localRoles: readonly string[]): Owner {
  if (owner.kind === 'anonymous') return owner;
  const ownRoles = owner.kind === 'local' ? localRoles : roles;
  return ownRoles.length === 0 ? owner : { ...owner, roles: ownRoles };
}

function subjectOf(
  given: unknown,
  claims: Readonly<Record<string, unknown>>,
  claim: string | undefined,
): string | number | undefined {
  const standard = ownProperty(claims, 'sub');
  if (claim === undefined) return checkedSubject('sub', standard === undefined ? given : standard);
  const subject = checkedSubject(claim, ownProperty(claims, claim));
  // A token of a user: its client alone does not say which.
  if (subject === undefined && standard !== undefined) {
    throw new UnidentifiedCallerError(claimMissing(claim));
  }
  return subject;
}

function checkedSubject(claim: string, value: unknown): string | number | undefined {
  return typeof value === 'number' && isExact(value) ? value : textClaim(claim, value);
}

function textClaim(claim: string, value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'string' && value !== '') return value;
  throw new UnidentifiedCallerError(
    `The caller cannot be identified: \`${clip(claim)}\` is ${describeClaim(value)}, and must be ${claim === 'iss' || claim === 'clientId' ? 'a text' : 'a text or a number'}. Nothing was done.`,
  );
}

/** Beyond it two subjects may have become one number when the token was read. */
function isExact(value: number): boolean {
  return Number.isFinite(value) && Math.abs(value) <= Number.MAX_SAFE_INTEGER;
}

function describeClaim(value: unknown): string {
  if (value === '') return 'an empty text';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'number' && !isExact(value)) return 'a number that is not kept exactly';
  return `${typeof value === 'object' ? 'an' : 'a'} ${typeof value}`;
}

function claimMissing(claim: string): string {
  return `The caller cannot be identified: \`${clip(claim)}\` is missing. Nothing was done.`;
}

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
