import type { Owner } from '../../../decorators/context.js';
import type { SchemaCompiler } from '../../../formats/json-schema/schema-compiler.js';
import { canonicalJson } from '../../../graph/canonical.js';
import { defined } from '../../../graph/defined.js';
import { isJsonObject, type Json, type JsonObject, ownProperty } from '../../../graph/json.js';
import type { Graph } from '../../../graph/model.js';
import { nodesWithTasks } from '../../../graph/nodes.js';
import { clip, oneLine } from '../../../graph/printable-text.js';
import type { RunWarning } from '../../../graph/run-time-codes.js';
import { sha256Hex } from '../../../graph/sha256.js';
import { parseNodeKey } from '../../../plan/instances.js';
import { actionKind, requestOf } from '../../engine/actions.js';
import type { ActionKind, ActionRequest, Failure, RunState } from '../../engine/contract.js';
import type { Action, StepAction } from '../../engine/events.js';
import { nodeOf } from '../../engine/identity.js';
import { maskedFailure } from '../../secrets/mask.js';
import type { RunMask } from '../../secrets/run-mask.js';
import { thrownText } from '../../tools/exceptions.js';
import { schemaProblems } from '../../tools/schema-problems.js';
import { findProtoKey } from '../../tools/to-json.js';
import type { Clock } from '../run/clock.js';
import type { Envelope, RunAnswer, SubmitAnswer } from '../run/envelope.js';
import { ownerKey } from '../run/owner.js';
import { ACTION_KINDS, type Answer, howToAnswer, refusal, type Submission } from './action.js';
import { type ActionHistory, unknownAction } from './action-history.js';
import type { Children } from './children.js';
import { type RunVariables, variablesFailure, workflowExtraKey } from './run-variables.js';

/** What a submission comes to as the run is now. */
export type Decision =
  /** Nothing is taken in. */
  | {
      readonly kind: 'response';
      readonly answer: SubmitAnswer | Promise<SubmitAnswer>;
      readonly response: Json;
      /** Its sender waits for the run, as that of the answer which it repeats. */
      readonly waits?: true;
      /** Variables that are set with it. */
      readonly variables?: JsonObject;
    }
  | {
      readonly kind: 'fits';
      readonly pending: ActionRequest;
      readonly answer: Parameters<typeof contentOf>[0];
      readonly warnings: readonly RunWarning[];
      /** What makes it equal to a repeated one. Default: the answer; see `contentOf`. */
      readonly content?: string;
      /** Of a call that the caller made: see `Submission`. */
      readonly requestKey?: string;
    }
  /** The server tries a step again. */
  | { readonly kind: 'retry'; readonly pending: ActionRequest }
  /** The response of an agent does not fit, which counts. */
  | {
      readonly kind: 'misfit';
      readonly pending: ActionRequest;
      readonly failure: Failure;
      readonly problems: readonly string[];
    };

/** What a run that is not over waits for. */
interface LiveActions {
  /** The open questions by their ids, the oldest first. */
  readonly asks: Pick<ReadonlyMap<string, ActionRequest>, 'get' | 'has' | 'size'> & {
    values(): Iterable<ActionRequest>;
  };
  /** Calls about which an operator decides. */
  readonly heldCalls: readonly { readonly node: string; readonly tool: string }[];
  readonly state: RunState;
  /** Whether a command still expects an answer. */
  isOpen(command: string): boolean;
}

/** A run, as its questions need it. */
export interface AnsweredRun {
  readonly id: string;
  /** Missing when the run is over. */
  readonly live: LiveActions | undefined;
  readonly actions: ActionHistory;
  readonly children: Children;
  /** Responses to senders of answers, by action. They end with the process. */
  readonly responses: Map<string, Promise<RunAnswer>>;
  readonly mask: RunMask;
  readonly schemas: SchemaCompiler;
  readonly clock: Clock;
  readonly isCancelled: boolean;
  /** The variables that programs have set; see `RunVariables`. Missing before the first one. */
  readonly variables: Pick<RunVariables, 'values' | 'version'> | undefined;
  /** Changes variables with the transition that follows. */
  setVariables(changes: JsonObject): void;
  /** The owner of the run. */
  readonly principal: Owner;
  /** Why it was cancelled, once it is over. */
  readonly error: Pick<Failure, 'message'> | undefined;
  readonly graph: Graph;
  /** The envelope as soon as all that it shows is safe. */
  readonly safeEnvelope: Promise<Envelope>;
  /** Calls back when the whole run is written. */
  whenSafe(look: () => void): void;
  /** Why a value cannot be what a call of a tool returned; nothing where it can. */
  resultFailure(tool: string, value: Json): Failure | undefined;
}

