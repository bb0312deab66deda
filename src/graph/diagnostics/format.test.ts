import { describe, expect, test } from 'vitest';
import type { SourceLocation, Span } from '../source-location.js';
import { type Diagnostic, diagnostic, sortDiagnostics } from './diagnostic.js';
import { formatDiagnostics } from './format.js';

function at(file: string, ...span: Span): SourceLocation {
  return { file, span };
}

function print(
  diagnostics: readonly Diagnostic[],
  sources: Record<string, string> = {},
  options = {},
): string {
  return formatDiagnostics(diagnostics, (file) => sources[file], options);
}

/** Prints one fault at the text between `⟦` and `⟧`. */
function printMarked(marked: string): string {
  const start = marked.indexOf('⟦');
  const source = marked.replace('⟦', '').replace('⟧', '');
  const end = marked.indexOf('⟧') - 1;
  const position = (offset: number): [number, number] => {
    const lines = source.slice(0, offset).split(/\r\n|\n|\r/);
    return [lines.length, (lines.at(-1)?.length ?? 0) + 1];
  };
  const place = at('a.ts', ...position(start), ...position(end));
  return print([diagnostic('SW4008', place, { what: 'it' })], { 'a.ts': source });
}

/** The lines of the frame alone. */
function frame(marked: string): string[] {
  return printMarked(marked).split('\n').slice(1, -3);
}

const forward = diagnostic(
  'SW3004',
  at('examples/logseq/add-todo.workflow.ts', 10, 93, 10, 98),
  { name: 'later', step: 'a' },
  { related: [{ message: 'bound here', place: at('examples/logseq/add-todo.workflow.ts', 14, 11, 14, 16) }] },
);

