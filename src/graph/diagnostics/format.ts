import { defined } from '../defined.js';
import { counted, escapeUnprintable, singleLine } from '../printable-text.js';
import { formatLocation, type SourceLocation, type Span } from '../source-location.js';
import { type Diagnostic, type Severity, sortDiagnostics } from './diagnostic.js';

/** How many diagnostics are printed in full unless the caller says otherwise. */
const DEFAULT_LIMIT = 50;

export interface FormatOptions {
  /** ANSI colours, for terminals. Default false. */
  readonly color?: boolean;
  /** How many are printed; the rest is counted. Default 50. */
  readonly limit?: number;
}

/**
 * Prints diagnostics as compilers do: header, source line with carets, related places, hint; sorted by place, with a
 * count at the end. Ends with a line break; empty for no diagnostics.
 * @param readSource gives the text of a file named in a place, or nothing when it cannot be read.
 */
export function formatDiagnostics(
  diagnostics: readonly Diagnostic[],
  readSource: (file: string) => string | undefined,
  options: FormatOptions = {},
): string {
  if (diagnostics.length === 0) return '';
  const paint = options.color ? colored : plain;
  const sources = new Map<string, string | undefined>();
  const sourceOf = (file: string): string | undefined => {
    if (!sources.has(file)) sources.set(file, readSource(file));
    return sources.get(file);
  };
  const sorted = sortDiagnostics(diagnostics);
  const shown = sorted.slice(0, options.limit ?? DEFAULT_LIMIT);
  const blocks = shown.map((each) => formatDiagnostic(each, sourceOf, paint));
  const hidden = sorted.length - shown.length;
  if (hidden > 0) blocks.push(`… and ${counted(hidden, 'more problem')}\n`);
  return `${blocks.join('\n')}\n${summary(diagnostics)}\n`;
}

type Style = Severity | 'file' | 'quiet';
type Paint = (text: string, style: Style) => string;

const plain: Paint = (text) => text;

const codes: Readonly<Record<Style, number>> = { error: 31, warning: 33, file: 36, quiet: 90 };

const colored: Paint = (text, style) => `\u001b[${codes[style]}m${text}\u001b[39m`;

function formatDiagnostic(
  { place, severity, code, message, related, hint }: Diagnostic,
  sourceOf: (file: string) => string | undefined,
  paint: Paint,
): string {
  const title = `${paint(severity, severity)} ${paint(`${code}:`, 'quiet')} ${singleLine(message)}`;
  const lines = [place === undefined ? title : `${paint(shownPlace(place), 'file')} - ${title}`];
  const lineNumber = place === undefined ? '' : String(place.span[0]);
  const gutter = ' '.repeat(lineNumber.length + 1);
  const source = place === undefined ? undefined : sourceOf(place.file);
  const frame = place === undefined || source === undefined ? undefined : frameOf(source, place.span);
  if (frame !== undefined) lines.push(...frameLines(frame, lineNumber, gutter, severity, paint));
  for (const other of related) {
    lines.push(`${gutter}${paint('=', 'quiet')} ${singleLine(other.message)}: ${shownPlace(other.place)}`);
  }
  if (hint !== undefined) lines.push(`${gutter}${paint('=', 'quiet')} hint: ${singleLine(hint)}`);
  return `${lines.join('\n')}\n`;
}

function frameLines(
  frame: Frame,
  lineNumber: string,
  gutter: string,
  severity: Severity,
  paint: Paint,
): string[] {
  const bar = paint('|', 'quiet');
  return [
    `${gutter}${bar}`,
    `${paint(lineNumber, 'quiet')} ${bar} ${frame.line}`.trimEnd(),
    `${gutter}${bar} ${frame.padding}${paint(frame.carets, severity)}`,
  ];
}

/** Names of files may hold anything. */
function shownPlace(place: SourceLocation): string {
  return escapeUnprintable(formatLocation(place));
}

function summary(diagnostics: readonly Diagnostic[]): string {
  const errors = diagnostics.filter((each) => each.severity === 'error').length;
  const warnings = diagnostics.length - errors;
  const parts = [
    ...(errors > 0 ? [counted(errors, 'error')] : []),
    ...(warnings > 0 ? [counted(warnings, 'warning')] : []),
  ];
  return `Found ${parts.join(' and ')}.`;
}

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
 * Nothing when the source has no such line, or is empty, as that of a file that is absent.
 */