export function alreadySubmitted(action: string): Decision {
  const details = { action_id: action };
  return rejected({
    code: 'ALREADY_SUBMITTED',
    message: `Action '${clip(action)}' was answered before with another answer. The first answer counts.`,
    details,
  });
}

type Unchanged = Extract<Decision, { kind: 'response' }>;

export function unchanged(
  answer: SubmitAnswer | Promise<SubmitAnswer>,
  warnings: readonly RunWarning[] = [],
): Unchanged {
  const extra = warnings.map(({ code, message }) => ({ code, message }));
  return {
    kind: 'response',
    answer,
    response: { ok: true, ...(extra.length === 0 ? {} : { warnings: extra }) },
  };
}

/** Nothing changes. */
export function rejected(failure: Failure): Unchanged {
  return { kind: 'response', answer: { ok: false, failure }, response: refusal(failure) };
}

// What follows is for agents.

type ChildSubmission = Submission & { readonly child: string };

interface ChildQuestions {
  /** The open actions of a child, the oldest first. */
  openFor(caller: Owner, child: string): readonly ActionRequest[];
  /** What an answer to one of them comes to. */
  decideFor(pending: ActionRequest, submission: Submission): Decision;
}

/** What the result of an agent comes to. It reaches the actions of its child, and no others. */
export function decideOfChild(
  run: AnsweredRun,
  questions: ChildQuestions,
  submission: ChildSubmission,
  by: Owner,
): Decision {
  const { actions, live } = run;
  const { child, stepId } = submission;
  const open = questions.openFor(by, child);
  const record = recordOf(run, open, submission);
  const isRepeated =
    record?.answer !== undefined &&
    record.mode !== undefined &&
    contentsOf(record.mode, submission).includes(record.answer.content);
  if (isRepeated) return ACCEPTED;
  if (run.isCancelled)
    return rejected({
      code: 'WORKFLOW_CANCELLED',
      message: 'The workflow of this task was cancelled: it takes no further results. Stop working on it.',
    });
  if (record?.answer !== undefined) return alreadySubmitted(record.id);
  const isOver = live === undefined || run.children.get(child)?.outcome !== undefined;
  if (record === undefined && isOver)
    return unchanged({ ok: true, accepted: true, warnings: [NOT_USED] }, [NOT_USED]);
  if (record === undefined && isAcknowledgement(run, submission)) return ACCEPTED;
  if (record === undefined && stepId !== undefined) return wrongStep(stepId, open, actions);
  if (record === undefined && submission.actionId !== undefined)
    return rejected(
      unknownAction(
        submission.actionId,
        open.map(({ id }) => id),
      ),
    );
  const asks = new Map(open.map((ask) => [ask.id, ask]));
  const isOpen = (id: string): boolean => live?.isOpen(id) === true;
  const chosen = actions.choose(record?.id, { asks, isOpen }, run.clock.now());
  if (chosen.kind === 'passed') return ACCEPTED;
  return chosen.kind === 'pending'
    ? questions.decideFor(chosen.pending, submission)
    : rejected(chosen.failure);
}

/** The action that a result is for: by its id, by its step, or the only one. */
function recordOf(
  { actions }: AnsweredRun,
  open: readonly ActionRequest[],
  { child, actionId, stepId }: ChildSubmission,
) {
  if (stepId !== undefined) {
    const record = actions.ofStep(child, stepId);
    return actionId === undefined || actionId === record?.id ? record : undefined;
  }
  const record = actionId === undefined ? undefined : actions.get(actionId);
  if (actionId !== undefined) return record?.child === child ? record : undefined;
  const [only, ...others] = open;
  return only === undefined || others.length > 0 ? undefined : actions.get(only.id);
}

