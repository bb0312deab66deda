import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json } from './json.js';
import { forbiddenIn, hostileText } from './printable-text.fixture.js';
import {
  cutText,
  durationText,
  elapsedText,
  escapeUnprintable,
  framedText,
  INLINE_LIMIT,
  inlineText,
  jsonText,
  logText,
  oneLine,
  singleLine,
} from './printable-text.js';

const JOINER = /[\u200c\u200d]/;

describe('escapeUnprintable', () => {
  test.each([
    ['plain “text”, naïve 👍 日本', 'plain “text”, naïve 👍 日本'],
    ['a\u0000b\u001b[31mc\u007fd\u0085e', 'a\\u0000b\\u001b[31mc\\u007fd\\u0085e'],
    ['a\u202eb\u2066c\u061cd\u200ee', 'a\\u202eb\\u2066c\\u061cd\\u200ee'],
    ['a\u200bb\u2060c\ufeffd\u00ade', 'a\\u200bb\\u2060c\\ufeffd\\u00ade'],
    ['a\u3164b\u115fc\u180ed', 'a\\u3164b\\u115fc\\u180ed'],
    // E0000 and E0002 have no name in Unicode, and are as invisible as the tags.
    ['\u{e0000}\u{e0002}\u{e0041}\u{e007f}', '\\udb40\\udc00\\udb40\\udc02\\udb40\\udc41\\udb40\\udc7f'],
    ['a\ud800b\udc00', 'a\\ud800b\\udc00'],
    ['a\r\n\tb\u2028c\u2029', 'a\\u000d\\u000a\\u0009b\\u2028c\\u2029'],
  ])('%j', (text, shown) => {
    expect(escapeUnprintable(text)).toBe(shown);
  });

  test('line breaks and tabs of several lines stay, a lone carriage return does not', () => {
    expect(escapeUnprintable('a\r\n\tb\nc\rd\u2028e\vf', 'keep')).toBe('a\r\n\tb\nc\\u000dd\\u2028e\\u000bf');
  });

  test.each([
    ['Persian', 'می\u200cخواهم'],
    ['Hindi', 'क्\u200dष'],
    ['a family', '👩\u200d👩\u200d👧'],
    ['a couple', '👩\u200d❤\ufe0f\u200d👨'],
    ['a profession in a skin tone', '👩🏽\u200d🚀'],
    ['a key', '1\ufe0f\u20e3'],
    ['an ideograph in one of its forms', '葛\u{e0100}'],
  ])('joiners and selectors stay in %s', (_name, text) => {
    expect(escapeUnprintable(text)).toBe(text);
  });

  test.each([
    ['at the ends', '\u200da\u200c', '\\u200da\\u200c'],
    ['beside blanks and digits', 'a \u200db1\u200d2', 'a \\u200db1\\u200d2'],
    ['one after the other', 'a\u200d\u200db', 'a\\u200d\\u200db'],
    ['beside an invisible letter', '\u3164\u200da', '\\u3164\\u200da'],
    ['selectors in a row', '😀\ufe0f\ufe00\u{e0101}', '😀\ufe0f\\ufe00\\udb40\\udd01'],
  ])('joiners and selectors are escaped %s', (_name, text, shown) => {
    expect(escapeUnprintable(text)).toBe(shown);
  });

  test('nothing invisible comes out, and twice is as good as once', () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        const shown = escapeUnprintable(text);
        expect(forbiddenIn(shown)).toEqual([]);
        expect(escapeUnprintable(shown)).toBe(shown);
        const kept = escapeUnprintable(text, 'keep');
        expect(forbiddenIn(kept, true)).toEqual([]);
        expect(kept.split('\n').length).toBe(text.split('\n').length);
        if (!JOINER.test(text)) expect(shown).not.toMatch(JOINER);
      }),
    );
  });

  test('JSON stays equal by value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
        const text = JSON.stringify(value as Json);
        expect(JSON.parse(escapeUnprintable(text))).toEqual(JSON.parse(text));
      }),
    );
  });
});

test('singleLine makes one space of every break and escapes the rest', () => {
  expect(singleLine('a\r\n\tb\u2028c\u2029\u0085\u00a0d\u0000\u001b[31me')).toBe(
    'a b c d\\u0000\\u001b[31me',
  );
});

describe('cutText', () => {
  test('does not split a surrogate pair', () => {
    expect(cutText('a𝒳b', 2)).toBe('a');
    expect(cutText('a𝒳b', 3)).toBe('a𝒳');
  });

  test('does not split an escape', () => {
    expect(Array.from({ length: 9 }, (_, length) => cutText('a\\u202eb', length))).toEqual([
      '',
      ...Array(6).fill('a'),
      'a\\u202e',
      'a\\u202eb',
    ]);
    expect(cutText('a\\users', 3)).toBe('a\\u');
  });
});

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

describe('a length of time', () => {
  test.each([
    [0, '0 ms'],
    [350, '350 ms'],
    [1_500, '1.5 s'],
    [60_000, '1 min'],
    [90_061_001, '1 day 1 h 1 min 1.001 s'],
    [86_400_000, '1 day'],
    [1_209_600_000, '14 days'],
  ])('%i ms is exact, in units for people', (ms, text) => expect(durationText(ms)).toBe(text));

  test('keeps each millisecond', () => {
    const units: Readonly<Record<string, number>> = {
      ms: 1,
      s: 1e3,
      min: 6e4,
      h: 36e5,
      day: 864e5,
      days: 864e5,
    };
    const length = (text: string) =>
      text.split(/(?<=[a-z]) /).reduce((sum, part) => {
        const [count, unit = ''] = part.split(' ');
        return sum + Math.round(Number(count) * (units[unit] ?? Number.NaN));
      }, 0);
    fc.assert(
      fc.property(fc.nat({ max: 4e11 }), (ms) => {
        expect(length(durationText(ms))).toBe(ms);
      }),
    );
  });

  test.each([
    [999, '999 ms'],
    [4_183, '4.2 s'],
    [59_960, '1 min'],
    [185_400, '3 min 5 s'],
    [100_800_123, '1 day 4 h'],
  ])('%i ms that were measured are rounded', (ms, text) => expect(elapsedText(ms)).toBe(text));
});
