import type { Owner } from '../../decorators/context.js';
import { isForOthers, needsPage } from '../../graph/answerers.js';
import { defined } from '../../graph/defined.js';
import { isJsonObject, type Json, type JsonObject } from '../../graph/json.js';
import { bodyText } from '../../graph/printable-text.js';
import { textOf } from '../engine/actions.js';
import { agentItemOf } from '../engine/agent-loops.js';
import { commandsOf } from '../engine/read.js';
import { formOf, hasPage } from '../runs/actions/elicitation.js';
import type { IdentifiedRequest, RequestContext } from '../runs/request.js';
import type { Envelope } from '../runs/run/envelope.js';
import type { InspectedRun, RunStore, Waiter } from '../runs/run-store.js';
import { type PromptMessage, withoutClosing } from '../trace/messages.js';
import type { WorkflowTools } from './composite/workflow-tools.js';
import { Seal } from './seal.js';
import {
  type AskingClient,
  invalidResponses,
  invalidState,
  putBy,
  type ToolResult,
  type UserQuestion,
} from './wire.js';

/** What the user did with the page of a question: it was not opened yet, it was, or the user did not want to. */
type PageState = 'asked' | 'opened' | 'refused';

/** A call of a tool or a prompt with a run that waits, and how often its user was asked before. */
export interface WaitingCall {
  /** The digest of the request: another one cannot use its state. */
  readonly subject: string;
  readonly run: string;
  readonly rounds: number;
  /** Of the questions that were put on their pages, by their ids. */
  readonly pages?: Readonly<Record<string, PageState>>;
  /** The conversation of a prompt. */
  readonly said?: readonly PromptMessage[];
}

/** A run that was shown up to its questions. */
type ResumedRun = NonNullable<RequestContext['resumes']>;

/** What is asked of a user before a call can go on, and the state that the next request for it has. */
export interface QuestionRound {
  readonly questions: readonly UserQuestion[];
  readonly state: string;
}

/** Questions of runs that are put to the user between two requests: no connection waits for an answer. */
export interface QuestionRounds {
  /**
   * What to ask. Without a question, the client returns with the state alone, while its user is on a page. Undefined where
   * the call waits for no question that the client can put, and after its last round.
   */
  next(call: WaitingCall, client: AskingClient, context: RequestContext): Promise<QuestionRound | undefined>;
  /**
   * Reads a state, and the answers of its round as submissions to the run.
   *
   * @throws ProtocolFault as {@link answer} does, before an answer is taken.
   */
  open(
    state: string,
    subject: string,
    answers: Readonly<Record<string, unknown>>,
    context: RequestContext,
  ): Promise<WaitingCall & ResumedRun>;
  /**
   * Takes the answers of a round, and waits for the run as the call did.
   *
   * @param answers what clients return for forms, by the ids of questions. A question without one is asked again.
   * @returns what the call gives now.
   * @throws ProtocolFault -32602 for a state that is forged, expired, of another caller or subject, or was used for other
   *   answers before, and for an answer that is not what clients return for a form or a page.
   */
  answer(
    state: string,
    request: { readonly tool: string; readonly subject: string },
    answers: Readonly<Record<string, unknown>>,
    context: RequestContext,
  ): Promise<{ readonly result: ToolResult; readonly call: WaitingCall }>;
}

/** The longest conversation in a state, in UTF-16 code units of its JSON. */
const SAID_LIMIT = 262_144;

/** How long a state can be used, in ms: a day. */
const STATE_MS = 86_400_000;

interface RoundsParts {
  readonly runs: RunStore;
  readonly sealing: Pick<RunStore, 'key'>;
  readonly answerMs: number;
  /** After so many rounds the answer of a call is what it waits for, to be answered with `submit_result`. */
  readonly maxRounds: number;
  readonly identified: (context: RequestContext) => IdentifiedRequest;
  readonly pageOf: NonNullable<Waiter['pageOf']>;
  readonly workflowTools: Pick<WorkflowTools, 'taskResult'>;
}