/** Whether it acknowledges a step that the server has executed itself. */
function isAcknowledgement({ graph }: AnsweredRun, { stepId, result = true }: ChildSubmission): boolean {
  const isPlain = result === true || (isJsonObject(result) && ownProperty(result, 'acknowledged') === true);
  const id = stepId === undefined ? undefined : parseNodeKey(stepId).at(-1)?.id;
  return (
    isPlain &&
    nodesWithTasks(graph).some((node) => node.id === id && (node.kind === 'set' || node.kind === 'return'))
  );
}

function wrongStep(step: string, open: readonly ActionRequest[], actions: AnsweredRun['actions']): Decision {
  const steps = open.flatMap(({ id }) => actions.get(id)?.step ?? []);
  const pending = steps.length === 0 ? 'No step is pending' : `Pending: ${steps.map(quoted).join(', ')}`;
  return rejected({
    code: 'WRONG_STEP',
    message: `Step ${quoted(step)} of this task is not pending. ${pending}. Call get_next_step for it. No result was consumed.`,
    details: { pending_steps: steps },
  });
}

function quoted(text: string): string {
  return `'${clip(text)}'`;
}

const ACCEPTED = unchanged({ ok: true, accepted: true });

const NOT_USED = {
  code: 'W_NOT_USED',
  message: 'The task was over when this result arrived: it was not used.',
} as const;

// What clients do about steps of a task that wait to be made: they make the call themselves, or have it tried again.

/** A call that a client made itself. */
type MadeCall = Submission & { readonly tool: string };

type OpenStep = ActionRequest & { readonly action: StepAction };

/**
 * What a call comes to that a client made itself: the result of the open step that it names, or of the only one with its
 * tool. A repeated request is not recorded again, and a call that fits no step is kept as a variable.
 */
export function decideMadeCall(run: AnsweredRun, call: MadeCall, by: Owner): Decision {
  const live = run.live?.state.run.status === 'running' && !run.isCancelled ? run.live : undefined;
  const open = openSteps(live?.asks.values() ?? []);
  const fitting = open.filter(
    ({ node, action }) => action.tool === call.tool && (call.stepId === undefined || call.stepId === node),
  );
  const content = contentOfCall(call);
  // Calls may be equal: where a step waits for one, only its request says whether it is repeated.
  if (isSentAgain(run, call) || (fitting.length === 0 && isEqual(run, call, content, by))) {
    const answer = run.safeEnvelope.then((envelope) => ({ ok: true, envelope }) as const);
    return { ...unchanged(answer), waits: true };
  }
  if (live === undefined) {
    const warnings = [CALL_NOT_USED];
    const answer = run.safeEnvelope.then((envelope) => ({ ok: true, envelope, warnings }) as const);
    return unchanged(answer, warnings);
  }
  const [pending, ...others] = fitting;
  if (pending === undefined || others.length > 0) return keptAside(run, call, open);
  const value = call.result ?? null;
  const failure = run.resultFailure(call.tool, value);
  if (failure !== undefined) return rejected(maskedFailure(failure, run.mask));
  const { requestKey } = call;
  const answer = { kind: 'value', value } as const;
  return { kind: 'fits', pending, answer, warnings: [], content, ...defined({ requestKey }) };
}

/** What a request comes to that has the server try a step again. */
export function decideRetry(run: AnsweredRun, { stepId = '' }: Submission): Decision {
  const open = openSteps(run.live?.asks.values() ?? []);
  const pending = open.find(({ node }) => node === stepId);
  if (pending !== undefined) return { kind: 'retry', pending };
  const steps = open.map(({ node }) => node);
  return rejected({
    code: 'WRONG_STEP',
    message: `Step '${clip(stepId)}' does not wait to be made. ${waitingText(steps)} Nothing was done.`,
    details: { pending_steps: steps },
  });
}

function openSteps(asks: Iterable<ActionRequest>): OpenStep[] {
  return [...asks].filter((ask): ask is OpenStep => ask.action.type === 'step');
}

