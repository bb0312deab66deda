import { expect, test } from 'vitest';
import { listedTexts } from './listings.js';

const HOSTILE = 'Reads\u001b[2J a \u202efile\u200b\nof two lines';
const SHOWN = 'Reads\\u001b[2J a \\u202efile\\u200b\nof two lines';

test('titles and descriptions are readable, those in schemas among them, and data stays as it is', () => {
  const schema = (description: string) => ({
    type: 'object',
    properties: {
      default: { type: 'string', description, default: HOSTILE, enum: [HOSTILE] },
      description: { anyOf: [{ title: description }, { const: { description: HOSTILE } }] },
    },
    $defs: { const: { description } },
  });
  const tool = (text: string) => ({
    name: 'read',
    title: text,
    description: text,
    inputSchema: schema(text),
    annotations: { title: text },
    _meta: { description: HOSTILE },
  });
  expect(listedTexts([tool(HOSTILE)])).toEqual([tool(SHOWN)]);
});

test('a long text is cut, with a note', () => {
  const [listed] = listedTexts([{ description: 'x'.repeat(20_000) }]);
  expect(listed?.description).toBe(`${'x'.repeat(10_000)}… (cut: it has 20000 characters)`);
  const [escaped] = listedTexts([{ description: '\u202e'.repeat(9_000) }]);
  expect(escaped?.description).toMatch(/^(\\u202e)+… \(cut: it has 9000 characters\)$/);
});

test('an entry with nothing to change is the same object', () => {
  const entry = { description: 'Reads', inputSchema: { type: 'object', required: ['a'] } };
  expect(listedTexts([entry])[0]).toBe(entry);
});
