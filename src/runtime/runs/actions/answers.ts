import type { Owner } from '../../../decorators/context.js';
import type { SchemaCompiler } from '../../../formats/json-schema/schema-compiler.js';
import { describeAnswerers } from '../../../graph/answerers.js';
import { canonicalJson, sha256Hex } from '../../../graph/canonical.js';
import { defined } from '../../../graph/defined.js';
import { isJsonObject, type Json, unreachable } from '../../../graph/json.js';
import type { Graph } from '../../../graph/model.js';
import { clip, oneLine } from '../../../graph/printable-text.js';
import type { AskMode, Failure } from '../../engine/contract.js';
import type { Action } from '../../engine/events.js';
import { maskedFailure } from '../../secrets/mask.js';
import type { RunMask } from '../../secrets/run-mask.js';
import { schemaProblems } from '../../tools/check-input.js';
import { thrownText } from '../../tools/exceptions.js';
import { findProtoKey } from '../../tools/to-json.js';
import type { Clock } from '../run/clock.js';
import type { Envelope, RunAnswer, RunWarning } from '../run/envelope.js';
import { ownerKey } from '../run/owner.js';
import {
  ACTION_KINDS,
  howToAnswer,
  type LiveActions,
  type PendingAction,
  refusal,
  type Submission,
} from './action.js';
import { type ActionHistory, type ActionRecord, actionClosed, listed, type Open } from './action-history.js';
import { mayAnswer } from './answerers.js';

const ONE_OF_TWO = 'send either `result` or `error`, one of them';
const NOT_TAKEN = 'it is not what the step expects';

/** @param how completes the sentence: what would fit. */
export function misfitText(problems: readonly string[], how: string): string {
  return `The answer does not fit: ${problems.map(clip).join('; ')}. ${how} The action is still open.`;
}

/** An answer as the engine takes it. */
type Answer =
  | { readonly kind: 'value'; readonly value: Json }
  | { readonly kind: 'failure'; readonly failure: Failure };

type ReadAnswer =
  | { readonly ok: true; readonly answer: Answer; readonly warnings: readonly RunWarning[] }
  /** `E_RESULT_SHAPE`: what is wrong, and what would fit. */
  | { readonly ok: false; readonly failure: Failure };

/**
 * Reads what a caller sent for an action. `result` may be the answer's object, or in short what it is about: nothing for
 * info, a boolean for confirm, a text for text and choice. Either member may come as the text of a JSON object, where an
 * object is wanted. Nothing else is coerced.
 */
export function readAnswer(
  action: Action,
  { result, error }: Pick<Submission, 'result' | 'error'>,
  schemas: SchemaCompiler,
): ReadAnswer {
  if (error !== undefined)
    return result === undefined ? readError(action, error) : refused(action, [ONE_OF_TWO]);
  if (result === undefined) {
    return action.mode === 'info' ? value({ acknowledged: true }) : refused(action, [ONE_OF_TWO]);
  }
  return readResult(action, result, schemas);
}

/** Equal for answers that say the same; of one size however long they are. */
export function contentOf(answer: Answer): string {
  if (answer.kind === 'value') return sha256Hex(canonicalJson(answer.value));
  const { code, message } = answer.failure;
  return sha256Hex(canonicalJson({ error: { code, message } }));
}

/** The contents of all answers that a submission may mean, for a pending action of this mode; see {@link contentOf}. */
function contentsOf(
  mode: AskMode,
  { result, error }: Pick<Submission, 'result' | 'error'>,
): readonly string[] {
  if (error !== undefined) {
    const failure = result === undefined ? failureIn(error)?.failure : undefined;
    return failure === undefined ? [] : [contentOf({ kind: 'failure', failure })];
  }
  const parsed = typeof result === 'string' ? objectIn(result) : undefined;
  const full = ACTION_KINDS[mode].inFull(result ?? null);
  const candidates = result === undefined ? [full] : [result, parsed, full];
  return candidates.flatMap((each) =>
    each === undefined ? [] : [contentOf({ kind: 'value', value: each })],
  );
}

