import type { LocatedScalar } from './located.js';
import { type Offsets, pieceOffsets, piecesOf } from './offsets.js';

/** The value of a scalar that is not text, with its kind. */
type Value = Pick<LocatedScalar, 'kind' | 'value'>;

const NULL = /^(?:~|null|Null|NULL)$/;
const TRUE = /^(?:true|True|TRUE)$/;
const FALSE = /^(?:false|False|FALSE)$/;
const NUMBER =
  /^(?:[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|[-+]?\.\d+(?:[eE][-+]?\d+)?|0x[0-9a-fA-F]+|0o[0-7]+)$/;
const NO_NUMBER = /^[-+]?\.(?:inf|Inf|INF)$|^\.(?:nan|NaN|NAN)$/;
/** What no number and no word begins with. Most values are text. */
const TEXT = /^[^-+.\d~nNtTfF]/;

/** The value of a plain scalar by the core schema of YAML 1.2; missing for text. */
export function plainValue(written: string): Value | undefined {
  if (TEXT.test(written)) return undefined;
  if (NUMBER.test(written)) return { kind: 'number', value: Number(written) } as Value;
  if (TRUE.test(written)) return { kind: 'boolean', value: true } as Value;
  if (FALSE.test(written)) return { kind: 'boolean', value: false } as Value;
  if (NULL.test(written)) return { kind: 'null', value: null } as Value;
  return NO_NUMBER.test(written) ? ({ kind: 'number', value: Number.NaN } as Value) : undefined;
}

/** A whole number that is rounded, or none at all. */
export function isInexact(value: number): boolean {
  return !Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value));
}

/** Escapes of double quotes. */
const ESCAPE = /\\(?:x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)/g;
const NO_ESCAPE = /(?!)/g;

function unitsOf(sequence: string): number {
  return sequence[1] === 'U' && Number.parseInt(sequence.slice(2), 16) > 0xffff ? 2 : 1;
}

/** The characters of escapes of one character. */
const ESCAPED: Readonly<Record<string, string>> = {
  '0': '\0',
  a: '\x07',
  b: '\b',
  t: '\t',
  '\t': '\t',
  n: '\n',
  v: '\v',
  f: '\f',
  r: '\r',
  e: '\x1b',
  ' ': ' ',
  '"': '"',
  '/': '/',
  '\\': '\\',
  N: '\x85',
  _: '\xa0',
  L: '\u2028',
  P: '\u2029',
};

/** The text within double quotes; missing where an escape is not one. */
export function unescaped(written: string): string | undefined {
  if (!written.includes('\\')) return written;
  let isWrong = false;
  const text = written.replace(ESCAPE, (sequence) => {
    const [, kind = '', ...digits] = sequence;
    if (digits.length === 0 && Object.hasOwn(ESCAPED, kind)) return ESCAPED[kind] ?? '';
    const code = digits.length === 0 ? Number.NaN : Number.parseInt(digits.join(''), 16);
    isWrong ||= !(code <= 0x10ffff);
    return isWrong ? '' : String.fromCodePoint(code);
  });
  return isWrong ? undefined : text;
}

/** Where the characters of a text in quotes are, if it is written on one line. */
export function quotedOffsets(start: number, written: string): Offsets {
  const inner = (): string => written.slice(1, -1);
  if (written.startsWith("'")) return pieceOffsets(start + 1, () => piecesOf(inner(), /''/g, () => 1));
  const pattern = written.includes('\\') ? ESCAPE : NO_ESCAPE;
  return pieceOffsets(start + 1, () => piecesOf(inner(), pattern, unitsOf));
}

/** Lines of a literal block text are written as they are, behind the same indentation. */
export function literalOffsets(start: number, written: string): Offsets {
  const header = written.slice(0, written.indexOf('\n'));
  // With an explicit indentation, the first line may have more.
  if (/\d/.test(header.replace(/ #.*/, ''))) return () => start;
  return pieceOffsets(start, () => literalPieces(written));
}

function* literalPieces(written: string): Generator<readonly [number, number]> {
  const [header = '', ...lines] = written.split('\n');
  const first = lines.find((line) => /[^ \r]/.test(line)) ?? '';
  const indent = first.search(/[^ ]/);
  yield [header.length + 1, 0];
  for (const line of lines) {
    const skipped = Math.min(indent, line.length);
    yield [skipped, 0];
    // The line break of Windows is one character of the value.
    const rest = line.slice(skipped).replace(/\r$/, '');
    yield [rest.length, rest.length];
    yield [line.length - skipped - rest.length + 1, 1];
  }
}

/** Joins the lines of a text that is not a block text: a line break is a blank, and so many more are line breaks. */
export function joinedLines(written: string): string {
  return written.replace(/(?<![ \t])[ \t]*\r?\n[ \t\r\n]*/g, (gap) => {
    const breaks = gap.split('\n').length - 1;
    return breaks === 1 ? ' ' : '\n'.repeat(breaks - 1);
  });
}

/** The lines of a block text behind their indentation, without those at its end that are empty. */
export interface BlockLines {
  readonly lines: readonly string[];
  /** How many empty lines follow. */
  readonly emptyAtEnd: number;
}

/** The value of a block text. */
export function blockText(style: string, chomping: string, { lines, emptyAtEnd }: BlockLines): string {
  const text = style === '|' ? lines.join('\n') : foldedBlock(lines);
  if (chomping === '-') return text;
  return text + '\n'.repeat(chomping === '+' ? 1 + emptyAtEnd : 1);
}

/**
 * Joins the lines of a folded block text: a line break between two lines of text is a blank. Lines that are indented more
 * keep theirs.
 */
function foldedBlock(lines: readonly string[]): string {
  let text = '';
  let empty = 0;
  let before: 'nothing' | 'text' | 'indented' = 'nothing';
  for (const line of lines) {
    if (line === '') {
      empty += 1;
      continue;
    }
    const kind = /^[ \t]/.test(line) ? 'indented' : 'text';
    if (before === 'nothing') text += '\n'.repeat(empty);
    else if (before === 'text' && kind === 'text') text += empty === 0 ? ' ' : '\n'.repeat(empty);
    else text += '\n'.repeat(empty + 1);
    text += line;
    before = kind;
    empty = 0;
  }
  return text;
}
