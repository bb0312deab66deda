import type { Diagnostic, Edit } from '../graph/diagnostics/diagnostic.js';

/** A diagnostic with a repair. */
export type Repairable = Diagnostic & Required<Pick<Diagnostic, 'edit' | 'place'>>;

export function isRepairable(diagnostic: Diagnostic): diagnostic is Repairable {
  return diagnostic.edit !== undefined && diagnostic.place !== undefined;
}

/** A text after repairs. */
export interface Repaired {
  readonly text: string;
  /** The diagnostics with edits that were made, in the order of the text. */
  readonly repairs: readonly Repairable[];
}

/**
 * Makes the edits of diagnostics about one text. Of edits at one place the first is made: the others may not be needed then,
 * which the next check of the text shows.
 */
export function applyEdits(text: string, diagnostics: readonly Diagnostic[]): Repaired {
  const starts = lineStartsOf(text);
  const placed = diagnostics
    .filter(isRepairable)
    .map((diagnostic) => ({ diagnostic, ...rangeOf(diagnostic.edit, starts) }))
    .sort((one, other) => one.start - other.start || one.end - other.end);
  const repairs: Repairable[] = [];
  const parts: string[] = [];
  let at = -1;
  for (const { diagnostic, start, end } of placed) {
    if (start <= at) continue;
    parts.push(text.slice(Math.max(at, 0), start), diagnostic.edit.text);
    repairs.push(diagnostic);
    at = end;
  }
  return { text: `${parts.join('')}${text.slice(Math.max(at, 0))}`, repairs };
}

function rangeOf({ span: [line, column, endLine, endColumn] }: Edit, starts: readonly number[]) {
  const offset = (of: number, column: number): number => (starts[of - 1] ?? 0) + column - 1;
  return { start: offset(line, column), end: offset(endLine, endColumn) };
}

/** A byte order mark has no column. */
function lineStartsOf(text: string): number[] {
  const first = text.startsWith('\ufeff') ? 1 : 0;
  return [first, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];
}
