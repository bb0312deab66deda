import { expect, test } from 'vitest';
import { toolsFrom } from './read-tools.js';

const tool = { name: 'search', inputSchema: { type: 'object' } };

test.each([[[tool]], [{ tools: [tool] }], [{ jsonrpc: '2.0', id: 1, result: { tools: [tool] } }]])(
  'reads a list of tools from %j',
  (given) => {
    expect(toolsFrom(given)).toEqual([tool]);
  },
);

test.each([[null], ['search'], [{}], [{ tools: 1 }], [[{ description: 'without a name' }]], [[1]]])(
  '%j is not a list of tools',
  (given) => {
    expect(toolsFrom(given)).toBeUndefined();
  },
);

test('reads hints of the tool itself and of its `_meta`, without what has the wrong type', () => {
  const hints = { category: 'search', next: ['book', 1], hint: 5, requires: 'x' };
  const expected = { category: 'search', next: ['book'] };
  expect(toolsFrom([{ ...tool, hints }])?.[0]?.hints).toEqual(expected);
  expect(toolsFrom([{ ...tool, _meta: { 'stepwright/hints': hints } }])?.[0]?.hints).toEqual(expected);
});
