import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { lineOfBlock, oneLine, printBlock, taskBlock } from '../../../examples/logseq/block.js';

const ID = '6532a1c0-8a53-4c6e-9a0e-0f4d2b1f7a01';

describe('taskBlock', () => {
  test.each([
    ['Fix login bug', 'Fix login bug'],
    ['  two\r\nlines\tand\u2028more ', 'two lines and more'],
    ['x\n- DONE forged\nid:: forged', 'x - DONE forged id:: forged'],
    ['ask [[Ada]] about [[Website/Login]]', 'ask [[Ada]] about [[Website/Login]]'],
    ['close ]] before [[ it opens', 'close \\]\\] before \\[\\[ it opens'],
    ['{{renderer :evil}}', '\\{\\{renderer :evil\\}\\}'],
  ])('%j is written as %j', (task, written) => {
    expect(taskBlock(ID, 'Website', task).text).toBe(`TODO [[Website]] ${written}`);
  });

  test('whatever was typed, a block is one bullet and one property', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary' }),
          fc
            .array(fc.constantFrom('\n', '\r', '- ', 'id:: ', '[[', ']]', '{{', 'x', '\t', '\u2029'))
            .map((a) => a.join('')),
        ),
        fc.constantFrom('\n' as const, '\r\n' as const),
        (task, lineEnd) => {
          const printed = printBlock(taskBlock(ID, 'Website', task), lineEnd);
          expect(printed.split(/[\r\n\u2028\u2029\v\f\u0085]+/u)).toEqual([
            expect.stringMatching(/^- TODO \[\[Website\]\]/),
            `  id:: ${ID}`,
            '',
          ]);
        },
      ),
    );
  });
});

describe('lineOfBlock', () => {
  test('is the line of the bullet that holds the id', () => {
    const text = `- a\n\t- b\n\t  c:: d\n\t  id:: ${ID}\n- e\n`;
    expect(lineOfBlock(text, ID)).toBe(2);
    expect(lineOfBlock(text.replaceAll('\n', '\r\n'), ID)).toBe(2);
  });

  test('an id inside a text is not found', () => {
    expect(lineOfBlock(`- see id:: ${ID}\n`, ID)).toBeUndefined();
  });
});

test('oneLine leaves no white space but single spaces', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(oneLine(text)).toMatch(/^$|^[^\s\p{Cc}]+( [^\s\p{Cc}]+)*$/u);
    }),
  );
});
