import { cutText, escapeUnprintable } from '../unprintable.js';

/** The longest value within a text for a reader, in UTF-16 code units. */
export const INLINE_LIMIT = 500;

/**
 * A value as part of a text for a reader: on one line, so that it cannot pose as a text of its own. Line breaks and
 * other unprintable characters are written as `\u…`. More than {@link INLINE_LIMIT} characters are cut and end with `…`.
 */
export function inlineText(text: string): string {
  // No character becomes shorter, and so nothing behind the limit can count.
  const shown = escapeUnprintable(text.slice(0, INLINE_LIMIT + 2));
  return shown.length <= INLINE_LIMIT ? shown : `${cutText(shown, INLINE_LIMIT - 1)}…`;
}
