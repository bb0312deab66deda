import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isCollection, isPair, parseDocument } from 'yaml';
import { FILE_LIMITS } from './limits.js';
import { scanYaml } from './scan-yaml.js';

const LIMITS = { ...FILE_LIMITS, depth: 8 };

function depthOf(node: unknown): number {
  if (isPair(node)) return Math.max(depthOf(node.key), depthOf(node.value));
  return isCollection(node) ? 1 + Math.max(0, ...node.items.map(depthOf)) : 0;
}

const parsedDepth = (text: string): number =>
  depthOf(parseDocument(text, { uniqueKeys: false, logLevel: 'silent', strict: false }).contents);

describe('the scan of YAML', () => {
  test.each([
    ['brackets', '['.repeat(9)],
    ['braces', '{a: '.repeat(9)],
    ['lists on one line', '- '.repeat(9)],
    ['keys on one line', 'a: '.repeat(10)],
    ['explicit keys', '? '.repeat(9)],
    ['indentation', Array.from({ length: 9 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n')],
    ['brackets behind a text', `a: "]]]]" ${'['.repeat(9)}`],
    ['brackets behind a comment', `a: [ # ]]]]\n${'['.repeat(9)}`],
    ['a comment without a blank', `[# ]\n , ${'['.repeat(9)}`],
    ['a block text that ends early', `b: >\n  x\n ${'['.repeat(9)}`],
    ['a text behind an alias', `*x, ': ${'['.repeat(9)}`],
    ['a text of two lines', `:>\n  >: ${'['.repeat(9)}`],
    ['a block text behind a late indicator', `}? |\n${'['.repeat(9)}`],
    ['an empty block text', `b:\n >\n\n${'['.repeat(9)}`],
    ['brackets within a text', `,\n [ 'b: ${'['.repeat(9)}`],
    ['a block text without indentation', `b: c\n|\n[\n${'['.repeat(9)}`],
    ['brackets that end early', `[[\n- ${'? '.repeat(9)}`],
    ['a block text on a line of its own', `- \n   : >\n  >\n  ${'['.repeat(9)}`],
    ['a text that goes on', `[a\n 'b ${'['.repeat(9)} ' ]`],
    ['a text that ends early', `a: 'x\nb: ' y ' ${'['.repeat(9)}'`],
  ])('refuses %s that are nested too deep', (_, text) => {
    expect(scanYaml(text, LIMITS)?.why).toEqual({ kind: 'limit', what: 'levels of nesting', limit: 8 });
  });

  test.each([
    ['a text in quotes', `a: "${'['.repeat(99)}"`],
    ['a plain text', `a: b ${'['.repeat(99)}`],
    ['a comment', `a: b # ${'['.repeat(99)}`],
    ['a block text', `a: |\n  ${'['.repeat(99)}\n  ${'- '.repeat(99)}\nb: 1`],
    ['a block text in a list', `- a\n- |\n  ${"it's [".repeat(99)}\n  ${'- '.repeat(99)}\n- b`],
    ['many lists', 'a: [b, {c: d}]\n'.repeat(99)],
    ['a list over lines', 'a: [\n  [b],\n  {c: [d]}\n]\n'.repeat(99)],
    ['a text with an apostrophe', `a: it's [\n`.repeat(99)],
  ])('accepts %s', (_, text) => {
    expect(scanYaml(text, LIMITS)).toBeUndefined();
  });

  test('bounds tokens and aliases', () => {
    expect(scanYaml('[a, b, c]', { ...LIMITS, tokens: 5 })?.why).toMatchObject({ what: 'tokens' });
    expect(scanYaml('[*a, *b]', { ...LIMITS, aliases: 1 })).toEqual({
      offset: 5,
      why: { kind: 'limit', what: 'aliases', limit: 1 },
    });
    expect(scanYaml('a: b*c\nd: "*e"', { ...LIMITS, aliases: 0 })).toBeUndefined();
  });

  test('refuses directives', () => {
    expect(scanYaml('%YAML 1.1\n---\na: 1', LIMITS)?.why.kind).toBe('construct');
  });

  test('finds every nesting that the parser finds', () => {
    const piece = fc.constantFrom(
      ...[
        '[',
        '{',
        ']',
        '}',
        ', ',
        ': ',
        ':',
        '- ',
        '? ',
        "'",
        '"',
        '\n',
        '\n ',
        '\n   ',
        ' ',
        'a',
        'b: ',
        '|',
        '>',
      ],
      ...[
        '# ',
        '\\',
        '&x ',
        '*x',
        '!t ',
        '\n- ',
        '[[[[',
        '{{{',
        "''",
        '\t',
        '---\n',
        '\r\n',
        ' #',
        '|\n',
        '>\n  ',
      ],
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        const text = pieces.join('');
        if (scanYaml(text, { ...LIMITS, depth: 3 }) === undefined)
          expect(parsedDepth(text)).toBeLessThanOrEqual(12);
      }),
      { numRuns: 5_000 },
    );
  });
});