/** Equal for calls that are the same: what the client sent, and what the tool returned. */
function contentOfCall({ tool, args = {}, result = null }: MadeCall): string {
  return sha256Hex(canonicalJson({ tool, args, result }));
}

/** Whether the request of a call was recorded before. The result of its tool may differ. */
function isSentAgain({ actions }: AnsweredRun, { requestKey }: MadeCall): boolean {
  return requestKey !== undefined && actions.hasAnswer((answer) => answer.requestKey === requestKey);
}

/** Whether an equal call was recorded before: at its step, or as a call of this caller. */
function isEqual({ actions }: AnsweredRun, { stepId }: MadeCall, content: string, by: Owner): boolean {
  return actions.hasAnswer((answer, action) => {
    if (answer.content !== content) return false;
    return stepId === undefined ? answer.by === ownerKey(by) : nodeOf(action) === stepId;
  });
}

/** The result of a call that fits no step is a variable of the run. */
function keptAside(run: AnsweredRun, { tool, stepId, result = null }: MadeCall, open: readonly OpenStep[]) {
  const key = workflowExtraKey(tool);
  const variables: JsonObject = { [key]: result };
  const failure = variablesFailure(run.variables?.values ?? {}, variables);
  if (failure !== undefined) return rejected(failure);
  const steps = open.map(({ node }) => node);
  const what =
    stepId === undefined
      ? open.filter(({ action }) => action.tool === tool).length > 1
        ? `Several steps wait for a call of tool '${clip(tool)}': name one by \`_step\``
        : `No step waits for a call of tool '${clip(tool)}'`
      : `Step '${clip(stepId)}' does not wait for a call of tool '${clip(tool)}'`;
  const message = `${what}. ${waitingText(steps)} The result is kept as the variable '${clip(key)}'.`;
  const warnings: readonly RunWarning[] = [{ code: 'W_EXTRA_CALL', message }];
  const answer = run.safeEnvelope.then((envelope) => ({ ok: true, envelope, warnings }) as const);
  return { ...unchanged(answer, warnings), variables };
}

function waitingText(steps: readonly string[]): string {
  return steps.length === 0
    ? 'No step waits to be made.'
    : `Waiting to be made: ${steps.map((step) => `'${clip(step)}'`).join(', ')}.`;
}

const CALL_NOT_USED: RunWarning = {
  code: 'W_NOT_USED',
  message: 'The task was over when this call returned: its result was not used.',
};

const ACKNOWLEDGED: Answer = { kind: 'value', value: { acknowledged: true } };

const ONE_OF_TWO = 'send either `result` or `error`, one of them';

export const STILL_OPEN = 'The action is still open.';

/** @param how completes the sentence: what would fit. */
export function misfitText(problems: readonly string[], how: string): string {
  return `The answer does not fit: ${problems.map(clip).join('; ')}. ${how} ${STILL_OPEN}`;
}

type Reading =
  | { readonly ok: true; readonly answer: Answer; readonly warnings: readonly RunWarning[] }
  /** `E_RESULT_SHAPE`: what is wrong, and what would fit. */
  | { readonly ok: false; readonly failure: Failure; readonly problems: readonly string[] };

/**
 * Reads what a caller sent for an action. `result` may be the answer's object, or in short what it is about: nothing for
 * info, a boolean for confirm, a text for text and choice. Either member may come as the text of a JSON object, where an
 * object is wanted. Nothing else is coerced.
 */
export function readAnswer(
  action: Action,
  { result, error }: Pick<Submission, 'result' | 'error'>,
  schemas: SchemaCompiler,
): Reading {
  if (error !== undefined)
    return result === undefined ? readError(action, error) : refused(action, [ONE_OF_TWO]);
  if (result === undefined) {
    return actionKind(action) === 'info'
      ? { ok: true, answer: ACKNOWLEDGED, warnings: [] }
      : refused(action, [ONE_OF_TWO]);
  }
  return readResult(action, result, schemas);
}

/** Equal for answers that say the same; of one size however long they are. */
export function contentOf(answer: Answer): string {
  if (answer.kind === 'value') return sha256Hex(canonicalJson(answer.value));
  const { code, message } = answer.failure;
  return sha256Hex(canonicalJson({ error: { code, message } }));
}

