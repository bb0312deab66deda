import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { patternOf } from './regular-expression.js';

const pattern = (expression: RegExp): string => {
  const written = patternOf(expression);
  return written.ok ? written.pattern : `! ${written.why}`;
};

describe('a regular expression as a pattern of JSON Schema', () => {
  test.each<[RegExp, string]>([
    [/^[a-f]{4}$/, '^[a-f]{4}$'],
    [/^[a-f]{4}$/i, '^[a-fA-F]{4}$'],
    [/^abc$/i, '^[aA][bB][cC]$'],
    [/^abc-1$/i, '^[aA][bB][cC]-1$'],
    [/[^a-cX]/i, '[^a-cA-CXx]'],
    [/^\w+\.é$/i, '^\\w+\\.[éÉ]$'],
    [/k/iu, '[kK\u212a]'],
    [/\w/iu, '[\\w\\u017f\\u212a]'],
    [/a.b/s, 'a[\\s\\S]b'],
    [/abc/dg, 'abc'],
    [/abc/y, '^(?:abc)'],
    [/abc/m, 'abc'],
    [/^[\w-.]+$/, '^[\\w\\-.]+$'],
    [/a{,2}]/, 'a\\{,2\\}\\]'],
    [/(?<year>\d{4})-(?:0[1-9])/i, '(?<year>\\d{4})-(?:0[1-9])'],
    [/^\u00e9\x41$/i, '^[\\u00e9É][\\x41a]$'],
  ])('%s is written %s', (expression, written) => {
    expect(pattern(expression)).toBe(written);
  });

  test.each<[RegExp, string]>([
    [/^a$/m, 'the flag `m`'],
    [/\p{Lu}/iu, 'without the flag `i`'],
    [/(a)\1/i, 'without the flag `i`'],
    [/[\u0100-\uffff]/i, 'too long'],
  ])('%s is refused', (expression, why) => {
    expect(pattern(expression)).toContain(why);
  });

  test('reads escapes that only a pattern without the flag `u` may hold', () => {
    expect(patternOf({ source: '\\-\\@[\\@\\-]', flags: '' })).toEqual({ ok: true, pattern: '-@[@\\-]' });
    expect(patternOf({ source: '\\p{L}', flags: 'i' })).toMatchObject({
      ok: false,
      why: expect.stringContaining('needs the flag `u`'),
    });
    expect(patternOf({ source: '[\\p{L}--[a-z]]', flags: 'v' })).toMatchObject({
      ok: false,
      why: expect.stringContaining('the flag `v`'),
    });
  });

  const atom = fc.constantFrom(
    ...[
      'a',
      'K',
      's',
      '\\-',
      '\\@',
      '.',
      '\\w',
      '\\d',
      '\\s',
      '[a-c]',
      '[^K]',
      '[\\w-.]',
      '[A-z]',
      '[\\]k-]',
    ],
    ...['é', '\\u00e9', '[à-ü]', '[^é-ë]', '\\x6b', '[\\x6b]', '(?:a|S)', '{', ']', '\\/', '[µΣ]', 'ς'],
  );
  const source = fc
    .array(fc.tuple(atom, fc.constantFrom('', '?', '+')), { minLength: 1, maxLength: 4 })
    .map((parts) => parts.map(([text, count]) => `${text}${count}`).join(''));
  const text = fc
    .array(fc.constantFrom(...'aAkKsScCzZ_^[{]}-.@/\u017f\u212aéÉàÀüÜµμΜσςΣ1 \n'), { maxLength: 5 })
    .map((parts) => parts.join(''));

  test('matches what the expression matches', () => {
    fc.assert(
      fc.property(
        source,
        fc.constantFrom('', 'i', 's', 'is', 'u', 'iu', 'g', 'y', 'iy'),
        text,
        (own, flags, subject) => {
          let expression: RegExp;
          try {
            expression = new RegExp(own, flags);
          } catch {
            return;
          }
          const written = patternOf(expression);
          if (!written.ok) return;
          expect([
            own,
            flags,
            subject,
            written.pattern,
            new RegExp(written.pattern, 'u').test(subject),
          ]).toEqual([own, flags, subject, written.pattern, expression.test(subject)]);
        },
      ),
      { numRuns: 3_000 },
    );
  });
});
