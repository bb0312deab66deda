import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type KeptText, parseKept, printKept } from './kept-texts.js';

const anyText = fc.record({ mark: fc.string({ unit: 'binary' }), body: fc.json() });
const anySection = fc.array(fc.tuple(fc.string({ unit: 'binary' }), anyText), { maxLength: 5 });

describe('kept texts', () => {
  test('come back as they were, under their marks alone', () => {
    fc.assert(
      fc.property(anySection, anySection, fc.string(), (files, workflows, key) => {
        const kept = parseKept(printKept({ key }, { files, workflows }), key);
        for (const [section, texts] of Object.entries({ files, workflows })) {
          const found = kept?.section(section);
          for (const [name, text] of new Map<string, KeptText>(texts)) {
            expect(found?.get(name, text.mark)).toEqual(text);
            expect(found?.get(name, `${text.mark}.`)).toBeUndefined();
          }
        }
        expect(kept?.section('others').get('a', 'b')).toBeUndefined();
      }),
    );
  });

  test('of other software are not read', () => {
    const text = printKept({ key: 'a' }, { files: [['x', { mark: 'm', body: '1' }]] });
    expect(parseKept(text, 'b')).toBeUndefined();
    expect(parseKept(text, 'a')?.section('files').get('x', 'm')).toEqual({ mark: 'm', body: '1' });
  });
});
