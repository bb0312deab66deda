import type { Span } from '../place.js';
import { columnsOf, printable } from './columns.js';

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
