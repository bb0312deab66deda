import type { Diagnostic } from '../../graph/diagnostics/diagnostic.js';
import type { Graph } from '../../graph/model.js';
import type { SourceLocation } from '../../graph/source-location.js';

/**
 * The diagnostics that concern a run of one workflow of a file: those of the workflow and of what it runs, and those that
 * are about no workflow.
 *
 * @param graphs the workflows of the file in the order of writing; the chosen one is bundled with what it runs.
 */
export function diagnosticsOfChosen(
  diagnostics: readonly Diagnostic[],
  graphs: readonly Graph[],
  chosen: Graph,
): readonly Diagnostic[] {
  const concerned = new Set([chosen, ...(chosen.tasks ?? [])].map(({ name }) => name));
  return diagnostics.filter(({ place }) => {
    // Workflows follow each other in a file: one ends where the next begins.
    const around = place && graphs.findLast(({ source }) => source !== undefined && begins(source, place));
    return around === undefined || concerned.has(around.name);
  });
}

/** Whether a place is not before another one of the same file. */
function begins(start: SourceLocation, place: SourceLocation): boolean {
  if (start.file !== place.file) return false;
  const [line, column] = place.span;
  const [startLine, startColumn] = start.span;
  return startLine < line || (startLine === line && startColumn <= column);
}
