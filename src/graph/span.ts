/**
 * A span in a source text: start line, start column, end line, end column.
 * Lines and columns count from 1, columns in UTF-16 code units; the end is exclusive.
 */
export type Span = readonly [line: number, column: number, endLine: number, endColumn: number];

/** Where something was written. Never part of a graph's identity: canonical JSON leaves it out. */
export interface Place {
  /** Path relative to the project's root, with `/` on every system. */
  readonly file: string;
  readonly span: Span;
  /** JSON pointer into the document, for front ends that have one. */
  readonly pointer?: string;
}

/** `file:line:column`, as compilers print it. */
export function formatPlace(place: Place): string {
  return `${place.file}:${place.span[0]}:${place.span[1]}`;
}
