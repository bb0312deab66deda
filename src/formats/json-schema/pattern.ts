import { RE2JS } from 're2js';

/** A regular expression that is matched in time proportional to the text. */
interface Pattern {
  /** Whether it is found in the text. */
  test(text: string): boolean;
}

/** A pattern of a schema, ready to be matched, or why it cannot be: the end of a sentence. */
export type ReadPattern =
  | { readonly ok: true; readonly pattern: Pattern }
  | { readonly ok: false; readonly why: string };

/**
 * Reads a `pattern` of JSON Schema: a regular expression of ECMAScript with the flag `u`. It is matched by RE2 (Cox,
 * "Regular Expression Matching Can Be Simple And Fast", 2007) and means what it means in ECMAScript. What only a search
 * that goes back can match is refused: lookaround and back-references; so are counts above 1000, and the classes
 * `\p{…}` that RE2 has no name for.
 */
export function readPattern(source: string): ReadPattern {
  try {
    new RegExp(source, 'u');
  } catch (error) {
    return { ok: false, why: `is no regular expression: ${reasonOf(error)}` };
  }
  try {
    const compiled = RE2JS.compile(RE2JS.translateRegExp(toRe2(source)));
    return { ok: true, pattern: { test: (text) => compiled.test(text) } };
  } catch (error) {
    return { ok: false, why: `cannot be matched in linear time: ${reasonOf(error)}` };
  }
}

/** What `\s` stands for in ECMAScript, and what it does not; RE2 knows the white space of ASCII alone. */
const SPACE =
  '\\t-\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}';
const NO_SPACE =
  '\\x{0}-\\x{8}\\x{e}-\\x{1f}\\x{21}-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}' +
  '\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}';
/** Every character but the ends of lines, of which RE2 knows one. */
const DOT = '[^\\n\\r\\x{2028}\\x{2029}]';

/** The parts of a pattern that the two languages write differently, and escapes, which hide such parts. */
const PARTS = /\\u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})|\\.|[.[\]]/gisu;

/** A valid pattern of ECMAScript as RE2 writes it, but for what `translateRegExp` sees to. */
function toRe2(source: string): string {
  let isInClass = false;
  return source.replace(PARTS, (part, high?: string, low?: string) => {
    if (high !== undefined && low !== undefined) return codePoint(`0x${high}`, `0x${low}`);
    const set = part === '\\s' ? SPACE : part === '\\S' ? NO_SPACE : undefined;
    if (set !== undefined) return isInClass ? set : `[${set}]`;
    // RE2 would take the name for text.
    if (part === '\\k') throw new Error('it refers back to a group');
    if (isInClass) {
      if (part === ']') isInClass = false;
      if (part === '\\b') return '\\x08';
      // Twice it would open a POSIX class.
      return part === '[' ? '\\[' : part;
    }
    if (part === '[') isInClass = true;
    return part === '.' ? DOT : part;
  });
}

/** The character that two halves of a surrogate pair make up. */
function codePoint(high: string, low: string): string {
  const character = String.fromCharCode(Number(high), Number(low));
  return `\\x{${character.codePointAt(0)?.toString(16) ?? ''}}`;
}

function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replace(/^(?:error parsing regexp|Invalid regular expression): /, '');
}
