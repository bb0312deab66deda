/** A regular expression that is ready to be matched. */
export interface Pattern {
  /** Whether it is found in the text. */
  test(text: string): boolean;
}

/** A pattern of a schema, or why it is none: the end of a sentence. */
export type ReadPattern =
  | { readonly ok: true; readonly pattern: Pattern }
  | { readonly ok: false; readonly why: string };

/** Reads a `pattern` of JSON Schema: a regular expression of ECMAScript with the flag `u`. */
export function readPattern(source: string): ReadPattern {
  try {
    return { ok: true, pattern: new RegExp(source, 'u') };
  } catch (error) {
    return { ok: false, why: `is no regular expression: ${reasonOf(error)}` };
  }
}

function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replace(/^Invalid regular expression: /, '');
}
