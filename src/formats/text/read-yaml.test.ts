import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isCollection, isPair, parseDocument } from 'yaml';
import { SourceText } from './located.js';
import { readYaml } from './read-yaml.js';
import { FILE_LIMITS } from './reading.js';

const LIMITS = { ...FILE_LIMITS, depth: 8 };

/** The refusals of a text by its limits and constructs, without faults of its syntax. */
function refusalOf(text: string, limits = LIMITS): string | undefined {
  const { diagnostics } = readYaml(new SourceText('f', text), limits);
  const refusals = diagnostics.filter(({ code }) => code === 'SW5001' || code === 'SW5003');
  return refusals.map(({ place, message }) => `${place?.span[1]}: ${message}`).join('\n') || undefined;
}

function depthOf(node: unknown): number {
  if (isPair(node)) return Math.max(depthOf(node.key), depthOf(node.value));
  return isCollection(node) ? 1 + Math.max(0, ...node.items.map(depthOf)) : 0;
}

const parsedDepth = (text: string): number =>
  depthOf(parseDocument(text, { uniqueKeys: false, logLevel: 'silent', strict: false }).contents);

describe('the reader of YAML', () => {
  test.each([
    ['brackets', '['.repeat(9)],
    ['braces', '{a: '.repeat(9)],
    ['lists on one line', '- '.repeat(9)],
    ['keys on one line', 'a: '.repeat(10)],
    ['explicit keys', '? '.repeat(9)],
    ['indentation', Array.from({ length: 9 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n')],
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
  ])('refuses %s that are nested too deep', (_, text) => {
    expect(refusalOf(text)).toMatch(/^\d+: the file has more than 8 levels of nesting$/);
  });

  test.each([
    ['brackets behind a text', `a: "]]]]" ${'['.repeat(9)}`],
    ['a text that ends early', `a: 'x\nb: ' y ' ${'['.repeat(9)}'`],
  ])('reports a fault of syntax in %s', (_, text) => {
    expect(refusalOf(text)).toBeUndefined();
    expect(readYaml(new SourceText('f', text), LIMITS).diagnostics[0]?.code).toBe('SW5002');
    expect(parsedDepth(text)).toBeLessThanOrEqual(8);
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
    expect(refusalOf(text)).toBeUndefined();
  });

  test('bounds tokens and aliases', () => {
    expect(refusalOf('[a, b, c]', { ...LIMITS, tokens: 5 })).toMatch(/more than 5 tokens/);
    expect(refusalOf('[*a, *b]', { ...LIMITS, aliases: 1 })).toBe('6: the file has more than 1 aliases');
    expect(refusalOf('a: b*c\nd: "*e"', { ...LIMITS, aliases: 0 })).toBeUndefined();
    expect(refusalOf('a: |\n  %x\nb: >\n  *x', { ...LIMITS, aliases: 0 })).toBeUndefined();
  });

  test('refuses directives', () => {
    expect(refusalOf('%YAML 1.1\n---\na: 1')).toMatch(/^1: a directive/);
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
        const isRefused = refusalOf(text, { ...LIMITS, depth: 3 })?.includes('levels of nesting') ?? false;
        // A pair in a list is a map.
        if (!isRefused) expect(parsedDepth(text)).toBeLessThanOrEqual(2 * 3 + 1);
      }),
      { numRuns: 5_000 },
    );
  });
});
