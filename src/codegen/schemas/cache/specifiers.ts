/** What the text of a module says about what it loads. */
export interface Specifiers {
  /** What stands in `import`, `export … from` and `require`, as it is written, and every path that stands in quotes. */
  readonly named: readonly string[];
  /** False where it loads what its text does not name: such a module has to be run each time. */
  readonly isComplete: boolean;
}

/** Statements that are erased; they begin a line, so that no comment can make one of a statement that is kept. */
const ERASED =
  /^[ \t]*(?:import|export)\s+type\s+(?:\{[^{}]*\}|\*\s*as\s+[\w$]+|\*|[\w$]+)\s+from\s*(?:'[^'\n]*'|"[^"\n]*")/gm;

const LOADED =
  /(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire(?:\.resolve)?\s*\(\s*)(?:'([^'\n]*)'|"([^"\n]*)"|`([^`\n]*)`)/g;

/** A path between two quotes, whichever they are: the quotes of a comment need not come in pairs. */
const QUOTED_PATH = /(?<=['"`])\.{1,2}\/[^'"`\r\n]*(?=['"`])/g;

/** `import(path)`, `require(path)`, and ways to a `require` of another name. */
const COMPUTED =
  /\b(?:import|require(?:\.resolve)?)\s*\(\s*(?!['"`\s])|\bcreateRequire\b|\bimport\.meta\.(?:resolve|glob)\b/;

/**
 * Reads what a module loads off its text. It is not parsed: too much may be found, in comments and in strings, which
 * costs a needless run; too little may not.
 */
export function specifiersOf(text: string): Specifiers {
  const kept = text.replace(ERASED, '');
  const loaded = [...kept.matchAll(LOADED)].map(
    ([, single, double, template]) => single ?? double ?? template ?? '',
  );
  // What is escaped or put together is not what is loaded.
  const isPlain = loaded.every((specifier) => !/\\|\$\{/.test(specifier));
  const paths = kept.match(QUOTED_PATH) ?? [];
  return {
    named: [...new Set([...loaded, ...paths])],
    isComplete: isPlain && !COMPUTED.test(kept),
  };
}
