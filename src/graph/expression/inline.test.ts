import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { INLINE_LIMIT, inlineText } from './inline.js';

describe('inlineText', () => {
  test.each([
    ['Fix “login”, naïve 👍', 'Fix “login”, naïve 👍'],
    ['a\r\n\tb', 'a\\u000d\\u000a\\u0009b'],
    ['a\u2028b\u202ec\u200bd\ufeff', 'a\\u2028b\\u202ec\\u200bd\\ufeff'],
    ['a\u{e0041}\ud800', 'a\\udb40\\udc41\\ud800'],
  ])('%j', (text, shown) => {
    expect(inlineText(text)).toBe(shown);
  });

  test('gives one line of at most so many characters, whatever comes in', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 700, size: 'max' }), (text) => {
        const shown = inlineText(text);
        expect(shown).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
        expect(shown.length).toBeLessThanOrEqual(INLINE_LIMIT);
      }),
    );
  });

  test('cuts between characters, not within one', () => {
    expect(inlineText('a'.repeat(INLINE_LIMIT))).toBe('a'.repeat(INLINE_LIMIT));
    expect(inlineText('a'.repeat(INLINE_LIMIT + 1))).toBe(`${'a'.repeat(INLINE_LIMIT - 1)}…`);
    expect(inlineText(`${'a'.repeat(INLINE_LIMIT - 2)}\n\n`)).toBe(`${'a'.repeat(INLINE_LIMIT - 2)}…`);
  });
});
