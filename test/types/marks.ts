/**
 * Marks in a case: a comment of error codes right before the token that a compiler reports them at. A code with a
 * prefix is reported by that compiler (`7:TS2741`) or with those decorators (`tc39:TS1270`) alone.
 */
const MARK = /\/\* ((?:(?:\w+:)?TS\d+ ?)+)\*\/\s*/g;

/** The errors a source expects, as `line:column code`, in order. `scopes` are the prefixes that count. */
export function expectedErrors(source: string, scopes: readonly string[]): string[] {
  const errors = [...source.matchAll(MARK)].flatMap((mark) => {
    const { line, column } = positionAt(source, mark.index + mark[0].length);
    return (mark[1] ?? '')
      .trim()
      .split(' ')
      .map((word) => word.split(':'))
      .filter(([first = '', code]) => code === undefined || scopes.includes(first))
      .map((parts) => ({ line, column, code: parts.at(-1) ?? '' }));
  });
  return print(errors);
}

/** What a run of `tsc --pretty false` reported, by file, in the form of {@link expectedErrors}. */
export function reportedErrors(output: string): Map<string, string[]> {
  const byFile = new Map<string, { line: number; column: number; code: string }[]>();
  for (const text of output.split('\n')) {
    // Continued sentences are indented.
    if (text.trim() === '' || text.startsWith(' ')) continue;
    const [, file, line, column, code] = /^(.+)\((\d+),(\d+)\): error (TS\d+): /.exec(text) ?? [];
    if (!file || !code) throw new Error(`tsc said something else: ${text}`);
    byFile.set(file, [...(byFile.get(file) ?? []), { line: Number(line), column: Number(column), code }]);
  }
  return new Map([...byFile].map(([file, errors]) => [file, print(errors)]));
}

function print(errors: readonly { line: number; column: number; code: string }[]): string[] {
  return [...errors]
    .sort((a, b) => a.line - b.line || a.column - b.column || a.code.localeCompare(b.code))
    .map(({ line, column, code }) => `${line}:${column} ${code}`);
}

function positionAt(source: string, offset: number): { line: number; column: number } {
  const before = source.slice(0, offset).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}
