import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cutText, oneLine } from './one-line.js';

/** Half a surrogate pair. */
const LONE = /\p{Cs}/u;

describe('oneLine', () => {
  test('breaks of every kind become one space', () => {
    expect(oneLine(' a\r\n\tb\u2028c\u2029\u0085\u0000d ')).toBe('a b c d');
  });

  test('marks of direction are written out', () => {
    expect(oneLine('a\u202eb\u2066c\u061c')).toBe('a\\u202eb\\u2066c\\u061c');
  });

  test('is never longer than its limit, nor of several lines, nor half a character', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 40 }),
        fc.integer({ min: 1, max: 20 }),
        (text, limit) => {
          const line = oneLine(text, limit);
          expect(line.length).toBeLessThanOrEqual(limit);
          expect(line).not.toMatch(/[\n\r\u0085\u2028\u2029]/);
          if (!LONE.test(text)) expect(line).not.toMatch(LONE);
        },
      ),
    );
  });

  test('a cut is marked', () => {
    expect(oneLine('abcdef', 4)).toBe('abc…');
    expect(oneLine('abcd', 4)).toBe('abcd');
  });
});

test('cutText does not split a surrogate pair', () => {
  expect(cutText('a𝒳b', 2)).toBe('a');
  expect(cutText('a𝒳b', 3)).toBe('a𝒳');
});
