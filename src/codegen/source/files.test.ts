import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { readFileText } from './files.js';

const folder = mkdtempSync(path.join(tmpdir(), 'files-'));
afterAll(() => rmSync(folder, { recursive: true }));
const file = path.join(folder, 'a.ts');

describe('readFileText', () => {
  test('gives text without its byte order mark', () => {
    writeFileSync(file, '\uFEFFconst a = 1;\r\n');
    expect(readFileText(file)).toEqual({ kind: 'text', text: 'const a = 1;\r\n' });
  });

  test('reports a path that is not a file', () => {
    expect(readFileText(path.join(folder, 'missing.ts'))).toEqual({ kind: 'unreadable' });
    expect(readFileText(folder)).toEqual({ kind: 'unreadable' });
  });

  test.each([
    ['latin1', Buffer.from('// ok\nconst caf\u00e9 = 1;', 'latin1'), [2, 10, 2, 11]],
    ['UTF-16', Buffer.from('\uFEFFconst a = 1;', 'utf16le'), [1, 1, 1, 2]],
    ['a character cut in two', Buffer.from('\u00e9').subarray(0, 1), [1, 1, 1, 2]],
  ])('says where %s begins', (_, bytes, span) => {
    writeFileSync(file, bytes);
    expect(readFileText(file)).toEqual({ kind: 'notUtf8', span });
  });

  test('finds a bad byte at any position', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (before, after) => {
        fc.pre(!before.startsWith('\uFEFF'));
        writeFileSync(file, Buffer.concat([Buffer.from(before), Buffer.from([0xff]), Buffer.from(after)]));
        const lines = before.split(/\r\n|[\n\r\u2028\u2029]/);
        const column = (lines.at(-1) ?? '').length + 1;
        expect(readFileText(file)).toEqual({
          kind: 'notUtf8',
          span: [lines.length, column, lines.length, column + 1],
        });
      }),
      { numRuns: 50 },
    );
  });
});
