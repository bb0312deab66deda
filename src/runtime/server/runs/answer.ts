import type { SchemaCompiler } from '../../../formats/json-schema/schema-compiler.js';
import { canonicalJson, sha256Hex } from '../../../graph/canonical.js';
import { isJsonObject, type Json } from '../../../graph/json.js';
import { unreachable } from '../../../graph/unreachable.js';
import type { Action, AskMode, Failure } from '../../engine/contract.js';
import { schemaProblems } from '../../tools/check-input.js';
import { oneLine } from '../../tools/encode-text.js';
import { thrownText } from '../../tools/exceptions.js';
import { findProtoKey } from '../../tools/to-json.js';
import type { RunWarning, Submission } from './run-store.js';
import { texts } from './texts.js';

/** An answer as the engine takes it. */
export type Answer =
  | { readonly kind: 'value'; readonly value: Json }
  | { readonly kind: 'failure'; readonly failure: Failure };

export type ReadAnswer =
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
    return result === undefined ? readError(action, error) : refused(action, [texts.oneOfTwo]);
  if (result === undefined) {
    return action.mode === 'info' ? value({ acknowledged: true }) : refused(action, [texts.oneOfTwo]);
  }
  return readResult(action, result, schemas);
}

/** Equal for answers that say the same; of one size however long they are. */
export function contentOf(answer: Answer): string {
  if (answer.kind === 'value') return sha256Hex(canonicalJson(answer.value));
  const { code, message } = answer.failure;
  return sha256Hex(canonicalJson({ error: { code, message } }));
}

/** The contents of all answers that what was sent may stand for, to a question of this mode; see {@link contentOf}. */
export function contentsOf(
  mode: AskMode,
  { result, error }: Pick<Submission, 'result' | 'error'>,
): readonly string[] {
  if (error !== undefined) {
    const failure = result === undefined ? failureIn(error)?.failure : undefined;
    return failure === undefined ? [] : [contentOf({ kind: 'failure', failure })];
  }
  const parsed = typeof result === 'string' ? objectIn(result) : undefined;
  const full = inFull(mode, result ?? null);
  const meant = result === undefined ? [full] : [result, parsed, full];
  return meant.flatMap((each) => (each === undefined ? [] : [contentOf({ kind: 'value', value: each })]));
}

function readResult(action: Action, result: Json, schemas: SchemaCompiler): ReadAnswer {
  let problems: readonly string[];
  try {
    const fits = (candidate: Json): boolean => problemsOf(action, candidate, schemas).length === 0;
    problems = problemsOf(action, result, schemas);
    if (problems.length === 0) return value(result);
    const parsed = typeof result === 'string' ? objectIn(result) : undefined;
    if (parsed !== undefined && fits(parsed)) return value(parsed, [stringified('result')]);
    const full = inFull(action.mode, result);
    if (full !== undefined) {
      if (fits(full)) return value(full);
      problems = problemsOf(action, full, schemas);
    } else if (parsed !== undefined) {
      problems = problemsOf(action, parsed, schemas);
    }
  } catch (fault) {
    problems = [texts.brokenSchema(thrownText(fault))];
  }
  return refused(action, problems);
}

function problemsOf({ schema }: Action, candidate: Json, schemas: SchemaCompiler): string[] {
  if (findProtoKey(candidate) !== undefined) return [texts.protoKey];
  return schemaProblems(schemas.check(schema, candidate), schema).map(({ message }) => message);
}

/** The answer that a shorthand stands for. */
function inFull(mode: AskMode, result: Json): Json | undefined {
  switch (mode) {
    case 'info':
      return result === null || result === true ? { acknowledged: true } : undefined;
    case 'confirm':
      return typeof result === 'boolean' ? { confirmed: result } : undefined;
    case 'text':
      return typeof result === 'string' ? { input: result } : undefined;
    case 'choice':
      return typeof result === 'string' ? { selected: result } : undefined;
    case 'yield':
      return undefined;
    default:
      return unreachable(mode);
  }
}

const CODE = /^[A-Z][A-Z0-9_]{0,63}$/;

function readError(action: Action, error: Json): ReadAnswer {
  const read = failureIn(error);
  if (read === undefined) return refused(action, [texts.errorShape]);
  const warnings = read.isText ? [stringified('error')] : [];
  return { ok: true, answer: { kind: 'failure', failure: read.failure }, warnings };
}

/** The failure that an error stands for; nothing for one that is not in form. */
function failureIn(error: Json): { readonly failure: Failure; readonly isText: boolean } | undefined {
  const parsed = typeof error === 'string' ? objectIn(error) : undefined;
  const given = parsed ?? error;
  if (!isJsonObject(given)) return undefined;
  const { code = 'E_ACTION_FAILED', message, ...more } = given;
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

/** How a question is answered, in one sentence. */
export function howToAnswer({ mode, options }: Pick<Action, 'mode' | 'options'>): string {
  return mode === 'choice' ? texts.how.choice(options ?? []) : texts.how[mode];
}

function value(answer: Json, warnings: readonly RunWarning[] = []): ReadAnswer {
  return { ok: true, answer: { kind: 'value', value: answer }, warnings };
}

function stringified(member: 'result' | 'error'): RunWarning {
  return { code: 'W_STRINGIFIED', message: texts.stringified(member) };
}

function refused(action: Action, problems: readonly string[]): ReadAnswer {
  const message = texts.shape(problems.slice(0, 10), howToAnswer(action));
  const details = { problems, schema: action.schema };
  return { ok: false, failure: { code: 'E_RESULT_SHAPE', message, details } };
}
