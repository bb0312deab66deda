import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { forbiddenIn, hostileText } from '../printable-text.fixture.js';
import type { SourceLocation } from '../source-location.js';
import { type Diagnostic, diagnostic } from './diagnostic.js';
import { formatDiagnostics, formatGithub, formatJson } from './format.js';

const bound: SourceLocation = { file: 'src/add-todo.workflow.ts', span: [14, 11, 14, 16] };
const found: readonly Diagnostic[] = [
  diagnostic(
    'SW3011',
    { file: 'src/b.ts', span: [2, 3, 4, 1], pointer: '/inputs/0' },
    { name: 'x', workflow: 'w' },
  ),
  diagnostic(
    'SW3004',
    { file: 'src/add-todo.workflow.ts', span: [10, 93, 10, 98] },
    { name: 'later', step: 'a' },
    { related: [{ message: 'bound here', place: bound }] },
  ),
  diagnostic('SW9001', undefined, { file: 'r.ts' }),
];
/** Everything that means something to one of the formats. */
const hostile = diagnostic(
  'SW1001',
  { file: 'a,b:c%.ts', span: [1, 1, 1, 2] },
  { message: '100%\r\n::error::"x"\u2028 ü' },
);

describe('formatJson', () => {
  test('prints one object a line, sorted by place', () => {
    expect(formatJson(found)).toBe(
      [
        '{"code":"SW9001","severity":"error","message":"`r.ts` is stale","hint":"run `stepwright codegen` and commit the result","related":[]}',
        '{"code":"SW3004","severity":"error","message":"`later` is bound after `a`","file":"src/add-todo.workflow.ts","line":10,"column":93,"endLine":10,"endColumn":98,"hint":"move `later` above `a`","related":[{"message":"bound here","file":"src/add-todo.workflow.ts","line":14,"column":11,"endLine":14,"endColumn":16}]}',
        '{"code":"SW3011","severity":"warning","message":"argument `x` of workflow `w` is never used","file":"src/b.ts","line":2,"column":3,"endLine":4,"endColumn":1,"pointer":"/inputs/0","hint":"use `this.x`, or remove the argument","related":[]}',
        '',
      ].join('\n'),
    );
  });

  test('keeps every diagnostic on its line, as it is', () => {
    const [line, ...rest] = formatJson([hostile]).split('\n');
    expect(rest).toEqual(['']);
    expect(JSON.parse(line ?? '')).toMatchObject({ file: 'a,b:c%.ts', message: hostile.message });
    expect(formatJson([])).toBe('');
  });
});

describe('formatGithub', () => {
  test('prints one command a line, with columns where the span is on one line', () => {
    expect(formatGithub(found)).toBe(
      [
        '::error title=SW9001::`r.ts` is stale%0Ahint: run `stepwright codegen` and commit the result',
        '::error file=src/add-todo.workflow.ts,line=10,col=93,endColumn=98,title=SW3004::`later` is bound after `a`%0Abound here: src/add-todo.workflow.ts:14:11%0Ahint: move `later` above `a`',
        '::warning file=src/b.ts,line=2,endLine=4,title=SW3011::argument `x` of workflow `w` is never used%0Ahint: use `this.x`, or remove the argument',
        '',
      ].join('\n'),
    );
  });

  test('escapes what would end a property or a command', () => {
    expect(formatGithub([hostile])).toBe(
      '::error file=a%2Cb%3Ac%25.ts,line=1,col=1,endColumn=2,title=SW1001::syntax error: 100%25 ::error::"x" ü\n',
    );
    expect(formatGithub([])).toBe('');
  });
});

test('nothing in a diagnostic hides, reorders or erases what is printed, in any format', () => {
  fc.assert(
    fc.property(hostileText, hostileText, (name, source) => {
      const place: SourceLocation = { file: `${name}.ts`, span: [1, 2, 1, 4] };
      const related = [{ message: name, place }];
      const found = [diagnostic('SW1001', place, { message: name }, { related, hint: name })];
      const pretty = formatDiagnostics(found, () => source);
      expect(forbiddenIn(pretty, true)).toEqual([]);
      expect(pretty.replaceAll('\n', '')).not.toMatch(/[\r\t]/);
      // Title, frame, related place, hint; a blank line and the count.
      expect([5, 8]).toContain(pretty.trimEnd().split('\n').length);
      const [line, ...rest] = formatJson(found).split('\n');
      expect(forbiddenIn(line ?? '')).toEqual([]);
      expect(JSON.parse(line ?? '')).toMatchObject({ file: place.file, message: found[0]?.message });
      const [command, ...more] = formatGithub(found).split('\n');
      expect(forbiddenIn(command ?? '')).toEqual([]);
      expect([rest, more]).toEqual([[''], ['']]);
    }),
  );
});