function frameOf(source: string, span: Span): Frame | undefined {
  const [lineNumber, column, endLine, endColumn] = span;
  const line = lineAt(source, lineNumber);
  if (line === undefined || source === '') return undefined;
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
  let start = before;
  let middle = marked;
  let right = after;
  if (columnsOf(start) + columnsOf(middle) + columnsOf(right) > MAX_COLUMNS) {
    if (columnsOf(start) > LEAD_COLUMNS) start = CUT + lastColumns(start, LEAD_COLUMNS - 1);
    const room = MAX_COLUMNS - columnsOf(start);
    if (columnsOf(middle) > room) {
      middle = firstColumns(middle, room - 1) + CUT;
      right = '';
    } else if (columnsOf(middle) + columnsOf(right) > room) {
      right = firstColumns(right, room - columnsOf(middle) - 1) + CUT;
    }
  }
  return {
    line: start + middle + right,
    padding: ' '.repeat(columnsOf(start)),
    carets: '^'.repeat(Math.max(1, columnsOf(middle))),
  };
}

function firstColumns(text: string, columns: number): string {
  let beginning = '';
  let used = 0;
  for (const character of text) {
    used += columnsOf(character);
    if (used > columns) break;
    beginning += character;
  }
  return beginning;
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

/**
 * Prints diagnostics as JSON lines, for programs: one object each, sorted by place, all of them. Lines and columns
 * count from 1, columns in UTF-16 code units, the end is exclusive. What has no place has no `file`. Unprintable
 * characters are escaped. Empty for none.
 */
export function formatJson(diagnostics: readonly Diagnostic[]): string {
  return diagnosticRecords(diagnostics)
    .map((record) => `${escapeUnprintable(JSON.stringify(record))}\n`)
    .join('');
}

/** Diagnostics as plain data, sorted by place. */
export function diagnosticRecords(diagnostics: readonly Diagnostic[]): object[] {
  return sortDiagnostics(diagnostics).map(recordOf);
}

function recordOf({ code, severity, message, place, hint, related, edit }: Diagnostic): object {
  return {
    code,
    severity,
    message,
    ...(place === undefined ? {} : placeOf(place)),
    ...defined({ hint }),
    ...(edit === undefined ? {} : { edit: { ...rangeOf(edit.span), text: edit.text } }),
    related: related.map((other) => ({ message: other.message, ...placeOf(other.place) })),
  };
}

function placeOf({ file, span, pointer }: SourceLocation): object {
  return { file, ...rangeOf(span), ...defined({ pointer }) };
}

function rangeOf([line, column, endLine, endColumn]: Span): object {
  return { line, column, endLine, endColumn };
}

/**
 * Prints diagnostics as workflow commands of GitHub Actions, which show them beside the lines of a change: one
 * command each, sorted by place, all of them. Hints and related places follow the message. Empty for none.
 */
export function formatGithub(diagnostics: readonly Diagnostic[]): string {
  return sortDiagnostics(diagnostics)
    .map((each) => `::${each.severity} ${propertiesOf(each)}::${escapeData(textOf(each))}\n`)
    .join('');
}

function propertiesOf({ code, place }: Diagnostic): string {
  const properties: (readonly [string, string | number])[] = [];
  if (place !== undefined) {
    const [line, column, endLine, endColumn] = place.span;
    properties.push(['file', place.file], ['line', line]);
    // Columns mean something on one line only.
    if (endLine === line) properties.push(['col', column], ['endColumn', endColumn]);
    else properties.push(['endLine', endLine]);
  }
  properties.push(['title', code]);
  return properties.map(([name, value]) => `${name}=${escapeProperty(String(value))}`).join(',');
}

function textOf({ message, related, hint }: Diagnostic): string {
  return [
    message,
    ...related.map((other) => `${other.message}: ${formatLocation(other.place)}`),
    ...(hint === undefined ? [] : [`hint: ${hint}`]),
  ]
    .map(singleLine)
    .join('\n');
}

/** As the toolkit of GitHub Actions escapes the text of a command. */
function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\n', '%0A');
}

function escapeProperty(text: string): string {
  return escapeData(escapeUnprintable(text)).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
