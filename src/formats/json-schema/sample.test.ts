import { expect, test } from 'vitest';
import type { JsonSchema } from '../../graph/json.js';
import { sampleOf } from './sample.js';
import { SchemaCompiler } from './schema-compiler.js';

const tree: JsonSchema = {
  $defs: {
    node: {
      type: 'object',
      properties: { name: { type: 'string' }, children: { type: 'array', items: { $ref: '#/$defs/node' } } },
      required: ['name', 'children'],
    },
  },
  $ref: '#/$defs/node',
};

test.each<[JsonSchema]>([
  [{ type: 'string' }],
  [{ type: 'string', minLength: 9 }],
  [{ type: 'string', format: 'date-time' }],
  [{ type: 'integer', minimum: 2 }],
  [{ type: 'integer', exclusiveMinimum: 2 }],
  [{ type: 'integer', exclusiveMaximum: -0.5 }],
  [{ type: 'number', maximum: -1 }],
  [{ type: 'number', exclusiveMinimum: 0, maximum: 0.5 }],
  [{ type: 'number', minimum: 5, exclusiveMaximum: 5.5 }],
  [{ type: 'boolean' }],
  [{ type: ['null', 'string'] }],
  [{ enum: ['b', 'a'] }],
  [{ const: 7 }],
  [{ type: 'string', default: 'x' }],
  [{ type: 'array', items: { type: 'boolean' }, minItems: 2 }],
  [{ type: 'object', properties: { a: { type: 'string' }, b: {} }, required: ['a'] }],
  [{ properties: { a: { type: 'number' } }, required: ['a'] }],
  [{ oneOf: [{ type: 'object', properties: { a: { const: 1 } }, required: ['a'] }, { type: 'null' }] }],
  [
    {
      allOf: [
        { type: 'object', required: ['a'] },
        { properties: { b: { type: 'string' } }, required: ['b'] },
      ],
    },
  ],
  [tree],
  [{}],
])('a sample of %j fits it', (schema) => {
  expect(new SchemaCompiler().check(schema, sampleOf(schema), 'usable')).toEqual([]);
});

test('a sample of a whole number within all that are safe is 0', () => {
  const safe = { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER };
  expect(sampleOf({ type: 'integer', ...safe })).toBe(0);
  expect(sampleOf({ type: 'number', minimum: -3 })).toBe(0);
});

test('a sample has required members alone, and ends in a schema that needs itself', () => {
  expect(sampleOf({ type: 'object', properties: { a: { type: 'string' } } })).toEqual({});
  const endless: JsonSchema = { type: 'object', properties: { next: { $ref: '#' } }, required: ['next'] };
  expect(JSON.stringify(sampleOf(endless)).length).toBeLessThan(200);
  expect(sampleOf({ $ref: '#/$defs/none' })).toBe(null);
});
