import { describe, expect, test } from 'vitest';
import { type Diagnostic, diagnostic } from '../graph/diagnostics/diagnostic.js';
import type { SourceLocation } from '../graph/source-location.js';
import { applyIgnores, InternalError, workingOn } from './diagnostics.js';
import { SourceHost } from './source/source-host.js';
import type { IgnoreSyntax } from './syntax.js';

const at = (line: number, file = 'a.ts'): SourceLocation => ({ file, span: [line, 5, line, 9] });
const unused = (line: number, file?: string): Diagnostic =>
  diagnostic('SW3011', at(line, file), { name: 'x', workflow: 'w' });
const ignore = (text: string, first: number, last = first): IgnoreSyntax => ({
  place: at(first),
  text,
  lines: [first, last],
});
const said = (found: readonly Diagnostic[], ignores: readonly IgnoreSyntax[]): string[] =>
  applyIgnores(found, ignores).map(({ code, place }) => `${code} ${place?.span[0]}`);

describe('a comment that silences', () => {
  test('a warning of its lines leaves the others', () => {
    const found = [unused(3), unused(4), unused(5), unused(4, 'b.ts')];
    expect(said(found, [ignore('SW3011: kept for clients of old', 4)])).toEqual([
      'SW3011 3',
      'SW3011 5',
      'SW3011 4',
    ]);
    expect(said(found.slice(0, 3), [ignore('SW3011: why', 3, 5)])).toEqual([]);
  });

  test.each([
    ['', 'SW9012'],
    ['SW3011', 'SW9012'],
    ['SW3011:', 'SW9012'],
    ['SW3011: ', 'SW9012'],
    ['SW3011 because', 'SW9012'],
    [': why', 'SW9012'],
    ['SW3O11: why', 'SW9010'],
    ['constructor: why', 'SW9010'],
    ['SW3001: why', 'SW9011'],
  ])('and says `%s` is at fault and silences nothing', (text, code) => {
    expect(said([unused(3)], [ignore(text, 3)])).toEqual(['SW3011 3', `${code} 3`]);
  });

  test('nothing is a warning, unless errors kept checks from running', () => {
    const needless = ignore('SW3010: why', 3);
    expect(said([], [needless])).toEqual(['SW9013 3']);
    expect(said([unused(3)], [needless])).toEqual(['SW3011 3', 'SW9013 3']);
    const error = diagnostic('SW3001', at(9), { name: 'x' });
    expect(said([error], [needless])).toEqual(['SW3001 9']);
  });

  test('suggests the code that was meant', () => {
    const [fault] = applyIgnores([], [ignore('SW30111: why', 3)]);
    expect(fault?.hint).toBe('did you mean `SW3011`?');
  });
});

describe('the comments of a file', () => {
  const read = (text: string): readonly (readonly [text: string, first: number, last: number])[] =>
    new SourceHost({ root: '/virtual', files: ['a.ts'], overlay: new Map([['a.ts', text]]) })
      .ignores()
      .map((each) => [each.text, ...each.lines]);

  test('apply to their own line, or to the lines below them down to the name', () => {
    const text = `class A {
  a = 1; // stepwright-ignore SW3011: at its end
  // stepwright-ignore SW3012: above
  b = 2;
  // stepwright-ignore SW3013: above a decorator
  // and more words
  @D({
    x: 1,
  })
  c = [
    3,
  ];
  /* stepwright-ignore SW3014: of another form */ d = 4;
  e = x
    ? // stepwright-ignore SW3016: above an arm
      5
    : 6; // stepwright-ignore SW3017: behind an arm
}
// stepwright-ignore SW3015: at the end
`;
    expect(read(text)).toEqual([
      ['SW3011: at its end', 2, 2],
      ['SW3012: above', 4, 4],
      ['SW3013: above a decorator', 7, 10],
      ['SW3014: of another form', 13, 13],
      ['SW3016: above an arm', 15, 16],
      ['SW3017: behind an arm', 17, 17],
      ['SW3015: at the end', 20, 20],
    ]);
  });

  test('are those that begin with the name', () => {
    const text = [
      "const a = '// stepwright-ignore SW1: text';",
      // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of a template
      'const b = `${a} // stepwright-ignore SW2: template`;',
      'const c = /[/]/ // stepwright-ignore SW3: after a regular expression',
      '// see stepwright-ignore SW4: prose',
      '// stepwright-ignored SW5: another word',
      '//stepwright-ignore',
    ];
    expect(read(text.join('\r\n')).map(([rest]) => rest)).toEqual(['SW3: after a regular expression', '']);
  });
});

describe('workingOn', () => {
  test('names the innermost source, and keeps the error as its cause', () => {
    const cause = new RangeError('Maximum call stack size exceeded');
    const fail = (): never => {
      throw cause;
    };
    const act = () => workingOn({ file: 'a.ts' }, () => workingOn({ file: 'a.ts', className: 'A' }, fail));
    expect(act).toThrow(InternalError);
    expect(act).toThrow(expect.objectContaining({ cause, subject: { file: 'a.ts', className: 'A' } }));
    expect(() => workingOn({ file: 'a.ts', className: '' }, fail)).toThrow(
      expect.objectContaining({ message: cause.message, subject: { file: 'a.ts' } }),
    );
  });

  test('returns what the function returns', () => {
    expect(workingOn({ file: 'a.ts' }, () => 1)).toBe(1);
  });
});
