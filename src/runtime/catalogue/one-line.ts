/** The longest failure message, in UTF-16 code units: a model needs the gist, not a log. */
export const FAILURE_MESSAGE_LIMIT = 500;

/** Marks that reverse the direction of text, by which it can be made to read as another one. */
const DIRECTION = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/**
 * Text on one line: every run of white space and control characters becomes one space, marks of direction are written
 * as `\u…`. A text longer than `limit`
 * (UTF-16 code units, default {@link FAILURE_MESSAGE_LIMIT}) is cut and ends with `…`.
 */
export function oneLine(text: string, limit: number = FAILURE_MESSAGE_LIMIT): string {
  const line = text
    .replace(/[\s\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(DIRECTION, escapedChar)
    .trim();
  return line.length <= limit ? line : `${cutText(line, limit - 1).trimEnd()}…`;
}

/** A character as JSON may write it: `\u202e`. */
export function escapedChar(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** The first `length` UTF-16 code units of a text, one fewer where that would split a surrogate pair. */
export function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
}
