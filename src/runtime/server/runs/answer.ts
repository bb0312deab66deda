import type { SchemaCompiler } from '../../../formats/json-schema/schema-compiler.js';
import { isJsonObject, type Json } from '../../../graph/json.js';
import { unreachable } from '../../../graph/unreachable.js';
import { oneLine } from '../../catalogue/encode-text.js';
import { schemaProblems } from '../../catalogue/problems.js';
import { thrownText } from '../../catalogue/thrown.js';
import { findProtoKey } from '../../catalogue/to-json.js';
import type { Action, Failure } from '../../engine/contract.js';
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

function readResult(action: Action, result: Json, schemas: SchemaCompiler): ReadAnswer {
  let problems: readonly string[];
  try {
    const fits = (candidate: Json): boolean => problemsOf(action, candidate, schemas).length === 0;
    problems = problemsOf(action, result, schemas);
    if (problems.length === 0) return value(result);
    const parsed = typeof result === 'string' ? objectIn(result) : undefined;
    if (parsed !== undefined && fits(parsed)) return value(parsed, [stringified('result')]);
    const full = inFull(action, result);
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
function inFull({ mode }: Action, result: Json): Json | undefined {
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
  const parsed = typeof error === 'string' ? objectIn(error) : undefined;
  const given = parsed ?? error;
  if (!isJsonObject(given)) return refused(action, [texts.errorShape]);
  const { code = 'E_ACTION_FAILED', message, ...more } = given;
  const isText = typeof message === 'string' && message.trim() !== '';
  if (!isText || typeof code !== 'string' || Object.keys(more).length > 0)
    return refused(action, [texts.errorShape]);
  const failure = { code: CODE.test(code) ? code : 'E_ACTION_FAILED', message: oneLine(message) };
  const warnings = parsed === undefined ? [] : [stringified('error')];
  return { ok: true, answer: { kind: 'failure', failure }, warnings };
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
