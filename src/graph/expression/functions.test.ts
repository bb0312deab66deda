import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { indexOf, split } from './functions.js';

const few = fc.string({ unit: fc.constantFrom('a', 'b', '\ud83d', '\ude00'), maxLength: 12 });

describe('indexOf', () => {
  test('finds what JavaScript finds', () => {
    fc.assert(
      fc.property(
        few,
        fc.string({ unit: fc.constantFrom('a', 'b', '\ude00'), maxLength: 4 }),
        fc.nat(14),
        (text, part, from) => {
          expect(indexOf(text, part, from)).toBe(text.indexOf(part, from));
        },
      ),
      { numRuns: 2000 },
    );
  });

  test('takes as many steps as there are characters, whatever the pattern', () => {
    const half = 'a'.repeat(50_000);
    expect(indexOf('a'.repeat(400_000), `${half}b${half}`)).toBe(-1);
  });
});

describe('split', () => {
  test('splits as JavaScript does', () => {
    const limits = fc.constantFrom(0, 1, 2, 3, 2 ** 32 - 1);
    fc.assert(
      fc.property(
        few,
        fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 3 }),
        limits,
        (text, by, limit) => {
          expect(split(text, by, limit)).toEqual(text.split(by, limit));
        },
      ),
      { numRuns: 2000 },
    );
  });
});
