import type { Value } from '../json.js';
import type { EagerFunction, FunctionCall } from './functions.js';
import { argumentType } from './value.js';

/**
 * Percent-encoding as URI templates have it (RFC 6570, section 3.2.1), of text or a number. Half a surrogate pair
 * becomes U+FFFD.
 */
export const uriFunctions: readonly EagerFunction[] = [
  /** `{name}`: all but the unreserved characters is encoded. */
  encoder('uriComponent', (text) => encodeStrictly(text)),

  /** `{+name}` and `{#name}`: reserved characters stay as they are, and so does what is encoded already. */
  encoder('uriReserved', (text) =>
    text
      .split(/(%[0-9A-Fa-f]{2}|[:/?#[\]@!$&'()*+,;=])/)
      .map((part, index) => (index % 2 === 1 ? part : encodeStrictly(part)))
      .join(''),
  ),
];

function encoder(name: string, encode: (text: string) => string): EagerFunction {
  return {
    name,
    arity: { min: 1, max: 1 },
    result: 'text',
    lazy: false,
    takes: ['any'],
    apply: ([value], call) => {
      const text = textOf(name, value, call);
      call.budget.charge(1 + 3 * text.length, call.at);
      return encode(text.replace(/\p{Surrogate}/gu, '\uFFFD'));
    },
  };
}

function textOf(name: string, value: Value, { at }: FunctionCall): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return String(value);
  throw argumentType(name, 'text or a number', value, at);
}

/** What `encodeURIComponent` leaves alone beyond the unreserved characters is encoded as well. */
function encodeStrictly(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
