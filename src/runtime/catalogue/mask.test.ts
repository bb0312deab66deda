import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../graph/json.js';
import { bodyText, jsonText, oneLine } from './encode-text.js';
import { MASKED, Mask, maskedError, maskedFailure, maskMembers, valuesOf } from './mask.js';

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

  test('a short secret is masked where it stands alone', () => {
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

  test('true, false and null are too common to be secrets', () => {
    const mask = new Mask([true, false, null, '']);
    expect(mask.isEmpty).toBe(true);
    expect(mask.text('true')).toBe('true');
  });

  test('takes secrets out of what was thrown, stack and all', () => {
    const mask = new Mask(['hunter22']);
    expect(mask.thrown(new Error('no hunter22'))).toMatch(/^Error: no ••••\n {4}at /);
    expect(mask.thrown('hunter22')).toBe(MASKED);
    expect(mask.thrown(undefined)).toBe('it threw undefined');
    const masked = maskedError(new TypeError('no hunter22'), mask);
    expect(masked).toMatchObject({ message: 'no ••••', stack: expect.not.stringContaining('hunter22') });
  });
});

describe('maskedFailure', () => {
  test('keeps the code, which is nobody’s input', () => {
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
