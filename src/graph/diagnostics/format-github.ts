import { formatPlace } from '../place.js';
import { escapeUnprintable, singleLine } from '../unprintable.js';
import type { Diagnostic } from './diagnostic.js';
import { sortDiagnostics } from './order.js';

/**
 * Prints diagnostics as workflow commands of GitHub Actions, which show them beside the lines of a change: one
 * command each, sorted by place, all of them. Hints and related places stand below the message. Empty for none.
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
