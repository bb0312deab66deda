import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json } from '../../graph/json.js';
import { isWithin, jsonSize } from './json-size.js';

test('is the size of the JSON text', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (any) => {
      const text = JSON.stringify(any);
      expect(jsonSize(JSON.parse(text) as Json, Number.POSITIVE_INFINITY)).toBe(Buffer.byteLength(text));
    }),
  );
});

test('is above the limit exactly where the text is', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.nat(60), (any, limit) => {
      const text = JSON.stringify(any);
      expect(jsonSize(JSON.parse(text) as Json, limit) > limit).toBe(Buffer.byteLength(text) > limit);
      expect(isWithin(JSON.parse(text) as Json, limit)).toBe(Buffer.byteLength(text) <= limit);
    }),
  );
});

test('a value whose text no string can hold has a size all the same', () => {
  const shared = 'x'.repeat(1_000_000);
  expect(jsonSize(Array<Json>(1_000).fill(shared), 1_000)).toBeGreaterThan(1_000_000_000);
});
