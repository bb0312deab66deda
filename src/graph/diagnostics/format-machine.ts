import { escapeUnprintable, singleLine } from '../printable-text.js';
import { formatPlace, type Place } from '../span.js';
import { type Diagnostic, sortDiagnostics } from './diagnostic.js';

/**
 * Prints diagnostics as JSON lines, for programs: one object each, sorted by place, all of them. Lines and columns
 * count from 1, columns in UTF-16 code units, the end is exclusive. What has no place has no `file`. Unprintable
 * characters are escaped. Empty for none.
 */
export function formatJson(diagnostics: readonly Diagnostic[]): string {
  return sortDiagnostics(diagnostics)
    .map((each) => `${escapeUnprintable(JSON.stringify(recordOf(each)))}\n`)
    .join('');
}

function recordOf({ code, severity, message, place, hint, related }: Diagnostic): object {
  return {
    code,
    severity,
    message,
    ...(place === undefined ? {} : placeOf(place)),
    ...(hint === undefined ? {} : { hint }),
    related: related.map((other) => ({ message: other.message, ...placeOf(other.place) })),
  };
}

function placeOf({ file, span, pointer }: Place): object {
  const [line, column, endLine, endColumn] = span;
  return { file, line, column, endLine, endColumn, ...(pointer === undefined ? {} : { pointer }) };
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
    ...related.map((other) => `${other.message}: ${formatPlace(other.place)}`),
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
