/**
 * A span in a source text: start line, start column, end line, end column.
 * Lines and columns count from 1, columns in UTF-16 code units; the end is exclusive.
 */
export type Span = readonly [line: number, column: number, endLine: number, endColumn: number];

/** Where something was written. Never part of a graph's identity: canonical JSON leaves it out. */
export interface SourceLocation {
  /** Path relative to the project's root, with `/` on every system. */
  readonly file: string;
  readonly span: Span;
  /** JSON pointer into the document, for front ends that have one. */
  readonly pointer?: string;
}

/** `file:line:column`, as compilers print it. */
export function formatLocation({ file, span: [line, column] }: SourceLocation): string {
  return `${file}:${line}:${column}`;
}

/** The source location of a node, or of its graph. */
export function locationOfNode(
  node: { readonly source?: SourceLocation },
  graph: { readonly source?: SourceLocation },
): SourceLocation | undefined {
  return node.source ?? graph.source;
}

/** The source location of an expression, or of its node if the front end recorded none. */
export function locationOfExpr(
  expr: { readonly at?: Span } | undefined,
  source: SourceLocation | undefined,
): SourceLocation | undefined {
  return source === undefined || expr?.at === undefined ? source : { file: source.file, span: expr.at };
}

export function relatedLocation(
  message: string,
  place: SourceLocation | undefined,
): { message: string; place: SourceLocation }[] {
  return place === undefined ? [] : [{ message, place }];
}
