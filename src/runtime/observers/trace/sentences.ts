/** Ends a sentence, unless it has an end already. */
export function stop(sentence: string): string {
  return /[.!?…]$/u.test(sentence) ? sentence : `${sentence}.`;
}

/** `'a' and 'b'`, `'a', 'b' and 'c'`. */
export function names(steps: readonly string[]): string {
  return listOf(steps.map((step) => `'${step}'`));
}

/** `'a'`, `one of 'a' and 'b'`. */
export function oneOf(steps: readonly string[]): string {
  return steps.length === 1 ? names(steps) : `one of ${names(steps)}`;
}

/** `a, b and c`. */
export function listOf(parts: readonly string[]): string {
  const last = parts.at(-1) ?? '';
  return parts.length < 2 ? last : `${parts.slice(0, -1).join(', ')} and ${last}`;
}

/** Ends a text that was cut; nothing where it was not. `size` is in UTF-16 code units. */
export function cutNote(what: string, size: number | undefined): string {
  return size === undefined ? '' : `\n… (cut; the full ${what} has ${size} characters)`;
}
