import { expect, test } from 'vitest';
import { SchemaCompiler } from '../formats/json-schema/schema-compiler.js';
import type { Json, JsonSchema } from './json.js';
import { boundSchema, inputsSchema, partSchema } from './part-schema.js';

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

test('a part that refers to the whole keeps the whole', () => {
  const tree = {
    type: 'object',
    properties: { name: { type: 'string' }, children: { type: 'array', items: { $ref: '#' } } },
    $defs: { List: { items: { $ref: '#/properties/children' } } },
  };
  const compiler = new SchemaCompiler();
  const fits = (schema: JsonSchema, value: Json) => compiler.check(schema, value).length === 0;
  const children = partSchema(tree.properties.children, tree);
  expect(fits(children, [{ name: 'a', children: [{ name: 'b' }] }])).toBe(true);
  expect(fits(children, [{ name: 'a', children: [{ name: 1 }] }])).toBe(false);
  const list = partSchema({ $ref: '#/$defs/List' }, tree);
  expect(fits(list, [[{ name: 'a' }]])).toBe(true);
  expect(fits(list, [[{ name: 1 }]])).toBe(false);
  expect(partSchema(tree.properties.name, tree)).toBe(tree.properties.name);
});

test('the arguments of a workflow keep what their references name', () => {
  const $defs = { Node: { type: 'object', properties: { next: { $ref: '#/$defs/Node' } } } };
  const input = {
    name: 'node',
    description: 'A node',
    required: true,
    schema: { $ref: '#/$defs/Node', $defs },
  };
  const schema = inputsSchema({ inputs: [input] });
  const compiler = new SchemaCompiler();
  expect(compiler.check(schema, { node: { next: { next: {} } } })).toEqual([]);
  expect(compiler.check(schema, { node: { next: 1 } })).toHaveLength(1);
});
