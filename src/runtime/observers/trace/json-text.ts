import type { Json } from '../../../graph/json.js';
import { cutText, escapedChar } from '../../catalogue/one-line.js';

/** Longer texts of results and resources are cut in a trace. UTF-16 code units. */
export const RESULT_LIMIT = 20_000;

/** Line breaks JSON leaves as they are, C1 controls, and marks that reverse the direction of text. */
const DECEPTIVE = /[\u007f-\u009f\u061c\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/**
 * A value as JSON whose texts cannot leave their quotes: no character in it breaks a line or reorders what is shown.
 * `indent` is in spaces; without it the text is one line.
 */
export function jsonText(value: Json, indent?: number): string {
  return plainText(JSON.stringify(value, null, indent));
}

/** A text in which no character breaks a line, but for `\n`, or reorders what is shown. */
export function plainText(text: string): string {
  return text.replace(DECEPTIVE, escapedChar);
}

/** A text, cut to {@link RESULT_LIMIT}; `size` is its full size where it was. */
export function limited(text: string): { readonly text: string; readonly size?: number } {
  return text.length <= RESULT_LIMIT ? { text } : { text: cutText(text, RESULT_LIMIT), size: text.length };
}
