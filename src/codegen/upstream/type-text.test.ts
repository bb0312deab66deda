import { describe, expect, test } from 'vitest';
import type { JsonSchema } from '../../graph/json.js';
import { docComment, typeText } from './type-text.js';

describe('the type of a schema', () => {
  test.each<[string, JsonSchema, string]>([
    ['a text', { type: 'string', minLength: 1 }, 'string'],
    ['a whole number', { type: 'integer' }, 'number'],
    ['anything', {}, 'unknown'],
    ['a constant', { const: "it's" }, `"it's"`],
    ['choices', { enum: ['a', 2, null] }, `'a' | 2 | null`],
    ['several types', { type: ['string', 'null'] }, 'string | null'],
    [
      'alternatives',
      { anyOf: [{ type: 'string' }, { type: 'number' }, { type: 'string' }] },
      'string | number',
    ],
    ['an alternative that is anything', { oneOf: [{ type: 'string' }, {}] }, 'unknown'],
    ['a list', { type: 'array', items: { type: 'string' } }, 'readonly string[]'],
    ['a list of anything', { type: 'array' }, 'readonly unknown[]'],
    [
      'a list of alternatives',
      { type: 'array', items: { type: ['string', 'number'] } },
      'readonly (string | number)[]',
    ],
    [
      'a list of lists',
      { type: 'array', items: { type: 'array', items: { type: 'string' } } },
      'readonly (readonly string[])[]',
    ],
    [
      'a tuple',
      { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }], items: false },
      'readonly [string, number]',
    ],
    [
      'a tuple with more',
      { type: 'array', prefixItems: [{ type: 'string' }], items: { type: 'number' } },
      'readonly [string, ...number[]]',
    ],
    ['an object without properties', { type: 'object' }, '{ readonly [key: string]: unknown }'],
    ['a closed object without any', { type: 'object', additionalProperties: false }, 'Record<never, never>'],
    [
      'a dictionary',
      { type: 'object', additionalProperties: { type: 'number' } },
      '{ readonly [key: string]: number }',
    ],
    [
      'an intersection',
      { allOf: [{ type: 'object' }, { enum: ['a', 'b'] }, {}] },
      `{ readonly [key: string]: unknown } & ('a' | 'b')`,
    ],
    ['a reference', { $ref: '#/$defs/Name', $defs: { Name: { type: 'string' } } }, 'string'],
    ['a reference to nothing', { $ref: '#/$defs/Name' }, 'unknown'],
    ['a reference to elsewhere', { $ref: 'https://example.com/schema' }, 'unknown'],
  ])('of %s', (_, schema, text) => {
    expect(typeText(schema)).toBe(text);
  });

  test('of an object has its properties, with their descriptions', () => {
    const schema = {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'Where\n it is */' },
        'max-depth': { type: 'integer' },
        limit: { type: 'integer', default: 10 },
        filter: { type: 'object', properties: { name: { type: 'string' } } },
      },
      required: ['path', 'limit'],
    };
    expect(typeText(schema)).toBe(`{
  /** Where it is *\\/ */
  readonly path: string;
  readonly 'max-depth'?: number;
  readonly limit?: number;
  readonly filter?: {
    readonly name?: string;
  };
}`);
  });

  test('ends where a schema contains itself', () => {
    const node = { type: 'object', properties: { children: { type: 'array', items: { $ref: '#' } } } };
    expect(typeText(node)).toBe(`{
  readonly children?: readonly {
    readonly children?: readonly unknown[];
  }[];
}`);
  });
});

test('a comment is one line that nothing in it ends', () => {
  expect(docComment('a\n  b */ c')).toBe('/** a b *\\/ c */');
  expect([docComment(' '), docComment(undefined)]).toEqual([undefined, undefined]);
});
