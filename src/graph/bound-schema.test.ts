import { expect, test } from 'vitest';
import { boundSchema } from './json.js';

const hit = { type: 'object', properties: { id: { type: 'string' } } };

test('a wrapped result is bound without its wrapping, and keeps what its references name', () => {
  const wrapped = {
    type: 'object',
    properties: { result: { type: 'array', items: { $ref: '#/$defs/Hit' } } },
    required: ['result'],
    $defs: { Hit: hit },
    'x-fastmcp-wrap-result': true,
  };
  expect(boundSchema(wrapped)).toEqual({
    type: 'array',
    items: { $ref: '#/$defs/Hit' },
    $defs: { Hit: hit },
  });
});

test('any other result is bound as it is', () => {
  const plain = { type: 'object', properties: { result: hit } };
  expect(boundSchema(plain)).toBe(plain);
  const marked = { type: 'object', 'x-fastmcp-wrap-result': true };
  expect(boundSchema(marked)).toBe(marked);
});
