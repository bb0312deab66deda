import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonObject, JsonSchema } from '../../graph/json.js';
import { combinatorsOf, flatSchema } from './flat-schema.js';
import { SchemaCompiler } from './schema-compiler.js';

const closed = (
  properties: JsonObject,
  required: readonly string[] = Object.keys(properties),
): JsonObject => ({
  type: 'object',
  properties,
  required: [...required],
  additionalProperties: false,
});
const text = { type: 'string' };
const constant = (value: string) => ({ type: 'string', const: value });

describe('combinatorsOf', () => {
  test('names those at the top alone', () => {
    expect(combinatorsOf({ type: 'object', properties: { a: { anyOf: [text] } } })).toEqual([]);
    expect(combinatorsOf({ type: 'object', oneOf: [], allOf: [] })).toEqual(['oneOf', 'allOf']);
  });
});

describe('flatSchema', () => {
  test('a schema without combinators stays the same', () => {
    const schema = closed({ a: text });
    expect(flatSchema(schema)).toBe(schema);
  });

  test('a discriminated union becomes an object with the fields of all its members', () => {
    const schema = {
      type: 'object',
      title: 'Note',
      oneOf: [
        closed({ by: constant('id'), id: { type: 'integer' } }),
        closed({ by: constant('name'), name: text, exact: { type: 'boolean' } }, ['by', 'name']),
      ],
    };
    expect(flatSchema(schema)).toEqual({
      type: 'object',
      title: 'Note',
      properties: {
        by: { type: 'string', enum: ['id', 'name'] },
        id: { type: 'integer' },
        name: text,
        exact: { type: 'boolean' },
      },
      required: ['by'],
      additionalProperties: false,
    });
  });

  test('a field of two types takes both', () => {
    const flat = flatSchema({
      type: 'object',
      anyOf: [closed({ a: text }), closed({ a: { type: 'number' } })],
    });
    expect(flat.properties).toEqual({ a: { anyOf: [text, { type: 'number' }] } });
  });

  test('parts of `allOf` are all required, and `unevaluatedProperties` closes the whole', () => {
    const parts = [
      { type: 'object', properties: { a: text }, required: ['a'] },
      { type: 'object', properties: { b: text }, required: ['b'] },
    ];
    expect(flatSchema({ type: 'object', allOf: parts, unevaluatedProperties: false })).toEqual({
      type: 'object',
      properties: { a: text, b: text },
      required: ['a', 'b'],
      additionalProperties: false,
    });
  });

  test('`unevaluatedProperties` closes no form that takes further fields', () => {
    const forms = [{ type: 'object', additionalProperties: true }];
    expect(flatSchema({ type: 'object', anyOf: forms, unevaluatedProperties: false })).toEqual({
      type: 'object',
      properties: {},
    });
  });

  test('references are followed, also to the schema itself', () => {
    const schema: JsonSchema = {
      type: 'object',
      anyOf: [{ $ref: '#/$defs/leaf' }, closed({ children: { type: 'array', items: { $ref: '#' } } })],
      $defs: { leaf: closed({ value: text }) },
    };
    expect(flatSchema(schema)).toMatchObject({
      properties: { value: text, children: { items: { $ref: '#' } } },
      additionalProperties: false,
      $defs: schema.$defs,
    });
    expect(flatSchema({ type: 'object', anyOf: [{ $ref: '#' }] })).toEqual({
      type: 'object',
      properties: {},
    });
  });

  test('property: it takes every value that the schema takes', () => {
    const schemas = new SchemaCompiler();
    const name = fc.constantFrom('a', 'b', 'c');
    const field = fc.constantFrom<JsonObject[]>(text, constant('x'), { type: 'integer' }, { enum: ['x', 1] });
    const properties = fc.dictionary(name, field, { noNullPrototype: true });
    const required = fc.uniqueArray(name, { maxLength: 1 });
    const leaf = fc
      .record({ properties, required }, { requiredKeys: [], noNullPrototype: true })
      .map((fields): JsonObject => ({ type: 'object', ...fields, additionalProperties: false }));
    const head = fc.record(
      { type: fc.constant('object'), properties, required, unevaluatedProperties: fc.constant(false) },
      { requiredKeys: ['type'], noNullPrototype: true },
    );
    const { form } = fc.letrec<{ form: JsonObject }>((tie) => ({
      form: fc
        .tuple(
          head,
          fc.constantFrom('oneOf', 'anyOf', 'allOf'),
          fc.array(fc.oneof({ maxDepth: 2 }, leaf, tie('form')), { minLength: 1, maxLength: 3 }),
        )
        .map(([own, keyword, forms]) => ({ ...own, [keyword]: forms })),
    }));
    const value = fc.dictionary(name, fc.constantFrom('x', 'y', 1), { noNullPrototype: true });
    let accepted = 0;
    fc.assert(
      fc.property(form, fc.array(value, { minLength: 5, maxLength: 5 }), (schema, values) => {
        const flat = flatSchema(schema);
        expect(combinatorsOf(flat)).toEqual([]);
        for (const each of values) {
          if (schemas.check(schema, each).length > 0) continue;
          accepted += 1;
          expect(schemas.check(flat, each)).toEqual([]);
        }
      }),
      { numRuns: 200 },
    );
    expect(accepted).toBeGreaterThan(50);
  });
});
