import { expect, test } from 'vitest';
import { shownTool } from './listings.js';

const tool = (hints: object, more = {}) => ({
  name: 'read-note',
  description: 'Reads',
  inputSchema: { type: 'object' },
  _meta: { ...more, 'stepwright/hints': { ...hints } },
});

test('hints name no tool that is hidden from the caller', () => {
  const isShown = (name: string) => name !== 'write-note';
  const hinted = tool({ category: 'notes', next: ['write-note', 'find-note'], requires: ['write-note'] });
  expect(shownTool(hinted, isShown)).toEqual(tool({ category: 'notes', next: ['find-note'] }));
  const { _meta, ...bare } = tool({});
  expect(shownTool(tool({ next: ['write-note'] }), isShown)).toEqual(bare);
  expect(shownTool(tool({ next: ['write-note'] }, { own: 1 }), isShown)).toEqual({
    ...bare,
    _meta: { own: 1 },
  });
  expect(shownTool(bare, isShown)).toBe(bare);
});

test('a description ends with the hints that the caller sees', () => {
  const hinted = tool({ category: 'notes', next: ['write-note', 'find-note'] });
  expect(shownTool(hinted, (name) => name !== 'write-note', true).description).toBe(
    'Reads\n  ├─ Category: notes\n  └─ Next: find-note',
  );
  expect(shownTool(tool({ next: ['write-note'] }), () => false, true).description).toBe('Reads');
});
