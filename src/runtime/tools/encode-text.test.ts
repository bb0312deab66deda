import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json } from '../../graph/json.js';
import { forbiddenIn, hostileText } from '../../graph/printable-text.fixture.js';
import { framedText, jsonText, logText, oneLine } from './encode-text.js';

describe('oneLine', () => {
  test('breaks of every kind become one space', () => {
    expect(oneLine(' a\r\n\tb\u2028c\u2029\u0085d ')).toBe('a b c d');
  });

  test('what does not show is written out', () => {
    expect(oneLine('a\u202eb\u200bc\u001b[31m')).toBe('a\\u202eb\\u200bc\\u001b[31m');
  });

  test('is never longer than its limit, nor of several lines, nor of half characters', () => {
    fc.assert(
      fc.property(hostileText, fc.integer({ min: 1, max: 20 }), (text, limit) => {
        const line = oneLine(text, limit);
        expect(line.length).toBeLessThanOrEqual(limit);
        expect(forbiddenIn(line)).toEqual([]);
      }),
    );
  });

  test('a cut is marked', () => {
    expect(oneLine('abcdef', 4)).toBe('abc…');
    expect(oneLine('abcd', 4)).toBe('abcd');
  });
});

describe('framedText', () => {
  test('the fence is longer than any in the text', () => {
    expect(framedText('From x', 'a\n````\nb')).toBe('From x (8 characters):\n`````\na\n````\nb\n`````');
  });

  test('a text may hold any number of fences', () => {
    expect(framedText('From x', '```\n'.repeat(300_000))).toMatch(
      /^From x \(1200000 characters\):\n````\n```\n/,
    );
  });

  test('a reader finds exactly the text that was framed', () => {
    fc.assert(
      fc.property(hostileText, hostileText, (text, after) => {
        const framed = `${framedText('From x', text)}\n${after}`;
        const [, length, fence = ''] = /^From x \((\d+) characters\):\n(`{3,})\n/.exec(framed) ?? [];
        const start = framed.indexOf(fence) + fence.length + 1;
        const body = framed.slice(start, framed.indexOf(`\n${fence}\n`, start - 1));
        expect(body.length).toBe(Number(length));
        expect(body).not.toContain(fence);
        expect(forbiddenIn(body, true)).toEqual([]);
      }),
    );
  });
});

test('jsonText is JSON of the value, on one line whatever the texts in it', () => {
  const value = fc.oneof(
    hostileText,
    fc.jsonValue({ stringUnit: 'binary' }),
    fc.dictionary(hostileText, hostileText),
  );
  fc.assert(
    fc.property(value, (given) => {
      const text = jsonText(given as Json);
      expect(forbiddenIn(text)).toEqual([]);
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(given)));
      expect(JSON.parse(jsonText(given as Json, 2))).toEqual(JSON.parse(text));
    }),
  );
});

test('logText leaves one line at the margin', () => {
  fc.assert(
    fc.property(hostileText, (text) => {
      const [, ...more] = logText(text).split(/\r\n|[\n\r\v\f\u0085\u2028\u2029]/);
      expect(more.every((line) => /^[ \t]/.test(line))).toBe(true);
      expect(forbiddenIn(logText(text), true)).toEqual([]);
    }),
  );
});
