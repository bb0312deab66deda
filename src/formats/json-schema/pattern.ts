import { createRequire } from 'node:module';
import type { RE2JS } from 're2js';

/** A regular expression that is matched in time proportional to the text. */
interface Pattern {
  /** Whether it matches anywhere in the text. */
  test(text: string): boolean;
}

/** A compiled pattern, or the reason why it cannot be used, as the end of a sentence. */
export type ReadPattern =
  | { readonly ok: true; readonly pattern: Pattern }
  | { readonly ok: false; readonly why: string };

/**
 * Compiles a `pattern` of JSON Schema: an ECMAScript regular expression with the flag `u`. RE2 matches it (Cox,
 * "Regular Expression Matching Can Be Simple And Fast", 2007) with the meaning it has in ECMAScript. Patterns that need
 * backtracking are refused: lookaround and back-references. So are counts above 1000, and classes `\p{…}` that RE2 does
 * not have.
 */
export function readPattern(source: string): ReadPattern {
  try {
    new RegExp(source, 'u');
  } catch (error) {
    return { ok: false, why: `is not a regular expression: ${reasonOf(error)}` };
  }
  const re2 = loadRe2();
  try {
    const compiled = re2.compile(re2.translateRegExp(toRe2(source)));
    return { ok: true, pattern: { test: (text) => compiled.test(text) } };
  } catch (error) {
    return { ok: false, why: `cannot be matched in linear time: ${reasonOf(error)}` };
  }
}

/** The characters that `\s` and `\S` match in ECMAScript. In RE2 `\s` matches only ASCII white space. */
const SPACE =
  '\\t-\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}';
const NO_SPACE =
  '\\x{0}-\\x{8}\\x{e}-\\x{1f}\\x{21}-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}' +
  '\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}';
/** The characters that `.` matches in ECMAScript. In RE2 only `\n` ends a line. */
const DOT = '[^\\n\\r\\x{2028}\\x{2029}]';

/** The parts of a pattern that differ between the two languages, and escapes, which may contain such parts. */
const PARTS = /\\u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})|\\.|[.[\]]/gisu;

/** Translates a valid ECMAScript pattern to RE2, except for the parts that `translateRegExp` translates. */
function toRe2(source: string): string {
  let isInClass = false;
  return source.replace(PARTS, (part, high?: string, low?: string) => {
    if (high !== undefined && low !== undefined) return codePoint(`0x${high}`, `0x${low}`);
    const set = part === '\\s' ? SPACE : part === '\\S' ? NO_SPACE : undefined;
    if (set !== undefined) return isInClass ? set : `[${set}]`;
    // RE2 would match the name as text.
    if (part === '\\k') throw new Error('it refers back to a group');
    if (isInClass) {
      if (part === ']') isInClass = false;
      if (part === '\\b') return '\\x08';
      // `[[` would begin a POSIX class.
      return part === '[' ? '\\[' : part;
    }
    if (part === '[') isInClass = true;
    return part === '.' ? DOT : part;
  });
}

/** The escape of the character of a surrogate pair. */
function codePoint(high: string, low: string): string {
  const character = String.fromCharCode(Number(high), Number(low));
  return `\\x{${character.codePointAt(0)?.toString(16) ?? ''}}`;
}

function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replace(/^(?:error parsing regexp|Invalid regular expression): /, '');
}

/** Loaded with the first pattern: a server starts and lists its tools without it. */
let re2: typeof RE2JS | undefined;

export function loadRe2(): typeof RE2JS {
  re2 ??= (createRequire(import.meta.url)('re2js') as { readonly RE2JS: typeof RE2JS }).RE2JS;
  return re2;
}
