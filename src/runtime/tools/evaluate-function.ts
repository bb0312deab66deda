import { type Json, ownProperty } from '../../graph/json.js';
import type { RunTimeCode } from '../../graph/run-time-codes.js';
import { nearestName } from '../../graph/suggest.js';
import { CallMask } from './call-mask.js';
import { keptJson } from './call-result.js';
import { thrownFailure } from './exceptions.js';
import { maskedFailure, maskedThrown } from './mask.js';
import {
  type CallContext,
  callerOf,
  type EvaluationOutcome,
  type FunctionReference,
  type Log,
} from './port.js';
import type { FunctionEntry, Registry } from './registry.js';
import { message, texts } from './texts.js';

/**
 * Evaluates a pure function of a registry, on copies of its arguments. It never rejects, and logs what was thrown. Codes: see
 * {@link CallPort.evaluate}.
 */
export async function evaluateFunction(
  { functions = {} }: Registry,
  { name, hash }: FunctionReference,
  args: readonly Json[],
  { signal, mask = new CallMask(), origin }: CallContext,
  log: Log,
): Promise<EvaluationOutcome> {
  const entry = ownProperty(functions, name);
  if (entry === undefined) {
    return failed(
      'E_FUNCTION_UNKNOWN',
      texts.functionUnknown(name, nearestName(name, Object.keys(functions))),
    );
  }
  if (entry.hash !== hash) return failed('E_FUNCTION_STALE', texts.functionStale(name));
  if (signal.aborted) return failed('E_CANCELLED', texts.functionCancelled(name));
  const outcome = evaluated(entry, args, (error) => {
    log(texts.threw('function', name, callerOf(origin), maskedThrown(error, mask)));
  });
  return outcome.ok ? outcome : { ok: false, failure: maskedFailure(outcome.failure, mask) };
}

function evaluated(
  entry: FunctionEntry,
  args: readonly Json[],
  onThrown: (error: unknown) => void,
): EvaluationOutcome {
  let result: unknown;
  try {
    result = entry.function(...structuredClone(args));
  } catch (error) {
    onThrown(error);
    return { ok: false, failure: thrownFailure(error, 'E_FUNCTION') };
  }
  if (result === undefined) return { ok: true };
  // A promise is no value; what it rejects with is nobody's.
  if (result instanceof Promise) result.catch(() => {});
  return keptJson(result);
}

function failed(code: RunTimeCode, text: string): EvaluationOutcome {
  return { ok: false, failure: { code, message: message(text) } };
}
