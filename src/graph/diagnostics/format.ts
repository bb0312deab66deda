import { escapeUnprintable, singleLine } from '../printable-text.js';
import { formatPlace, type Place } from '../span.js';
import { type Diagnostic, type Severity, sortDiagnostics } from './diagnostic.js';
import { type Frame, frameOf } from './frame.js';

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
function shownPlace(place: Place): string {
  return escapeUnprintable(formatPlace(place));
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

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