describe('formatDiagnostics', () => {
  test('has no frame of a file without text', () => {
    expect(print([forward], { 'examples/logseq/add-todo.workflow.ts': '' })).not.toContain('|');
  });

  test('prints header, frame, related places and hint', () => {
    const line =
      '  @Step() a = forEach(this.content.lines, (line) => call(AddContent, { content: line + this.later.id }));';
    const source = `${'\n'.repeat(9)}${line}\n`;
    expect(print([forward], { 'examples/logseq/add-todo.workflow.ts': source })).toBe(
      [
        'examples/logseq/add-todo.workflow.ts:10:93 - error SW3004: `later` is bound after `a`',
        '   |',
        `10 | ${line}`,
        `   | ${' '.repeat(92)}^^^^^`,
        '   = bound here: examples/logseq/add-todo.workflow.ts:14:11',
        '   = hint: move `later` above `a`',
        '',
        'Found 1 error.',
        '',
      ].join('\n'),
    );
  });

  test('leaves the frame out without a source or a line, and the place without a place', () => {
    const where = 'examples/logseq/add-todo.workflow.ts';
    for (const sources of [{}, { [where]: 'one line' }] as Record<string, string>[]) {
      expect(print([forward], sources)).toBe(
        [
          `${where}:10:93 - error SW3004: \`later\` is bound after \`a\``,
          `   = bound here: ${where}:14:11`,
          '   = hint: move `later` above `a`',
          '',
          'Found 1 error.',
          '',
        ].join('\n'),
      );
    }
    expect(print([diagnostic('SW9001', undefined, { file: 'r.ts' })])).toBe(
      'error SW9001: `r.ts` is stale\n = hint: run `stepwright codegen` and commit the result\n\nFound 1 error.\n',
    );
  });

  test('sorts by file, line, column and code, and reads each file once', () => {
    const fault = (file: string, line: number, column: number): Diagnostic =>
      diagnostic('SW4008', at(file, line, column, line, column), { what: 'it' });
    const twin = diagnostic('SW4006', at('b.ts', 1, 1, 1, 1), { cycle: 'a → a' });
    const sorted = [
      diagnostic('SW9001', undefined, { file: 'r.ts' }),
      fault('a.ts', 9, 1),
      twin,
      fault('b.ts', 1, 1),
      fault('b.ts', 1, 5),
      fault('b.ts', 2, 1),
      fault('b.ts', 10, 1),
    ];
    const shuffled = [4, 2, 6, 0, 5, 3, 1].map((index) => sorted[index]!);
    expect(sortDiagnostics(shuffled)).toEqual(sorted);
    const asked: string[] = [];
    formatDiagnostics(shuffled, (file) => {
      asked.push(file);
      return undefined;
    });
    expect(asked).toEqual(['a.ts', 'b.ts']);
  });

  test('prints as many as the limit says, and counts all', () => {
    const many = Array.from({ length: 53 }, (_, index) =>
      diagnostic('SW4008', at('a.ts', index + 1, 1, index + 1, 2), { what: `thing ${index}` }),
    );
    const warning: Diagnostic = { ...many[0]!, severity: 'warning' };
    const lines = print([...many, warning]).split('\n');
    expect(lines.filter((line) => line.includes('SW4008'))).toHaveLength(50);
    expect(lines.slice(-4)).toEqual(['… and 4 more problems', '', 'Found 53 errors and 1 warning.', '']);
    expect(print(many.slice(0, 2), {}, { limit: 1 })).toContain('… and 1 more problem\n\nFound 2 errors.\n');
    expect(print([])).toBe('');
  });

  test('colours on request, and changes nothing else', () => {
    const sources = { 'examples/logseq/add-todo.workflow.ts': `${'\n'.repeat(9)}const x = 1;` };
    const colored = print([forward], sources, { color: true });
    expect(colored).toContain('\u001b[31merror\u001b[39m');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what colours are
    expect(colored.replace(/\u001b\[\d+m/g, '')).toBe(print([forward], sources));
  });

  test('keeps texts with line breaks on their line', () => {
    const found = print([diagnostic('SW1001', undefined, { message: 'a\n\u001b[2Jb' })]);
    expect(found).toBe('error SW1001: syntax error: a \\u001b[2Jb\n\nFound 1 error.\n');
  });
});

describe('the frame', () => {
  test('counts tabs as four columns', () => {
    expect(frame('\tif\t(⟦a\tb⟧)')).toEqual(['  |', '1 |     if    (a    b)', '  |            ^^^^^^']);
  });

  test('knows every kind of line end and the byte order mark', () => {
    expect(frame('one\r\ntwo ⟦x⟧\r\nthree')).toEqual(['  |', '2 | two x', '  |     ^']);
    expect(frame('one\rtwo ⟦x⟧')).toEqual(['  |', '2 | two x', '  |     ^']);
    const place = at('a.ts', 1, 1, 1, 4);
    const found = print([diagnostic('SW4008', place, { what: 'it' })], { 'a.ts': '\ufeffabc d' });
    expect(found).toContain('1 | abc d\n  | ^^^\n');
  });

  test('gives wide characters two columns and marks none', () => {
    expect(frame('"日本" ⟦漢字⟧ x')).toEqual(['  |', '1 | "日本" 漢字 x', '  |        ^^^^']);
    expect(frame('\u{1f600}e\u0301 ⟦x⟧')).toEqual(['  |', '1 | \u{1f600}e\u0301 x', '  |     ^']);
  });

  test('marks a span of several lines to the end of its first one', () => {
    expect(frame('a ⟦{\n  b,\n⟧}')).toEqual(['  |', '1 | a {', '  |   ^']);
    expect(frame('call(⟦Tool, {  \r\n  b,\r\n}⟧)')).toEqual(['  |', '1 | call(Tool, {', '  |      ^^^^^^^']);
  });

  test('marks one column where the span is empty or beyond the line', () => {
    expect(frame('ab⟦⟧')).toEqual(['  |', '1 | ab', '  |   ^']);
    const found = print([diagnostic('SW4008', at('a.ts', 1, 90, 1, 99), { what: 'it' })], { 'a.ts': 'abc' });
    expect(found).toContain('1 | abc\n  |    ^\n');
  });

  test('shows nothing a terminal would act on', () => {
    expect(frame('a\u001b[31m\u202e ⟦b⟧')).toEqual([
      '  |',
      '1 | a\\u001b[31m\\u202e b',
      '  |                   ^',
    ]);
  });

  test('cuts long lines around the place', () => {
    const [, line, carets] = frame(`${'x'.repeat(300)}⟦here⟧${'y'.repeat(300)}`);
    expect(line).toBe(`1 | …${'x'.repeat(59)}here${'y'.repeat(95)}…`);
    expect(carets).toBe(`  | ${' '.repeat(60)}^^^^`);
    const [, wide, marks] = frame(`a ⟦${'漢'.repeat(200)}⟧ z`);
    expect(wide).toBe(`1 | a ${'漢'.repeat(78)}…`);
    expect(marks).toBe(`  |   ${'^'.repeat(157)}`);
  });
});
