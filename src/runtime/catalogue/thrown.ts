import type { Failure } from '../engine/contract.js';
import { oneLine } from './encode-text.js';
import { texts } from './texts.js';

const CODE = /^[A-Z][A-Z0-9_]*$/;

/**
 * What a tool threw, as a failure: `code` from the error where it has one of the form `E_NAME`, else `fallback`;
 * `retryAfterMs` where that is a number of ms; the message on one line, never a stack. Anything may be thrown, even
 * things whose members throw.
 */
export function thrownFailure(thrown: unknown, fallback: string): Failure {
  const code = member(thrown, 'code');
  const retryAfterMs = member(thrown, 'retryAfterMs');
  const isDelay = typeof retryAfterMs === 'number' && Number.isFinite(retryAfterMs) && retryAfterMs >= 0;
  return {
    code: typeof code === 'string' && code.length <= 64 && CODE.test(code) ? code : fallback,
    message: thrownText(thrown),
    ...(isDelay ? { retryAfterMs } : {}),
  };
}

/** What was thrown, in words. */
export function thrownText(thrown: unknown): string {
  if (typeof thrown === 'string')
    return thrown.trim() === '' ? texts.thrownNothing('an empty text') : clean(thrown);
  if (typeof thrown === 'object' && thrown !== null) {
    const message = member(thrown, 'message');
    if (typeof message === 'string' && message.trim() !== '') return clean(message);
    const name = member(thrown, 'name');
    return texts.thrownNothing(
      typeof name === 'string' && name !== '' ? clean(name) : 'an object without a message',
    );
  }
  return texts.thrownNothing(
    typeof thrown === 'symbol' ? 'a symbol' : typeof thrown === 'function' ? 'a function' : String(thrown),
  );
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
