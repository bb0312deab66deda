import type { SchemaCompiler } from '../../../formats/json-schema/schema-compiler.js';
import { canonicalJson } from '../../../graph/canonical.js';
import { isJsonObject, type Json } from '../../../graph/json.js';
import { clip, oneLine } from '../../../graph/printable-text.js';
import type { RunWarning } from '../../../graph/run-time-codes.js';
import { sha256Hex } from '../../../graph/sha256.js';
import { actionKind, requestOf } from '../../engine/actions.js';
import type { ActionKind, Failure } from '../../engine/contract.js';
import type { Action } from '../../engine/events.js';
import { thrownText } from '../../tools/exceptions.js';
import { schemaProblems } from '../../tools/schema-problems.js';
import { findProtoKey } from '../../tools/to-json.js';
import { ACTION_KINDS, type Answer, howToAnswer, type Submission } from './action.js';

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
