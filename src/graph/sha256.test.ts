import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sha256Hex } from './sha256.js';

function expected(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}

describe('sha256Hex', () => {
  test('hashes the UTF-8 bytes of any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(sha256Hex(text)).toBe(expected(text));
      }),
    );
  });

  test.each(['a\ud800b', '\udc00', 'a\ud83d'])('takes half a surrogate pair for U+FFFD: %j', (text) => {
    expect(sha256Hex(text)).toBe(expected(text));
  });

  test('hashes texts around the sizes at which blocks and chunks end', () => {
    const ends = [0, 55, 56, 64, 119, 120, 128, 4_095, 4_096, 4_097, 8_192, 12_345];
    for (const length of ends) {
      for (const unit of ['a', 'ä', '語', '\u{1f600}']) {
        const text = `x${unit.repeat(length)}`;
        expect(sha256Hex(text)).toBe(expected(text));
        expect(sha256Hex(text.slice(1))).toBe(expected(text.slice(1)));
      }
    }
  });
});