/** The contents of all answers that a submission may mean, for a pending action of this kind; see {@link contentOf}. */
export function contentsOf(
  kind: ActionKind,
  { result, error }: Pick<Submission, 'result' | 'error'>,
): readonly string[] {
  if (error !== undefined) {
    const failure = result === undefined ? failureIn(error)?.failure : undefined;
    return failure === undefined ? [] : [contentOf({ kind: 'failure', failure })];
  }
  return meaningsOf(kind, result ?? null).map(({ answer }) => contentOf(answer));
}

/** An answer that a result may mean. */
interface Meaning {
  readonly answer: Answer;
  /** The result came as text that holds it. */
  readonly isText?: true;
}

/** All answers that a result may mean, the likeliest first: as it is, as the object that a text holds, and in short. */
function meaningsOf(kind: ActionKind, result: Json): readonly [Meaning, ...Meaning[]] {
  const [asIs, ...others] = ACTION_KINDS[kind].meanings(result).map((answer): Meaning => ({ answer }));
  const parsed = typeof result === 'string' ? objectIn(result) : undefined;
  const inText: readonly Meaning[] =
    parsed === undefined ? [] : [{ answer: { kind: 'value', value: parsed }, isText: true }];
  return [asIs ?? { answer: { kind: 'value', value: result } }, ...inText, ...others];
}

function readResult(action: Action, result: Json, schemas: SchemaCompiler): Reading {
  let problems: readonly string[] = [];
  try {
    for (const { answer, isText } of meaningsOf(actionKind(action), result)) {
      if (answer.kind === 'value') problems = problemsOf(action, answer.value, schemas);
      if (answer.kind === 'failure' || problems.length === 0)
        return { ok: true, answer, warnings: isText ? [stringified('result')] : [] };
    }
  } catch (fault) {
    problems = [`what the step expects cannot be checked: ${clip(thrownText(fault))}`];
  }
  return refused(action, problems);
}

function problemsOf({ schema }: Action, candidate: Json, schemas: SchemaCompiler): string[] {
  if (findProtoKey(candidate) !== undefined) return ['the key `__proto__` is not allowed'];
  return schemaProblems(schemas.check(schema, candidate), schema).map(({ message }) => message);
}

const CODE = /^[A-Z][A-Z0-9_]{0,63}$/;

function readError(action: Action, error: Json): Reading {
  const reading = failureIn(error);
  if (reading === undefined)
    return refused(action, ['`error` must be an object { code?, message } with a message in text']);
  const warnings = reading.isText ? [stringified('error')] : [];
  return { ok: true, answer: { kind: 'failure', failure: reading.failure }, warnings };
}

/** The failure that an error describes; nothing for a malformed one. */
function failureIn(error: Json): { readonly failure: Failure; readonly isText: boolean } | undefined {
  const parsed = typeof error === 'string' ? objectIn(error) : undefined;
  const source = parsed ?? error;
  if (!isJsonObject(source)) return undefined;
  const { code = 'E_ACTION_FAILED', message, ...more } = source;
  const isText = typeof message === 'string' && message.trim() !== '';
  if (!isText || typeof code !== 'string' || Object.keys(more).length > 0) return undefined;
  const failure = { code: CODE.test(code) ? code : 'E_ACTION_FAILED', message: oneLine(message) };
  return { failure, isText: parsed !== undefined };
}

function objectIn(text: string): Json | undefined {
  if (!text.trimStart().startsWith('{')) return undefined;
  try {
    const parsed = JSON.parse(text) as Json;
    return isJsonObject(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

function stringified(member: 'result' | 'error'): RunWarning {
  return {
    code: 'W_STRINGIFIED',
    message: `\`${member}\` came as text that holds JSON, and was read as such: send the JSON itself.`,
  };
}

function refused(action: Action, problems: readonly string[]): Reading {
  const message = misfitText(problems.slice(0, 10), howToAnswer(requestOf(action), action.schema));
  const details = { problems, schema: action.schema };
  return { ok: false, failure: { code: 'E_RESULT_SHAPE', message, details }, problems };
}
