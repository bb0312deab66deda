import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { isNightly } from '../../../test/nightly.js';
import type { JsonObject } from '../../graph/json.js';
import { bodyText, jsonText, MASKED, oneLine } from '../../graph/printable-text.js';
import { maskedError, maskedThrown } from '../tools/exceptions.js';
import { Mask, maskedFailure, maskMembers, valuesOf } from './mask.js';

describe('Mask', () => {
  test('leaves no secret in a text or value that carries it, on one line or several', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[0-9a-f\n"\\]{12,20}$/), fc.string(), (secret, other) => {
        const mask = new Mask([{ deep: [secret] }]);
        expect(mask.text(`${other}${secret}!`)).not.toContain(secret);
        expect(mask.text(oneLine(`failed for ${secret}!`))).not.toContain(oneLine(secret));
        expect(JSON.stringify(mask.json({ [secret]: [secret, { deep: `a${secret}` }] }))).not.toContain(
          JSON.stringify(secret).slice(1, -1),
        );
      }),
    );
  });

  test('finds a secret in text that is encoded already', () => {
    const mask = new Mask(['key\u202e\n\u{e0041}end']);
    for (const encode of [oneLine, bodyText, (text: string) => jsonText({ text }, 2)])
      expect(mask.text(encode('my key\u202e\n\u{e0041}end!'))).toContain(`my ${MASKED}!`);
  });

  test('finds a secret in each of its encodings, one in another', () => {
    const inner = fc.string({ unit: fc.constantFrom(...'a%\\"n\nu41 +/&=éµ😀25E'), maxLength: 20 });
    const ends = fc.constantFrom('key', 'ä$', '(t0k');
    const json = (text: string): string => JSON.stringify(text).slice(1, -1);
    const ascii = (text: string): string =>
      json(text).replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
    const form = (text: string): string => new URLSearchParams({ k: text }).toString().slice(2);
    const strict = (text: string): string =>
      Array.from(Buffer.from(text), (byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
    const encoders = fc.constantFrom(encodeURIComponent, form, strict, json, ascii);
    fc.assert(
      fc.property(
        ends,
        inner,
        ends,
        fc.array(encoders, { maxLength: 3 }),
        (first, middle, last, encodings) => {
          const secret = first + middle + last;
          const encoded = encodings.reduce((text, encode) => encode(text), secret);
          expect(new Mask([secret]).text(`?k=${encoded}&x "${encoded}".`)).toBe(
            `?k=${MASKED}&x "${MASKED}".`,
          );
        },
      ),
      { numRuns: isNightly ? 2_000 : 200 },
    );
  });

  test('finds a secret in base64, between other bytes', () => {
    const secrets = fc.string({ unit: fc.constantFrom(...'a"é😀?>~'), minLength: 6, maxLength: 20 });
    fc.assert(
      fc.property(
        secrets,
        fc.string({ maxLength: 7 }),
        fc.string({ maxLength: 7 }),
        (secret, before, behind) => {
          const mask = new Mask([secret]);
          for (const bytes of [before + secret + behind, JSON.stringify({ [before]: secret, behind })])
            for (const alphabet of ['base64', 'base64url'] as const) {
              const encoded = Buffer.from(bytes).toString(alphabet);
              for (const text of [encoded, encodeURIComponent(encoded), JSON.stringify(encoded)]) {
                const shown = mask.text(`Basic ${text} sent`);
                expect(shown).toContain(MASKED);
                const rest = shown
                  .split(MASKED)
                  .map((part) => Buffer.from(decodeURIComponent(part), 'base64'));
                expect(rest.filter((each) => each.includes(secret.slice(2, -2)))).toEqual([]);
              }
            }
        },
      ),
    );
  });

  test('finds what shortening left of a secret in an encoding', () => {
    const secret = 'ключ "€uro" 😀 token';
    const mask = new Mask([secret]);
    for (const encode of [
      encodeURIComponent,
      JSON.stringify,
      (text: string) => encodeURIComponent(encodeURIComponent(text)),
    ]) {
      const encoded = encode(secret);
      const least = encode('ключ').length + 8;
      for (let length = least; length < encoded.length; length += 1) {
        const shown = mask.text(`<${encoded.slice(0, length)}…`);
        expect(shown.replace(/^<"?/, '')).toBe(`${MASKED}…`);
      }
    }
  });

  test('a backslash or a percent sign at the end of a secret may stay', () => {
    const mask = new Mask(['token\\', 'other%']);
    expect(mask.text(JSON.stringify({ a: 'token\\' }))).toMatch(/^\{"a":"••••\\*"\}$/);
    expect(mask.text(encodeURIComponent('other%20'))).not.toContain('other');
  });

  test('a text of one long escape takes no longer than its length', () => {
    const mask = new Mask(['some-secret']);
    for (const text of [
      '%25'.repeat(300_000),
      '\\'.repeat(900_000),
      '%C3'.repeat(300_000),
      '\\u'.repeat(400_000),
    ])
      expect(mask.text(text)).toBe(text);
  });

  test('a short secret is masked where it is a whole word', () => {
    const mask = new Mask(['a', 7]);
    expect(mask.json({ a: 'a', b: 'banana', c: [7, 77] })).toEqual({
      [MASKED]: MASKED,
      b: 'banana',
      c: [MASKED, 77],
    });
  });

  test('of secrets that hold each other the longer one is masked whole', () => {
    expect(new Mask(['pass', 'password']).text('my password')).toBe(`my ${MASKED}`);
  });

  test('what shortening left of a secret is masked as well', () => {
    fc.assert(
      fc.property(fc.integer({ min: 20, max: 60 }), (limit) => {
        const mask = new Mask(['hunter22-hunter22']);
        const shown = mask.text(oneLine(`no access with hunter22-hunter22 to this and that and more`, limit));
        expect(shown).not.toContain('hunt');
      }),
    );
    expect(new Mask(['hunter22']).text('a `hunt…` b `hun…` c')).toBe(`a \`${MASKED}…\` b \`hun…\` c`);
  });

  test('secrets that overlap or touch are masked as one', () => {
    const mask = new Mask(['abcdef', 'defghi']);
    expect(mask.text('-abcdefghi-')).toBe(`-${MASKED}-`);
    expect(mask.text('abcdefabcdef abcdef')).toBe(`${MASKED} ${MASKED}`);
  });

  test('a text that nearly repeats a long secret over and over is masked as a whole', () => {
    const mask = new Mask([`${'a'.repeat(100_000)}b`]);
    expect(mask.text(`${'a'.repeat(1_000_000)}c`)).toBe(MASKED);
    expect(mask.text(`${'c'.repeat(1_000_000)}`)).toBe('c'.repeat(1_000_000));
  });

  test('a long secret is masked in whole, and where it is cut', () => {
    const secret = Array.from({ length: 1_000 }, (_, index) => String.fromCharCode(97 + (index % 23))).join(
      '',
    );
    const mask = new Mask([secret]);
    expect(mask.text(`<${secret}>`)).toBe(`<${MASKED}>`);
    expect(mask.text(`<${secret.slice(0, 600)}…`)).toBe(`<${MASKED}…`);
  });

  test('masks what a search for every secret in every place would mask, whenever the secrets were added', () => {
    const letters = fc.constantFrom('a', 'b', '…');
    const texts = fc.string({ unit: letters, maxLength: 9 });
    fc.assert(
      fc.property(
        fc.array(texts, { maxLength: 6 }),
        fc.array(fc.string({ unit: letters, maxLength: 30 }), { minLength: 1, maxLength: 4 }),
        (secrets, shown) => {
          const mask = new Mask();
          for (const [count, secret] of secrets.entries()) {
            mask.add(secret);
            for (const text of shown)
              expect(mask.text(text)).toBe(searched(secrets.slice(0, count + 1), text));
          }
          expect(mask.isEmpty).toBe(secrets.every((secret) => secret === ''));
        },
      ),
      { numRuns: isNightly ? 1_000 : 100 },
    );
  });

  test('how many secrets there are makes no difference to the work of masking a text', () => {
    const visits = (count: number): number => {
      const mask = new Mask(
        Array.from({ length: count }, (_, index) => `secret-${String(index).padStart(7, '0')}`),
      );
      const text = 'no secret-0000x01 in a sentence'.repeat(10);
      const read = vi.spyOn(String.prototype, 'charCodeAt');
      mask.text(text);
      const calls = read.mock.calls.length;
      read.mockRestore();
      return calls;
    };
    const few = visits(10);
    expect(few).toBeGreaterThan(0);
    expect(visits(10_000)).toBeLessThan(1.5 * few);
  });

  test('true, false and null are too common to be secrets', () => {
    const mask = new Mask([true, false, null, '']);
    expect(mask.isEmpty).toBe(true);
    expect(mask.text('true')).toBe('true');
  });

  test('takes secrets out of what was thrown, stack and all', () => {
    const mask = new Mask(['hunter22']);
    expect(maskedThrown(new Error('no hunter22'), mask)).toMatch(/^Error: no ••••\n {4}at /);
    expect(maskedThrown('hunter22', mask)).toBe(MASKED);
    expect(maskedThrown(undefined, mask)).toBe('it threw undefined');
    const masked = maskedError(new TypeError('no hunter22'), mask);
    expect(masked).toMatchObject({ message: 'no ••••', stack: expect.not.stringContaining('hunter22') });
  });
});

describe('maskedFailure', () => {
  test('keeps the code, which is not an input', () => {
    const failure = {
      code: 'E_TOKEN',
      message: 'E_TOKEN is wrong',
      retryAfterMs: 5,
      details: { got: 'E_TOKEN' },
    };
    expect(maskedFailure(failure, new Mask(['E_TOKEN']))).toEqual({
      code: 'E_TOKEN',
      message: `${MASKED} is wrong`,
      retryAfterMs: 5,
      details: { got: MASKED },
    });
  });
});

describe('secret members', () => {
  const input: JsonObject = { token: { user: 'ada', key: 'k' }, title: 'x' };

  test('are masked whole', () => {
    expect(maskMembers(input, ['token', 'absent'])).toEqual({ token: MASKED, title: 'x' });
  });

  test('are found by their own names only', () => {
    expect(valuesOf(input, ['token', 'absent', 'constructor'])).toEqual([{ user: 'ada', key: 'k' }]);
  });
});

/** What {@link Mask.text} says, found in the plainest way there is. */
function searched(secrets: readonly string[], text: string): string {
  if (text !== '' && text.length < 4 && secrets.includes(text)) return MASKED;
  const hidden = new Set<number>();
  const hide = (from: number, to: number): void => {
    for (let at = from; at < to; at += 1) hidden.add(at);
  };
  for (const secret of secrets.filter(({ length }) => length >= 4)) {
    for (let at = 0; at < text.length; at += 1) {
      if (text.startsWith(secret, at)) hide(at, at + secret.length);
      for (let length = 4; length < secret.length; length += 1)
        if (text.startsWith(`${secret.slice(0, length)}…`, at)) hide(at, at + length);
    }
  }
  return [...text].map((char, at) => (!hidden.has(at) ? char : hidden.has(at - 1) ? '' : MASKED)).join('');
}