function readResult(action: Action, result: Json, schemas: SchemaCompiler): ReadAnswer {
  let problems: readonly string[];
  try {
    const fits = (candidate: Json): boolean => problemsOf(action, candidate, schemas).length === 0;
    problems = problemsOf(action, result, schemas);
    if (problems.length === 0) return value(result);
    const parsed = typeof result === 'string' ? objectIn(result) : undefined;
    if (parsed !== undefined && fits(parsed)) return value(parsed, [stringified('result')]);
    const full = ACTION_KINDS[action.mode].inFull(result);
    if (full !== undefined) {
      if (fits(full)) return value(full);
      problems = problemsOf(action, full, schemas);
    } else if (parsed !== undefined) {
      problems = problemsOf(action, parsed, schemas);
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

function readError(action: Action, error: Json): ReadAnswer {
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

function value(answer: Json, warnings: readonly RunWarning[] = []): ReadAnswer {
  return { ok: true, answer: { kind: 'value', value: answer }, warnings };
}

function stringified(member: 'result' | 'error'): RunWarning {
  return {
    code: 'W_STRINGIFIED',
    message: `\`${member}\` came as text that holds JSON, and was read as such: send the JSON itself.`,
  };
}

function refused(action: Action, problems: readonly string[]): ReadAnswer {
  const message = misfitText(problems.slice(0, 10), howToAnswer(action));
  const details = { problems, schema: action.schema };
  return { ok: false, failure: { code: 'E_RESULT_SHAPE', message, details } };
}

/** What a submission comes to as the run is now. */
export type Decision =
  /** Nothing is taken in. */
  | {
      readonly kind: 'told';
      readonly answer: RunAnswer | Promise<RunAnswer>;
      readonly response: Json;
      /** Its sender waits for the run, as that of the answer which it repeats. */
      readonly waits?: true;
    }
  | {
      readonly kind: 'fits';
      readonly pending: PendingAction;
      readonly answer: Answer;
      readonly warnings: readonly RunWarning[];
    };

/** What deciding about an answer needs of its run. */
export interface AnsweredRun {
  readonly id: string;
  /** Missing when the run is over. */
  readonly live: LiveActions | undefined;
  readonly actions: ActionHistory;
  readonly mask: RunMask;
  readonly schemas: SchemaCompiler;
  readonly clock: Clock;
  readonly isCancelled: boolean;
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

/** Says what an answer of the owner comes to as the run is now. Nothing is consumed. */
export function decideAnswer(run: AnsweredRun, submission: Submission, by: Owner): Decision {
  const { actionId } = submission;
  const { live, actions } = run;
  const open = openFor(run, by);
  const named = actionId === undefined ? undefined : actions.get(actionId);
  if (named?.mode !== undefined && !mayAnswer(named.answerBy, by, run.principal)) return notPermitted(named);
  const repeated = decideRepeated(run, open, submission, by);
  if (repeated !== undefined) return repeated;
  if (run.isCancelled) {
    const why = run.error?.message ?? '';
    const message = `Run '${clip(run.id)}' was cancelled: it takes no further answers.${why === '' ? '' : ` ${clip(why)}`}`;
    return rejected({ code: 'WORKFLOW_CANCELLED', message });
  }
  if (live === undefined || live.state.run.status !== 'running') {
    const warnings = [
      {
        code: 'W_NOT_USED',
        message: `The run had ended when this answer${actionId === undefined ? '' : ` to '${clip(actionId)}'`} arrived: it was not used.`,
      } as const,
    ];
    return unchanged(
      run.safeEnvelope.then((envelope) => ({ ok: true, envelope, warnings })),
      warnings,
    );
  }
  if (actionId !== undefined && actions.get(actionId)?.answer !== undefined)
    return alreadySubmitted(actionId);
  const [foreign] = live.asks.values();
  if (actionId === undefined && foreign !== undefined && open.asks.size === 0)
    return notPermitted({ id: foreign.id, ...foreign.action });
  const chosen = actions.choose(actionId, open, run.clock.now());
  switch (chosen.kind) {
    case 'refused':
      return rejected(chosen.failure);
    case 'passed':
      // The timer has fired: answering it again changes nothing.
      return unchanged(run.safeEnvelope.then((envelope) => ({ ok: true, envelope })));
    case 'pending':
      return decideFor(run, chosen.pending, submission);
    default:
      return unreachable(chosen);
  }
}

/** Whether a question that a submission may be for names a caller that is not the owner of the run. */
export function isNamed(run: AnsweredRun, { actionId }: Submission, by: Owner): boolean {
  if (actionId !== undefined) {
    const action = run.actions.get(actionId);
    return action?.answerBy !== undefined && mayAnswer(action.answerBy, by, run.principal);
  }
  return openFor(run, by).asks.size > 0 || run.actions.lastOf(ownerKey(by)) !== undefined;
}

/** Says what an answer of such a caller comes to: it learns of the questions that name it, and of nothing else. */
export function decideNamed(run: AnsweredRun, submission: Submission, by: Owner): Decision {
  const { actions } = run;
  const open = openFor(run, by);
  const repeated = decideRepeated(run, open, submission, by);
  if (repeated !== undefined) return repeated;
  const last = open.asks.size === 0 ? actions.lastOf(ownerKey(by))?.id : undefined;
  const actionId = submission.actionId ?? last;
  if (actionId !== undefined && actions.get(actionId)?.answer !== undefined)
    return alreadySubmitted(actionId);
  const chosen = actions.choose(actionId, open, run.clock.now());
  if (chosen.kind === 'pending') return decideFor(run, chosen.pending, submission);
  const closed = { code: 'ACTION_CANCELLED', message: actionClosed(actionId ?? '', []) };
  return rejected(chosen.kind === 'refused' ? chosen.failure : closed);
}

/** The open questions that a caller may answer. */
function openFor({ live, principal }: AnsweredRun, by: Owner): Open {
  const asks = [...(live?.asks.values() ?? [])].filter(({ action }) =>
    mayAnswer(action.answerBy, by, principal),
  );
  return {
    asks: new Map(asks.map((ask) => [ask.id, ask])),
    isOpen: (id) => live?.isOpen(id) === true,
    isPaused: (live?.heldCalls.length ?? 0) > 0,
  };
}

function notPermitted({ id, answerBy = [] }: Pick<ActionRecord, 'id' | 'answerBy'>): Decision {
  const details = { action_id: id, answer_by: answerBy.map((each) => ({ ...each })) };
  const message = `Action '${clip(id)}' is not yours to answer: only ${describeAnswerers(answerBy)} may. Nothing was consumed, and the action is still open or was answered.`;
  return rejected({ code: 'NOT_PERMITTED', message, details });
}

function alreadySubmitted(action: string): Decision {
  const details = { action_id: action };
  return rejected({
    code: 'ALREADY_SUBMITTED',
    message: `Action '${clip(action)}' was answered before with another answer. The first answer counts.`,
    details,
  });
}

/** The same for an answer to this question. */
export function decideFor(
  run: Pick<AnsweredRun, 'mask' | 'schemas'>,
  pending: PendingAction,
  submission: Pick<Submission, 'result' | 'error'>,
): Decision {
  const reading = readAnswer(pending.action, submission, run.schemas);
  if (!reading.ok) return rejected(unfit(run, pending, reading.failure));
  return { kind: 'fits', pending, answer: reading.answer, warnings: reading.warnings };
}

/**
 * What a repeated answer comes to; nothing for any other. Without an action id it may as well be meant for an action
 * that is open now: which one is not guessed.
 */
function decideRepeated(
  run: AnsweredRun,
  { asks }: Open,
  submission: Submission,
  by: Owner,
): Decision | undefined {
  const { actionId } = submission;
  const { actions } = run;
  const before = actionId === undefined ? actions.lastOf(ownerKey(by)) : actions.get(actionId);
  if (before?.answer === undefined || before.mode === undefined) return undefined;
  if (!contentsOf(before.mode, submission).includes(before.answer.content)) return undefined;
  const { warnings } = before.answer;
  const extra = defined({ warnings });
  // A process that did not take the answer in does not know how the run was then.
  const firstResponse = actions.responseTo(before.id);
  const response =
    firstResponse ?? run.safeEnvelope.then((envelope): RunAnswer => ({ ok: true, envelope, ...extra }));
  const repeated: Decision = {
    ...unchanged(response, warnings),
    ...(firstResponse === undefined ? { waits: true } : {}),
  };
  if (actionId !== undefined) return repeated;
  if (run.isCancelled) return undefined;
  const open = [...asks.keys()];
  return open.length === 0
    ? repeated
    : rejected({
        code: 'AMBIGUOUS_ACTION',
        message: `The same answer was accepted before, and may be meant for an action that is open now: say which one by action_id. Open are ${listed(open)}.`,
        details: { open_actions: open },
      });
}

/** What a question asks, without secrets. */
export function shownAction({ node, action }: PendingAction, mask: RunMask): Action {
  return mask.action(node, action);
}

/** Why an answer was not taken although it fits the schema. */
export function notTaken(pending: PendingAction, mask: RunMask): Failure {
  const { schema, ...shown } = shownAction(pending, mask);
  return {
    code: 'E_RESULT_SHAPE',
    message: misfitText([NOT_TAKEN], howToAnswer(shown)),
    details: { problems: [NOT_TAKEN], schema },
  };
}

/** Why an answer does not fit, without secrets: what would fit may be one. */
function unfit({ mask }: Pick<AnsweredRun, 'mask'>, pending: PendingAction, failure: Failure): Failure {
  const shown = shownAction(pending, mask);
  if (shown.schema === pending.action.schema) return maskedFailure(failure, mask);
  const message = misfitText([], howToAnswer(shown));
  return { code: failure.code, message, details: { problems: [], schema: shown.schema } };
}

type Unchanged = Extract<Decision, { kind: 'told' }>;

function unchanged(answer: RunAnswer | Promise<RunAnswer>, warnings: readonly RunWarning[] = []): Unchanged {
  const extra = warnings.map(({ code, message }) => ({ code, message }));
  return { kind: 'told', answer, response: { ok: true, ...(extra.length === 0 ? {} : { warnings: extra }) } };
}

/** Nothing changes. */
export function rejected(failure: Failure): Decision {
  return { kind: 'told', answer: { ok: false, failure }, response: refusal(failure) };
}
