import type { Json } from '../../graph/json.js';
import { clipText, escapeUnprintable, singleLine } from '../../graph/printable-text.js';

// Everything that tools, resources, people and callers say passes through one of these before a reader sees it.
// Secrets are masked before: a mask looks for values, not for their escapes.

/** The longest failure message, in UTF-16 code units: a model needs the gist, not a log. */
export const FAILURE_MESSAGE_LIMIT = 500;

/**
 * Text on one line: every run of white space becomes one space, unprintable characters are written as `\u…`. A text
 * longer than `limit` (UTF-16 code units, default {@link FAILURE_MESSAGE_LIMIT}) is cut and ends with `…`.
 */
export function oneLine(text: string, limit: number = FAILURE_MESSAGE_LIMIT): string {
  return clipText(singleLine(text).trim(), limit);
}

/** A name or a value of a caller within a message: hostile or huge input does not fill it. */
export function clip(text: string): string {
  return oneLine(text, 200);
}

/** Text of several lines: line breaks and tabs stay, other unprintable characters are written as `\u…`. */
export function bodyText(text: string): string {
  return escapeUnprintable(text, 'keep');
}

/**
 * Text of several lines inside a text of the product: `head (N characters):`, then the text between two fences of
 * backticks, longer than any in it. N counts UTF-16 code units between the line breaks beside the fences.
 */
export function framedText(head: string, text: string): string {
  const body = bodyText(text);
  let longest = 2;
  for (const [run] of body.matchAll(/`{3,}/g)) longest = Math.max(longest, run.length);
  const fence = '`'.repeat(longest + 1);
  return `${head} (${body.length} characters):\n${fence}\n${body}\n${fence}`;
}

/**
 * A value as JSON whose texts cannot leave their quotes: unprintable characters in it are written as `\u…`, and it
 * parses to the same value. `indent` is in spaces; without it the text is one line.
 */
export function jsonText(value: Json, indent?: number): string {
  return escapeUnprintable(JSON.stringify(value, null, indent), 'keep');
}

/**
 * A text for a log: lines after the first are indented, if they are not yet, so that none looks like an entry of its
 * own.
 */
export function logText(text: string): string {
  return bodyText(text).replaceAll(/\n(?![ \t])/g, '\n  ');
}
