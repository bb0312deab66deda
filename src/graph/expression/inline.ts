/** The longest value within a text for a reader, in UTF-16 code units. */
export const INLINE_LIMIT = 500;

/** What breaks a line, reorders what is shown or does not show at all; lone surrogates as well. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

/**
 * A value as part of a text for a reader: on one line, so that it cannot pose as a text of its own. Line breaks and
 * control, direction and zero-width characters are written as `\u…`. More than {@link INLINE_LIMIT} characters are cut
 * and end with `…`.
 */
export function inlineText(text: string): string {
  let shown = '';
  /** Length of what is left when the mark of a cut must fit as well. */
  let kept = 0;
  // No character becomes shorter, and so nothing behind the limit can count.
  for (const char of text.slice(0, INLINE_LIMIT + 2)) {
    shown += INVISIBLE.test(char) ? escaped(char) : char;
    if (shown.length < INLINE_LIMIT) kept = shown.length;
    if (shown.length > INLINE_LIMIT) return `${shown.slice(0, kept)}…`;
  }
  return shown;
}

function escaped(char: string): string {
  const units = Array.from({ length: char.length }, (_unit, index) => char.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}
