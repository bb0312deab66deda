import type { Place } from '../place.js';
import { escapeUnprintable } from '../unprintable.js';
import type { Diagnostic } from './diagnostic.js';
import { sortDiagnostics } from './order.js';

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
