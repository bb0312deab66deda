/** A text without its escapes, and where its code units come from. */
export interface DecodedText {
  readonly text: string;
  /** Where each code unit begins in the text that was decoded; the last entry is the end of that text. */
  readonly starts: readonly number[];
}

/** Ends a text that was shortened. */
export const CUT = '…';

/** Texts with an escape, a `+`, or white space other than single spaces. */
const ENCODED = /[%\\+]|\s\s|[^\S ]/;

/** A byte in percent-encoding, encoded again any number of times. @param high its possible first digits. */
const byte = (high: string): string => `%(?:25)*[${high}][\\da-fA-F]`;
/** How often percent-encoding is undone that was encoded again byte by byte. */
const PASSES = 3;
const MORE = byte('89abAB');

/** A character in percent-encoding; or what shortening left of one, or of an escape of JSON. */
const PERCENT = new RegExp(
  [
    `((?:${byte('c-fC-F')}(?:${MORE}){0,2})?(?:%(?:25)*[\\da-fA-F]?)(?=…)|${byte('c-fC-F')}(?:${MORE}){0,2}(?=…))`,
    `${byte('cCdD')}${MORE}`,
    `${byte('eE')}(?:${MORE}){2}`,
    `${byte('fF')}(?:${MORE}){3}`,
    byte('89a-fA-F'),
    byte('0-7'),
  ].join('|'),
  'g',
);

/**
 * An escape of JSON, its backslashes doubled any number of times; or what shortening left of one. How many backslashes
 * belong to the text itself is unclear: all are left out.
 */
const JSON_ESCAPE =
  /\\+(?:((?:u[\da-fA-F]{0,3}|u\{[\da-fA-F]{0,6})?(?=…))|u\{([\da-fA-F]{1,6})\}|u([\da-fA-F]{4})|(["'/nrtbf]))?/g;

/** White space, also as form encoding and single lines write it. */
const SPACE = /[+\s]+/g;

const CONTROLS: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' };

/**
 * Undoes percent-encoding, form encoding and escapes of JSON, however often they were applied, and makes one space of
 * each run of white space.
 *
 * @returns undefined for a text without any of them.
 */
export function decodedText(text: string): DecodedText | undefined {
  if (!ENCODED.test(text)) return undefined;
  const starts = Array.from({ length: text.length + 1 }, (_, index) => index);
  let plain: DecodedText = { text, starts };
  // Digits of a percent-encoding are encoded themselves where each byte is.
  for (let pass = 0; pass < PASSES; pass += 1) plain = rewritten(plain, PERCENT, percentDecoded);
  const unescaped = rewritten(plain, JSON_ESCAPE, jsonUnescaped);
  return rewritten(unescaped, SPACE, () => ' ');
}

/**
 * The texts to search for, in a text and in its {@link decodedText}, to find a secret in each of its encodings: as it
 * is, decoded, and the part of its base64 that does not depend on what is beside it.
 */
export function formsOf(secret: string): Iterable<string> {
  const spellings = new Set([secret, JSON.stringify(secret).slice(1, -1)]);
  const forms = new Set([secret]);
  for (const form of [secret, ...[...spellings].flatMap(base64Forms)]) {
    forms.add(form);
    // A percent sign at the end belongs to what follows it.
    forms.add((decodedText(form)?.text ?? form).trim().replace(/%+$/, ''));
  }
  return forms;
}

/** In both alphabets, behind 0, 1 and 2 bytes of something else. */
function base64Forms(text: string): string[] {
  const bytes = new TextEncoder().encode(text);
  return [0, 1, 2].flatMap((before) => {
    const binary = '\0'.repeat(before) + Array.from(bytes, (each) => String.fromCharCode(each)).join('');
    // Each character has six bits: those at the ends that share a byte with something else are left out.
    const form = btoa(binary).slice(Math.ceil((before * 4) / 3), Math.floor((binary.length * 4) / 3));
    return [form, form.replaceAll('+', '-').replaceAll('/', '_')];
  });
}

/** By hand: `decodeURIComponent` throws for what is not UTF-8, which takes long where there is much of it. */
function percentDecoded([encoded, cut]: RegExpExecArray): string {
  if (cut !== undefined) return '';
  const digits = encoded.match(/[\da-fA-F]{2}(?=%|$)/g) ?? [];
  const [first = 0, ...others] = digits.map((each) => Number.parseInt(each, 16));
  const lead = others.length === 0 ? first : first & (0x7f >> (others.length + 1));
  return characterOf(others.reduce((code, each) => (code << 6) | (each & 0x3f), lead)) ?? '\ufffd';
}

function jsonUnescaped([, cut, point, unit, short]: RegExpExecArray): string {
  if (cut !== undefined) return '';
  if (short !== undefined) return CONTROLS[short] ?? short;
  const code = Number.parseInt(point ?? unit ?? '', 16);
  return characterOf(code) ?? '';
}

function characterOf(code: number): string | undefined {
  return code <= 0x10_ff_ff ? String.fromCodePoint(code) : undefined;
}

/** Replaces each match of a pattern; all code units of a replacement begin where the match does. */
function rewritten(
  { text, starts }: DecodedText,
  pattern: RegExp,
  replacement: (match: RegExpExecArray) => string,
): DecodedText {
  let result = '';
  const origins: number[] = [];
  let rest = 0;
  for (const match of text.matchAll(pattern)) {
    const shown = replacement(match);
    result += text.slice(rest, match.index) + shown;
    for (; rest < match.index; rest += 1) origins.push(starts[rest] ?? 0);
    for (let unit = 0; unit < shown.length; unit += 1) origins.push(starts[match.index] ?? 0);
    rest = match.index + match[0].length;
  }
  if (rest === 0) return { text, starts };
  result += text.slice(rest);
  for (; rest <= text.length; rest += 1) origins.push(starts[rest] ?? 0);
  return { text: result, starts: origins };
}
