import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseSnapshot, snapshotOf, snapshotText } from './snapshot.js';

const listing = {
  server: { version: '1', name: 'files' },
  tools: [
    { name: 'write', inputSchema: { type: 'object', required: ['b', 'a'], properties: { b: {}, a: {} } } },
    { name: 'read', description: 'Reads', inputSchema: { type: 'object' } },
  ],
};

describe('a snapshot', () => {
  test('is sorted by tools and keys, and keeps the order of lists', () => {
    expect(snapshotText(snapshotOf(listing))).toBe(`{
  "server": {
    "name": "files",
    "version": "1"
  },
  "snapshotVersion": 1,
  "tools": [
    {
      "description": "Reads",
      "inputSchema": {
        "type": "object"
      },
      "name": "read"
    },
    {
      "inputSchema": {
        "properties": {
          "a": {},
          "b": {}
        },
        "required": [
          "b",
          "a"
        ],
        "type": "object"
      },
      "name": "write"
    }
  ]
}
`);
  });

  test('is the same for the same tools in any order, and is read back', () => {
    const tool = fc.record({ name: fc.string(), inputSchema: fc.dictionary(fc.string(), fc.jsonValue()) });
    fc.assert(
      fc.property(fc.uniqueArray(tool, { selector: ({ name }) => name }), (tools) => {
        const of = (each: typeof tools) => snapshotText(snapshotOf({ ...listing, tools: each as never }));
        expect(of([...tools].reverse())).toBe(of(tools));
        expect(snapshotText(parseSnapshot(of(tools)) as never)).toBe(of(tools));
      }),
    );
  });

  test.each([
    '{',
    '[]',
    '{}',
    '{"snapshotVersion":2,"server":{},"tools":[]}',
    '{"snapshotVersion":1,"tools":[]}',
  ])('is not %s', (text) => {
    expect(parseSnapshot(text)).toBeUndefined();
  });
});
