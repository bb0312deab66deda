import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readPattern } from './regular-expression.js';
import { SchemaCompiler } from './schema-compiler.js';

/** Whether a pattern is found; fails for one that cannot be read. */
function found(source: string, text: string): boolean {
  const read = readPattern(source);
  if (!read.ok) throw new Error(`${source} ${read.why}`);
  return read.pattern.test(text);
}

const why = (source: string): string => {
  const read = readPattern(source);
  return read.ok ? 'it can be used' : read.why;
};

/** Characters the two engines, or the modes of one, might see differently. */
const CHARACTERS = [...'ab_0.-[]/^$|\\', 'é', '😀', '\ud83d', ' ', '\t', '\n', '\r', '\v', '\b', '\0'].concat(
  ['\u00a0', '\u1680', '\u180e', '\u2003', '\u2028', '\u2029', '\u3000', '\ufeff'],
);
const text = fc.array(fc.constantFrom(...CHARACTERS), { maxLength: 6 }).map((parts) => parts.join(''));

const atom = fc.constantFrom(
  ...[
    'a',
    'b',
    '.',
    '\\.',
    '\\s',
    '\\S',
    '\\d',
    '\\D',
    '\\w',
    '\\W',
    '\\b',
    '\\B',
    '^',
    '$',
    '[^]',
    '\\/',
    '\\0',
    '\\cI',
  ],
  ...[
    '[\\s]',
    '[^\\s]',
    '[\\S]',
    '[^\\S]',
    '[.]',
    '[\\]a]',
    '[[a]',
    '[\\[]',
    '[\\b]',
    '[\\-a]',
    '[a-b0]',
    '[^\\d.]',
    '\\[.\\]',
  ],
  ...[
    '\\u00e9',
    '\\u{1F600}',
    '\\ud83d\\ude00',
    '[\\ud83d\\ude00]',
    '😀',
    '\\x61',
    '\\v',
    '\\p{L}',
    '\\P{L}',
    '[\\p{Lu}_]',
  ],
);
const pattern = fc.letrec<{ pattern: string }>((tie) => ({
  pattern: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    atom,
    fc.tuple(tie('pattern'), tie('pattern')).map(([left, right]) => `${left}${right}`),
    fc.tuple(tie('pattern'), tie('pattern')).map(([left, right]) => `(?:${left}|${right})`),
    fc
      .tuple(tie('pattern'), fc.constantFrom('*', '+', '?', '*?', '{0,2}', '{2}', '{1,}'))
      .map(([inner, count]) => `(?:${inner})${count}`),
    tie('pattern').map((inner) => `(${inner})`),
  ),
})).pattern;

describe('a pattern', () => {
  test('matches where ECMAScript matches', () => {
    fc.assert(
      fc.property(pattern, text, (source, subject) => {
        expect(found(source, subject)).toBe(new RegExp(source, 'u').test(subject));
      }),
      { numRuns: 2_000 },
    );
  });

  test('is matched in linear time where backtracking is exponential', () => {
    for (const source of ['^(a+)+$', '^(a|a)*$', '^(a|aa)+$', '(a*)*b', '^(\\w+\\s?)*$']) {
      expect(found(source, `${'a'.repeat(20_000)}!`)).toBe(false);
    }
  });

  test.each(['(?=a)', '(?!a)', '(?<=a)b', '(?<!a)b', '(a)\\1', '(?<n>a)\\k<n>', 'a{1001}', '\\p{ASCII}'])(
    'is refused where time could grow faster than the text: %s',
    (source) => {
      expect(why(source)).toMatch(/^cannot be matched in linear time: /);
    },
  );

  test.each(['(', '[', 'a**', '(?i)a', '\\-', '\\A', '[[:alpha:]]', 'a++'])(
    'is refused where ECMAScript has no such: %s',
    (source) => {
      expect(why(source)).toMatch(/^is not a regular expression: /);
    },
  );
});

describe('a schema with a pattern that cannot be matched in linear time', () => {
  const schema = { type: 'object', properties: { a: { type: 'string', pattern: '^(?!b)' } } };

  test('is not used', () => {
    const compiler = new SchemaCompiler();
    expect(compiler.faults(schema)).toEqual([
      { pointer: '/properties/a/pattern', problem: expect.stringContaining('linear time') },
    ]);
    expect(() => compiler.check(schema, {})).toThrow('linear time');
  });

  test('is used without it if the author checks the same values', () => {
    const compiler = new SchemaCompiler();
    expect(compiler.faults(schema, 'usable')).toEqual([]);
    expect(compiler.check(schema, { a: 'b' }, 'usable')).toEqual([]);
    expect(compiler.check(schema, { a: 5 }, 'usable')).toHaveLength(1);
  });
});
