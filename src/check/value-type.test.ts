import { describe, expect, test } from 'vitest';
import { SchemaCompiler } from '../formats/json-schema/schema-compiler.js';
import type { Json, JsonSchema } from '../graph/json.js';
import { rebased } from '../graph/part-schema.js';
import {
  ABSENT,
  ofJson,
  ofSchema,
  ofTypes,
  read,
  schemaOf,
  UNKNOWN,
  unionOf,
  type ValueType,
} from './value-type.js';

const tree: JsonSchema = {
  type: 'object',
  properties: { root: { $ref: '#/$defs/node' } },
  $defs: {
    node: {
      type: 'object',
      properties: { name: { type: 'string' }, 'a/b': { type: 'array', items: { $ref: '#/$defs/node' } } },
      required: ['name'],
    },
  },
};

describe('the schema of a type', () => {
  test.each<[string, ValueType, JsonSchema]>([
    ['nothing', UNKNOWN, {}],
    ['a type', ofTypes('string'), { type: 'string' }],
    ['several types', ofTypes('number', 'string'), { type: ['number', 'string'] }],
    ['what is absent', ABSENT, { type: 'null' }],
    ['a list of anything', { kind: 'list', item: UNKNOWN }, { type: 'array', items: {} }],
    [
      'a list: what is absent in it is null',
      { kind: 'list', item: ofTypes('string') },
      { type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'null' }] } },
    ],
    [
      'a list of what may be null',
      { kind: 'list', item: ofTypes('string', 'null') },
      { type: 'array', items: { type: ['string', 'null'] } },
    ],
    ['an object', ofJson({ a: 1 }), { type: 'object', properties: { a: { type: 'integer' } } }],
    [
      'one of two',
      unionOf(ofTypes('string'), ofJson([])),
      { anyOf: [{ type: 'string' }, { type: 'array', items: {} }] },
    ],
    ['a schema', ofSchema({ type: 'string', minLength: 1 }), { type: 'string', minLength: 1 }],
    ['a schema of anything', ofSchema({}), {}],
  ])('%s', (_, known, schema) => {
    expect(schemaOf(known, '#')).toEqual(schema);
  });

  test('references keep their targets at any position of the schema', () => {
    const node = read(ofSchema(tree), 'root');
    if (node.kind !== 'found') throw new Error('the tree has a root');
    const known: ValueType = {
      kind: 'dict',
      entries: new Map([['x/y', unionOf(ofTypes('boolean'), { kind: 'list', item: node.valueType })]]),
      isOpen: false,
    };
    const whole = { type: 'object', properties: { result: schemaOf(known, '#/properties/result') } };
    const accepts = (value: Json) =>
      new SchemaCompiler().check(whole, { result: { 'x/y': value } }).length === 0;
    expect(accepts(true)).toBe(true);
    expect(accepts([{ name: 'a', 'a/b': [{ name: 'b' }] }, null])).toBe(true);
    expect(accepts([{ name: 'a', 'a/b': [{}] }])).toBe(false);
  });
});

test('a schema with an identity of its own is left as it is', () => {
  const own = { $id: 'https://example.org/a', $ref: '#/$defs/b' };
  expect(rebased(own, '#/properties/x')).toEqual(own);
  expect(rebased({ items: { $ref: '#' }, $ref: 'https://example.org/a' }, '#/x')).toEqual({
    items: { $ref: '#/x' },
    $ref: 'https://example.org/a',
  });
});
