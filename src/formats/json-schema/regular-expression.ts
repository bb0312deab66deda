import { createRequire } from 'node:module';
import type { RE2JS } from 're2js';

/** A `pattern` of JSON Schema, or why it cannot be written, as the end of a sentence. */
export type WrittenPattern =
  | { readonly ok: true; readonly pattern: string }
  | { readonly ok: false; readonly why: string };

/**
 * Writes a regular expression as a `pattern` of JSON Schema, which always has the flag `u` and never another one: the
 * letters of one with the flag `i` become classes, and what only a pattern without `u` may hold is escaped.
 */
export function patternOf({ source, flags }: Pick<RegExp, 'source' | 'flags'>): WrittenPattern {
  try {
    return { ok: true, pattern: new PatternWriter(source, flags).text() };
  } catch (error) {
    if (!(error instanceof NoPatternError || error instanceof SyntaxError)) throw error;
    return { ok: false, why: error.message };
  }
}

class NoPatternError extends Error {}

/** The parts of a regular expression outside of classes: escapes, the begin of a group, a count, any character. */
const PART =
  /\\(?:u\{[\da-fA-F]+\}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|c[A-Za-z]|k<[\w$]*>|[pP]\{[^}]*\}|\d+|.)|\((?:\?(?:<[\w$]+>|<?[=!]|[a-z-]*:))?|\{\d+(?:,\d*)?\}|./gsu;

const CONTROLS: Readonly<Record<string, string>> = {
  t: '\t',
  n: '\n',
  v: '\v',
  f: '\f',
  r: '\r',
  0: '\0',
};

/** One element of a class: a character, or a set of them such as `\d`. */
interface Member {
  readonly text: string;
  readonly character?: string | undefined;
}

class PatternWriter {
  readonly #parts: readonly string[];
  readonly #isUnicode: boolean;
  readonly #ignoresCase: boolean;
  #next = 0;

  constructor(
    readonly source: string,
    readonly flags: string,
  ) {
    this.#parts = source.match(PART) ?? [];
    this.#isUnicode = /[uv]/.test(flags);
    this.#ignoresCase = flags.includes('i');
  }

  text(): string {
    const { source, flags } = this;
    if (flags.includes('v') && /&&|--|\\q\{|\[[^\]]*\[/.test(source))
      throw new NoPatternError('has sets of the flag `v`, which JSON Schema does not have');
    const isPlain = !/[imsy]/.test(flags) && (this.#isUnicode || isValid(source));
    const body = isPlain ? source : this.#body();
    const pattern = flags.includes('y') ? `^(?:${body})` : body;
    new RegExp(pattern, 'u');
    return pattern;
  }

  #body(): string {
    let text = '';
    while (this.#next < this.#parts.length) text += this.#outside(this.#parts[this.#next++] as string);
    return text;
  }

  #outside(part: string): string {
    if (part === '[') return this.#class();
    if (part === '.') return this.flags.includes('s') ? '[\\s\\S]' : part;
    if (part === '^' || part === '$') {
      if (this.flags.includes('m'))
        throw new NoPatternError(`has \`${part}\` with the flag \`m\`, which JSON Schema does not have`);
      return part;
    }
    // Without the flag `u` these are characters of their own.
    if (part === '{' || part === '}' || part === ']') return `\\${part}`;
    if (part.startsWith('\\')) {
      const { text, character } = this.#escape(part);
      return character === undefined ? this.#outsideSet(text) : this.#character(text, character);
    }
    return part.length > 2 || /[()|*+?]/.test(part) ? part : this.#character(part, part);
  }

  #outsideSet(text: string): string {
    if (!this.#ignoresCase || (!this.#isUnicode && !/^\\[k1-9]/.test(text))) return text;
    return text === '\\w' ? `[${WORD_IGNORING_CASE}]` : this.#caseless(text);
  }

  #character(text: string, character: string): string {
    const variants = this.#variants(character);
    return variants.length === 0 ? text : `[${text}${variants.map(classText).join('')}]`;
  }

  #class(): string {
    let text = '[';
    if (this.#parts[this.#next] === '^') {
      text += '^';
      this.#next += 1;
    }
    while (this.#parts[this.#next] !== ']') {
      const member = this.#member();
      const [dash, end] = this.#parts.slice(this.#next, this.#next + 2);
      if (dash !== '-' || end === ']' || end === undefined) {
        text += this.#alone(member);
        continue;
      }
      this.#next += 1;
      const last = this.#member();
      text +=
        member.character === undefined || last.character === undefined
          ? `${this.#alone(member)}\\-${this.#alone(last)}`
          : this.#range(member, last);
    }
    this.#next += 1;
    return `${text}]`;
  }

  /** What begins with a group, a count or an escape outside of a class is a list of characters in it. */
  #member(): Member {
    const part = this.#parts[this.#next] ?? '';
    if (part.startsWith('\\')) {
      this.#next += 1;
      // A back space, which is a boundary outside.
      if (part === '\\b') return { text: part, character: '\b' };
      const { text, character } = this.#escape(part);
      return { text: text === '-' ? classText(text) : text, character };
    }
    const [character = ''] = part;
    const rest = part.slice(character.length);
    if (rest === '' || part.codePointAt(0) !== part.charCodeAt(0)) this.#next += 1;
    else (this.#parts as string[])[this.#next] = rest;
    return { text: classText(character), character };
  }

  #alone({ text, character }: Member): string {
    if (character !== undefined) return `${text}${this.#variants(character).map(classText).join('')}`;
    if (!this.#ignoresCase || !this.#isUnicode) return text;
    return text === '\\w' ? WORD_IGNORING_CASE : this.#caseless(text);
  }

  #range(first: Member, last: Member): string {
    const text = `${first.text}-${last.text}`;
    if (!this.#ignoresCase) return text;
    const [from, to] = [first, last].map(({ character = '' }) => character.codePointAt(0) ?? 0) as [
      number,
      number,
    ];
    if (to - from > LONGEST_RANGE)
      throw new NoPatternError(
        `has the range \`${text}\` with the flag \`i\`, which is too long to be written without it`,
      );
    const variants = new Set<string>();
    for (let code = from; code <= to; code += 1) {
      for (const variant of this.#variants(String.fromCodePoint(code))) {
        const other = variant.codePointAt(0) ?? 0;
        if (other < from || other > to) variants.add(variant);
      }
    }
    return `${text}${runs(variants)}`;
  }

  /** An escape as it is with the flag `u`. */
  #escape(part: string): Member {
    const [, kind = ''] = part;
    const isWhole = part.length > 2;
    if (/[dDwWsSbB]/.test(kind) || (kind === 'k' && isWhole) || /[1-9]/.test(kind)) return { text: part };
    if (/[pP]/.test(kind) && isWhole) {
      if (this.#isUnicode) return { text: part };
      throw new NoPatternError(`has \`${part}\`, which needs the flag \`u\``);
    }
    if ((kind === 'u' || kind === 'x') && isWhole && (this.#isUnicode || !part.includes('{')))
      return {
        text: part,
        character: String.fromCodePoint(Number.parseInt(part.slice(2).replaceAll(/[{}]/g, ''), 16)),
      };
    if (kind === 'c' && isWhole)
      return { text: part, character: String.fromCharCode(part.charCodeAt(2) % 32) };
    const control = Object.hasOwn(CONTROLS, kind) ? CONTROLS[kind] : undefined;
    if (control !== undefined) return { text: part, character: control };
    if (isWhole || kind === 'c') throw new NoPatternError(`has \`${part}\`, which needs the flag \`u\``);
    return { text: /[-^$\\.*+?()[\]{}|/]/.test(kind) ? escaped(kind) : kind, character: kind };
  }

  /** A set that the flag `i` widens. */
  #caseless(text: string): string {
    if (/^\\[dDsS]$/.test(text)) return text;
    throw new NoPatternError(
      `has \`${text}\` with the flags \`${this.flags}\`, which has no form without the flag \`i\``,
    );
  }

  #variants(character: string): readonly string[] {
    return this.#ignoresCase ? caseVariants(character, this.#isUnicode) : [];
  }
}

/** With the flags `i` and `u` these two letters are equal to `s` and `k`. */
const WORD_IGNORING_CASE = '\\w\\u017f\\u212a';

const LONGEST_RANGE = 4_096;

function isValid(source: string): boolean {
  try {
    return new RegExp(source, 'u').source !== '';
  } catch {
    return false;
  }
}

/** `-` is escaped in classes alone. */
function escaped(character: string): string {
  return character === '-' ? '-' : `\\${character}`;
}

function classText(character: string): string {
  return /[-^\\[\]]/.test(character) ? `\\${character}` : character;
}

/** Characters of a class, with neighbours as ranges. */
function runs(characters: ReadonlySet<string>): string {
  const codes = [...characters].map((character) => character.codePointAt(0) ?? 0).sort((a, b) => a - b);
  const ranges: [number, number][] = [];
  for (const code of codes) {
    const range = ranges.at(-1);
    if (range !== undefined && range[1] === code - 1) range[1] = code;
    else ranges.push([code, code]);
  }
  const text = (code: number) => classText(String.fromCodePoint(code));
  return ranges
    .map(([from, to]) =>
      to - from < 2 ? [...new Set([from, to])].map(text).join('') : `${text(from)}-${text(to)}`,
    )
    .join('');
}

/** Letters that are equal to others with the flags `i` and `u`, and that no change of case leads to. */
const FOLDED = ['\u017f', '\u212a', '\u212b', '\u2126', '\u00b5', '\u1e9e', '\u03c2', '\u03d1', '\u03f4'];

/** The other characters that the flag `i` makes equal to one. */
function caseVariants(character: string, isUnicode: boolean): readonly string[] {
  if (character.toLowerCase() === character.toUpperCase()) return [];
  const [lower, upper] = [character.toLowerCase(), character.toUpperCase()];
  const candidates = [lower, upper, lower.toUpperCase(), upper.toLowerCase(), ...FOLDED];
  const equal = new RegExp(
    `^\\u${isUnicode ? `{${(character.codePointAt(0) ?? 0).toString(16)}}` : character.charCodeAt(0).toString(16).padStart(4, '0')}$`,
    isUnicode ? 'iu' : 'i',
  );
  return [...new Set(candidates)].filter((other) => other !== character && equal.test(other));
}

/** A regular expression that is matched in time proportional to the text. */
interface Pattern {
  /** Whether it matches anywhere in the text. */
  test(text: string): boolean;
}

/** A compiled pattern, or the reason why it cannot be used, as the end of a sentence. */
type ReadPattern =
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
  re2 ??= (createRequire(import.meta.url)('#re2js') as { readonly RE2JS: typeof RE2JS }).RE2JS;
  return re2;
}
