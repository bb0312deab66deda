import type { Diagnostic } from './diagnostic.js';

/** Sorted by file, line, column and code; what has no place comes first. The input stays as it is. */
export function sortDiagnostics(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  return [...diagnostics].sort(compareDiagnostics);
}

function compareDiagnostics(left: Diagnostic, right: Diagnostic): number {
  return (
    compareText(left.place?.file ?? '', right.place?.file ?? '') ||
    (left.place?.span[0] ?? 0) - (right.place?.span[0] ?? 0) ||
    (left.place?.span[1] ?? 0) - (right.place?.span[1] ?? 0) ||
    compareText(left.code, right.code)
  );
}

/** By code units, so that the order is the same on every machine. */
function compareText(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
