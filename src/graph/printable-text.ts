import type { Json } from './json.js';

/**
 * Characters that do not show as themselves: controls, bidi marks, zero-width and other invisible characters, Unicode
 * tags, line and paragraph separators, lone surrogates. They can hide text from a reader, reorder it, or make a terminal
 * act. This is the only table of them.
 */
const UNPRINTABLE = '[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}\\p{Default_Ignorable_Code_Point}]';

const visible = (classes: string): string => `(?!${UNPRINTABLE})[${classes}]`;
const EMOJI = '\\p{Extended_Pictographic}\\p{Emoji_Modifier}';

/** U+200C and U+200D between letters or emoji: Persian, Indic scripts and emoji families are written with them. */
const JOINER = `(?<=${visible(`\\p{L}\\p{M}${EMOJI}`)}\\ufe0f?)[\\u200c\\u200d](?=${visible(`\\p{L}${EMOJI}`)})`;

/** One variation selector behind a visible character: it picks the form of an emoji or of an ideograph. */
const SELECTOR = `(?<=${visible('\\p{L}\\p{N}\\p{P}\\p{S}')})[\\p{Variation_Selector}]`;

const KEPT = `(${JOINER}|${SELECTOR})`;
const ANY = new RegExp(UNPRINTABLE, 'u');
/** ASCII with nothing to escape: most texts are, and the classes of Unicode take long to look up. */
const PLAIN = { keep: /^[\n\t -~]*$/, escape: /^[ -~]*$/ } as const;
const PLAIN_LINE = /^(?:[!-~]| (?! ))*$/;
const SOURCE = {
  keep: `${KEPT}|(?!\\n|\\t|\\r\\n)${UNPRINTABLE}`,
  escape: `${KEPT}|${UNPRINTABLE}`,
} as const;
/** Made on first use: their classes take milliseconds to compile. */
const patterns: { keep?: RegExp; escape?: RegExp } = {};

/** What is shown in the place of a secret. */
export const MASKED = '••••';

/** White space and line breaks of every kind. */
const SPACE = /[\p{Z}\t-\r\u0085]+/gu;

/**
 * A text whose unprintable characters are written as `\u…`, one escape for each UTF-16 code unit, as in JSON: within
 * JSON the value stays the same. Joiners stay between letters or emoji, and so does a variation selector behind a
 * visible character.
 *
 * @param lines `keep` leaves line breaks (LF, CRLF) and tabs as they are. Default: they are escaped as well.
 */
export function escapeUnprintable(text: string, lines: 'keep' | 'escape' = 'escape'): string {
  if (PLAIN[lines].test(text) || !ANY.test(text)) return text;
  patterns[lines] ??= new RegExp(SOURCE[lines], 'gu');
  return text.replace(
    patterns[lines],
    (char, visibleMark: string | undefined) => visibleMark ?? escapedUnits(char),
  );
}

/** A text on one line: white space and line breaks become one space, other unprintable characters are escaped. */
export function singleLine(text: string): string {
  return PLAIN_LINE.test(text) ? text : escapeUnprintable(text.replace(SPACE, ' '));
}

function escapedUnits(char: string): string {
  const units = Array.from({ length: char.length }, (_unit, index) => char.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}

const ESCAPE = /^\\u[0-9a-f]{4}/;

/** A text of at most `limit` UTF-16 code units: where it is longer, its end is cut off and replaced by `…`. */
export function clipText(text: string, limit: number): string {
  return text.length <= limit ? text : `${cutText(text, limit - 1).trimEnd()}…`;
}

/** The first `length` UTF-16 code units of a text, fewer where that would split a surrogate pair or an escape. */
export function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  const start = text.lastIndexOf('\\u', length - 1);
  const isSplit = start > length - 6 && start >= 0 && ESCAPE.test(text.slice(start, start + 6));
  const end = isSplit ? start : length;
  const last = text.charCodeAt(end - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? end - 1 : end);
}

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

/** `1 item`, `2 items`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

const DURATION_UNITS = [
  { ms: 86_400_000, unit: (count: number) => (count === 1 ? 'day' : 'days') },
  { ms: 3_600_000, unit: () => 'h' },
  { ms: 60_000, unit: () => 'min' },
] as const;

/** A length of time in units for people, exactly: `350 ms`, `4.2 s`, `3 min 5 s`, `1 day 4 h`. */
export function durationText(ms: number): string {
  if (ms < 1_000) return `${ms} ms`;
  const parts: string[] = [];
  let rest = ms;
  for (const { ms: length, unit } of DURATION_UNITS) {
    const count = Math.floor(rest / length);
    if (count > 0) parts.push(`${count} ${unit(count)}`);
    rest -= count * length;
  }
  if (rest > 0) parts.push(`${Number((rest / 1_000).toFixed(6))} s`);
  return parts.join(' ');
}

/** A measured length of time, rounded to about two units: `4.2 s` of 4,183 ms, `1 day 4 h`. */
export function elapsedText(ms: number): string {
  const precision =
    ms < 1_000 ? 1 : ms < 60_000 ? 100 : ms < 3_600_000 ? 1_000 : ms < 86_400_000 ? 60_000 : 3_600_000;
  return durationText(Math.round(ms / precision) * precision);
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

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/**
 * A text within an element or an attribute of XML or HTML. What does not show, or is not XML, is escaped as in JSON.
 *
 * @param lines as for {@link escapeUnprintable}.
 */
export function escapeXml(text: string, lines: 'keep' | 'escape' = 'escape'): string {
  return escapeMarkup(
    escapeUnprintable(text, lines).replaceAll(
      /[\ufffe\uffff]/g,
      (char) => `\\u${char.charCodeAt(0).toString(16)}`,
    ),
  );
}

/** A text within markup, unchanged: only for what a person sees as the value of a field, and sends back. */
export function escapeMarkup(text: string): string {
  return text.replaceAll(/[&<>"']/g, (char) => ENTITIES[char] ?? char);
}
