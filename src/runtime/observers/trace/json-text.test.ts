import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json } from '../../../graph/json.js';
import { jsonText, limited, RESULT_LIMIT } from './json-text.js';

describe('jsonText', () => {
  test('is JSON of the value, on one line whatever the texts in it', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
        const text = jsonText(value as Json);
        expect(text).not.toMatch(/[\n\r\u0085\u2028\u2029\u202e]/);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });
});

describe('limited', () => {
  test('cuts what is too long and names the full size', () => {
    expect(limited('x'.repeat(RESULT_LIMIT))).toEqual({ text: 'x'.repeat(RESULT_LIMIT) });
    expect(limited('x'.repeat(RESULT_LIMIT + 1))).toEqual({
      text: 'x'.repeat(RESULT_LIMIT),
      size: RESULT_LIMIT + 1,
    });
    const pairs = `x${'𝒳'.repeat(RESULT_LIMIT)}`;
    expect(limited(pairs).text).not.toMatch(/\p{Cs}/u);
  });
});