/** The payload of a state. */
interface Sealed extends WaitingCall {
  /** The questions in forms, by their ids; true for one that is answered by accepting it. */
  readonly asked: Readonly<Record<string, boolean>>;
}

/** The rounds of a server's runs. They are in the states alone, which any server with the same store can read. */
export class StoredQuestionRounds implements QuestionRounds {
  readonly #parts: RoundsParts;

  readonly #seal: Seal;

  constructor(parts: RoundsParts) {
    this.#parts = parts;
    this.#seal = new Seal(parts.sealing, 'request state');
  }

  async next(
    ...[call, client, context]: Parameters<QuestionRounds['next']>
  ): Promise<QuestionRound | undefined> {
    const said = call.said && withoutClosing(call.said);
    const { runs, identified, pageOf, maxRounds } = this.#parts;
    if (call.rounds >= maxRounds || JSON.stringify(said ?? []).length > SAID_LIMIT) return undefined;
    const { pages = {} } = call;
    const open = await openQuestions(runs, identified(context).principal, call.run, pageOf);
    const isOnPage = ({ id }: UserQuestion): boolean => (pages[id] ?? 'asked') !== 'asked';
    const questions = putBy(client, open.filter((question) => !isOnPage(question)).map(withoutEmpty));
    const awaited = open.filter(({ id }) => pages[id] === 'opened');
    if (questions.length + awaited.length === 0) return undefined;
    const inForms = questions.filter(({ schema }) => schema !== undefined).map(({ id }) => id);
    const onPages = questions.filter(({ url }) => url !== undefined).map(({ id }) => [id, 'asked'] as const);
    const sealed = {
      ...call,
      ...defined({ said }),
      rounds: call.rounds + 1,
      pages: { ...pages, ...Object.fromEntries(onPages) },
      asked: Object.fromEntries(
        open.filter(({ id }) => inForms.includes(id)).map(({ id, isEmpty }) => [id, isEmpty]),
      ),
    };
    return {
      questions,
      state: await this.#seal.seal(sealed as unknown as JsonObject, Date.now() + STATE_MS),
    };
  }

  async open(
    ...[state, subject, answers, context]: Parameters<QuestionRounds['open']>
  ): ReturnType<QuestionRounds['open']> {
    const { runs, identified } = this.#parts;
    const sealed = await this.#unseal(state);
    if (sealed?.subject !== subject) throw invalidState();
    const { run, rounds, asked, pages = {}, said = [] } = sealed;
    if (!(await runs.get(identified(context).principal, run)).ok) throw invalidState();
    const submissions = Object.entries(asked).flatMap(([id, isEmpty]) =>
      Object.hasOwn(answers, id) ? [{ actionId: id, ...submissionOf(id, answers[id], isEmpty) }] : [],
    );
    const reacted = Object.entries(pages).map(([id, state]) => {
      const isNew = state === 'asked' && Object.hasOwn(answers, id);
      return [id, isNew ? reactionOf(id, answers[id]) : state] as const;
    });
    const awaits = reacted.flatMap(([id, state]) => (state === 'opened' ? [id] : []));
    return { subject, run, rounds, pages: Object.fromEntries(reacted), awaits, submissions, said };
  }

  async answer(
    ...[state, { tool, subject }, answers, context]: Parameters<QuestionRounds['answer']>
  ): ReturnType<QuestionRounds['answer']> {
    const { submissions, said: _, awaits, ...call } = await this.open(state, subject, answers, context);
    const { runs, answerMs, identified, workflowTools } = this.#parts;
    const waiter = { request: identified(context), answerMs, ...defined({ awaits }) };
    const envelope = await submitAll(runs, { run: call.run, submissions }, waiter);
    return { result: await workflowTools.taskResult(tool, envelope), call };
  }

  async #unseal(state: string): Promise<Sealed | undefined> {
    const unsealed = await this.#seal.open(state);
    return unsealed === undefined || unsealed.isExpired ? undefined : (unsealed.value as unknown as Sealed);
  }
}

