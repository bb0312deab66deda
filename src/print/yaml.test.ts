import { expect, test } from 'vitest';
import { yamlText } from './workflow-data.js';

test('lists and objects are blocks, and texts are quoted unless they are plain words', () => {
  const value = {
    name: 'book-flight',
    empty: [],
    none: {},
    words: ['yes', 'no', '1', 'a: b', '# c', 'line\nbreak', '', '-', 'plain'],
    nested: [{ id: 1, list: [[true, null], ['x']] }, {}],
    'a key': { on: 1.5 },
  };
  expect(yamlText(value)).toBe(`name: book-flight
empty: []
none: {}
words:
  - "yes"
  - "no"
  - "1"
  - "a: b"
  - "# c"
  - "line\\nbreak"
  - ""
  - "-"
  - plain
nested:
  - id: 1
    list:
      - - true
        - null
      - - x
  - {}
"a key":
  "on": 1.5
`);
});

test('a value without a block is one line', () => {
  expect([yamlText('x'), yamlText(null), yamlText([])]).toEqual(['x\n', 'null\n', '[]\n']);
});
