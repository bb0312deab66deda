import { oneLine } from '../../graph/printable-text.js';
import type { RunTimeCode } from '../../graph/run-time-codes.js';
import type { Failure } from '../engine/contract.js';
import type { Masking } from '../secrets/mask.js';

const CODE = /^[A-Z][A-Z0-9_]*$/;

/**
 * What a tool threw, as a failure: `code` from the error where it has one of the form `E_NAME`, else `fallback`;
 * `retryAfterMs` where that is a number of ms; `outcomeUnknown` where that is true; the message on one line, never a stack. Anything may be thrown, even
 * things whose members throw.
 */
export function thrownFailure(thrown: unknown, fallback: RunTimeCode): Failure {
  const code = member(thrown, 'code') ?? member(fetchCause(thrown), 'code');
  const retryAfterMs = member(thrown, 'retryAfterMs');
  const isDelay = typeof retryAfterMs === 'number' && Number.isFinite(retryAfterMs) && retryAfterMs >= 0;
  return {
    code: typeof code === 'string' && code.length <= 64 && CODE.test(code) ? code : fallback,
    message: thrownText(thrown),
    ...(isDelay ? { retryAfterMs } : {}),
    ...(member(thrown, 'outcomeUnknown') === true ? { outcomeUnknown: true } : {}),
  };
}

/** Whether work threw because it was aborted: that says nothing an operator does not know. */
export function isAbort(thrown: unknown, signal: AbortSignal): boolean {
  return signal.aborted && (thrown === signal.reason || member(thrown, 'name') === 'AbortError');
}

/** What was thrown, in words. */
export function thrownText(thrown: unknown): string {
  if (typeof thrown === 'string') return thrown.trim() === '' ? 'it threw an empty text' : clean(thrown);
  if (typeof thrown === 'object' && thrown !== null) {
    const message = member(thrown, 'message');
    const inner = [fetchCause(thrown), ...gatheredErrors(thrown)].filter((each) => each !== undefined);
    const texts = [...(typeof message === 'string' && message.trim() !== '' ? [message] : [])];
    if (inner.length > 0) texts.push([...new Set(inner.slice(0, REPORTED).map(thrownText))].join('; '));
    if (texts.length > 0) return clean(texts.join(': '));
    const name = member(thrown, 'name');
    return `it threw ${typeof name === 'string' && name !== '' ? clean(name) : 'an object without a message'}`;
  }
  return `it threw ${typeof thrown === 'symbol' ? 'a symbol' : typeof thrown === 'function' ? 'a function' : String(thrown)}`;
}

/** The cause of a failed request of `fetch`, which alone says why. */
function fetchCause(thrown: unknown): unknown {
  return member(thrown, 'message') === 'fetch failed' ? member(thrown, 'cause') : undefined;
}

function gatheredErrors(thrown: unknown): readonly unknown[] {
  const errors = member(thrown, 'name') === 'AggregateError' ? member(thrown, 'errors') : undefined;
  return Array.isArray(errors) ? errors.filter((each) => each !== thrown) : [];
}

/** So many errors are reported of what was thrown. */
const REPORTED = 10;

/** What was thrown, for an operator: its stack, and those of its causes and of the errors it gathers. */
export function thrownReport(thrown: unknown): string {
  const reported = new Set<unknown>();
  const lines: string[] = [];
  const report = (error: unknown, label: string): void => {
    if (error === undefined || reported.has(error) || reported.size === REPORTED) return;
    reported.add(error);
    lines.push(`${label}${stackOf(error)}`);
    const errors = member(error, 'errors');
    if (Array.isArray(errors)) for (const each of errors) report(each, 'one of its errors: ');
    report(member(error, 'cause'), 'caused by: ');
  };
  report(thrown, '');
  return lines.length === 0 ? thrownText(thrown) : lines.join('\n');
}

/** What was thrown, for a log, without secrets: the stack, and those of its causes. */
export function maskedThrown(thrown: unknown, mask: Masking): string {
  return mask.text(thrownReport(thrown));
}

/** An error without secrets in its message and stack, for a log. The stack holds those of its causes. */
export function maskedError(error: unknown, mask: Masking): unknown {
  if (mask.isEmpty || !(error instanceof Error)) return error;
  return Object.assign(new Error(mask.text(error.message)), { stack: maskedThrown(error, mask) });
}

/** Both the stack and the message of an error may have been written to, apart from each other. */
function stackOf(thrown: unknown): string {
  const stack = member(thrown, 'stack');
  const message = member(thrown, 'message');
  if (typeof stack !== 'string' || stack === '') return thrownText(thrown);
  return typeof message !== 'string' || stack.includes(message) ? stack : `${message}\n${stack}`;
}

function member(thrown: unknown, key: string): unknown {
  if (typeof thrown !== 'object' || thrown === null) return undefined;
  try {
    return (thrown as Record<string, unknown>)[key];
  } catch {
    return undefined;
  }
}

/** Some libraries put the stack into the message. */
function clean(text: string): string {
  return oneLine(text.replace(/^\s+at .*$/gmu, ''));
}
