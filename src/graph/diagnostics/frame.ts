import { escapeUnprintable } from '../printable-text.js';
import type { Span } from '../span.js';

/** Columns a tab takes in a frame. */
const TAB = '    ';

/** Code points that take two columns: CJK, Hangul, kana, full-width forms, emoji (Unicode UAX #11, W and F). */
const WIDE: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2e80, 0x303e],
  [0x3041, 0x33ff],
  [0x3400, 0x4dbf],
  [0x4e00, 0x9fff],
  [0xa000, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x1f300, 0x1f64f],
  [0x1f680, 0x1f6ff],
  [0x1f900, 0x1faff],
  [0x20000, 0x3fffd],
];

/** Marks that combine with the character before them, and joiners. */
const WITHOUT_WIDTH = /^[\p{Mn}\p{Me}\u200c\u200d]$/u;

/** Source text as it is printed: tabs as spaces, nothing that a terminal would act on, or that hides or reorders text. */
function printable(text: string): string {
  return escapeUnprintable(text.replaceAll('\t', TAB));
}

/** How many columns a terminal gives to printable text. */
function columnsOf(text: string): number {
  let columns = 0;
  for (const character of text) columns += widthOf(character);
  return columns;
}

function widthOf(character: string): number {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x300) return 1;
  if (WITHOUT_WIDTH.test(character)) return 0;
  return WIDE.some(([first, last]) => code >= first && code <= last) ? 2 : 1;
}

/** Longer lines are cut around the place, in columns. */
const MAX_COLUMNS = 160;
/** What stays visible before the place when the line is cut. */
const LEAD_COLUMNS = 60;
const CUT = '…';

/** A line of source, and the carets below it. */
export interface Frame {
  readonly line: string;
  readonly padding: string;
  readonly carets: string;
}

/**
 * Cuts the line of a place out of its source. A span over several lines is marked to the end of its first one.
 * Nothing when the source has no such line.
 */
export function frameOf(source: string, span: Span): Frame | undefined {
  const [lineNumber, column, endLine, endColumn] = span;
  const line = lineAt(source, lineNumber);
  if (line === undefined) return undefined;
  const start = Math.min(column - 1, line.length);
  const end = endLine > lineNumber ? line.trimEnd().length : Math.min(endColumn - 1, line.length);
  const before = printable(line.slice(0, start));
  const marked = printable(line.slice(start, Math.max(start, end)));
  const after = printable(line.slice(Math.max(start, end)));
  return cut(before, marked, after.trimEnd());
}

/** Lines end as TypeScript ends them: LF, CRLF, CR, U+2028, U+2029. A byte order mark has no column. */
function lineAt(source: string, lineNumber: number): string | undefined {
  return source.replace(/^\ufeff/, '').split(/\r\n|[\n\r\u2028\u2029]/)[lineNumber - 1];
}

function cut(before: string, marked: string, after: string): Frame {
  let left = before;
  let middle = marked;
  let right = after;
  if (columnsOf(left) + columnsOf(middle) + columnsOf(right) > MAX_COLUMNS) {
    if (columnsOf(left) > LEAD_COLUMNS) left = CUT + lastColumns(left, LEAD_COLUMNS - 1);
    const room = MAX_COLUMNS - columnsOf(left);
    if (columnsOf(middle) > room) {
      middle = firstColumns(middle, room - 1) + CUT;
      right = '';
    } else if (columnsOf(middle) + columnsOf(right) > room) {
      right = firstColumns(right, room - columnsOf(middle) - 1) + CUT;
    }
  }
  return {
    line: left + middle + right,
    padding: ' '.repeat(columnsOf(left)),
    carets: '^'.repeat(Math.max(1, columnsOf(middle))),
  };
}

function firstColumns(text: string, columns: number): string {
  let taken = '';
  let used = 0;
  for (const character of text) {
    used += columnsOf(character);
    if (used > columns) break;
    taken += character;
  }
  return taken;
}

function lastColumns(text: string, columns: number): string {
  const characters = [...text];
  let used = 0;
  let start = characters.length;
  while (start > 0) {
    used += columnsOf(characters[start - 1] ?? '');
    if (used > columns) break;
    start--;
  }
  return characters.slice(start).join('');
}