/**
 * Takes the answers to questions of a run, and waits for it with the last one, or without an answer.
 *
 * @throws ProtocolFault -32602 where a question was answered in another way before.
 */
export async function submitAll(
  runs: RunStore,
  { run, submissions }: Pick<ResumedRun, 'run' | 'submissions'>,
  waiter: Waiter,
): Promise<Envelope> {
  const { principal } = waiter.request;
  const now = await runs.get(principal, run, submissions.length === 0 ? { waiter } : {});
  if (!now.ok) throw invalidState();
  let { envelope } = now;
  const { conclude: _, ...early } = waiter;
  for (const [index, submission] of submissions.entries()) {
    const isLast = index === submissions.length - 1;
    const moved = await runs.submit(principal, run, submission, isLast ? waiter : { ...early, answerMs: 0 });
    if (moved.ok && 'envelope' in moved) envelope = moved.envelope;
    else if (!moved.ok && moved.failure.code === 'ALREADY_SUBMITTED') throw invalidState();
  }
  return envelope;
}

/** A question, and whether it is answered by accepting its form. */
type OpenQuestion = UserQuestion & { readonly isEmpty: boolean };

function withoutEmpty({ isEmpty: _, ...question }: OpenQuestion): UserQuestion {
  return question;
}

/** The open questions of a run that its owner can answer in a form, or as a person on a page. */
export async function openQuestions(
  runs: RunStore,
  owner: Owner,
  run: string,
  pageOf: NonNullable<Waiter['pageOf']>,
): Promise<readonly OpenQuestion[]> {
  const open = (await runs.inspect(owner, run, questionsIn)) ?? [];
  return Promise.all(
    open.map(async (question) => {
      const url = await pageOf({ run, action: question.id, owner });
      return { ...question, ...defined({ url }) };
    }),
  );
}

function questionsIn({ state, mask }: InspectedRun): readonly OpenQuestion[] {
  if (state === undefined || state.run.status !== 'running') return [];
  return commandsOf(state).flatMap((command) => {
    if (command.kind !== 'requestAction' || agentItemOf(state, command.node) !== undefined) return [];
    const { id, node, action } = command;
    const { answerBy } = action;
    const shown = mask.action(node, action);
    // Neither a form nor a page that would show a secret can be filled in without it.
    if (!hasPage(action) || shown.schema !== action.schema) return [];
    if (isForOthers(answerBy) && !needsPage(answerBy)) return [];
    const schema = isForOthers(answerBy) ? undefined : formOf(action)?.schema;
    const isEmpty = action.type === 'ask' && action.mode === 'info';
    return [{ id, message: bodyText(textOf(shown)), ...defined({ schema }), isEmpty }];
  });
}

/** What a client returns for a page. */
function reactionOf(id: string, response: unknown): PageState {
  return responseOf(id, response).action === 'accept' ? 'opened' : 'refused';
}

/**
 * What a client returns for a form, as a submission.
 *
 * @throws ProtocolFault -32602 for what is not a response to an elicitation.
 */
export function submissionOf(
  id: string,
  response: unknown,
  isEmpty: boolean,
): { result: Json } | { error: Json } {
  const { action, content } = responseOf(id, response);
  if (action === 'accept') return { result: isEmpty ? { acknowledged: true } : (content ?? {}) };
  return action === 'decline'
    ? { error: { code: 'E_ASK_DECLINED', message: 'The user declined to answer.' } }
    : { error: { code: 'E_ASK_CANCELLED', message: 'The user closed the question without an answer.' } };
}

const ACTIONS: readonly unknown[] = ['accept', 'decline', 'cancel'];

/** A response to an elicitation, of any JSON. */
function responseOf(id: string, response: unknown): JsonObject {
  if (!isJsonObject(response) || !ACTIONS.includes(response.action)) throw invalidResponses([id]);
  if (response.content != null && !isJsonObject(response.content)) throw invalidResponses([id]);
  return response;
}
