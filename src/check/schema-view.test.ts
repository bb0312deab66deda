import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonSchema } from '../graph/json.js';
import { requiredKeys, stepInto, typesIn, viewOf } from './schema-view.js';

/** What is known after a path: types, `unknown`, or `missing` with the keys there are. */
function look(schema: JsonSchema, ...path: (string | number)[]): string {
  let view = viewOf(schema);
  for (const key of path) {
    const step = stepInto(view, key);
    if (step.kind === 'missing') return `missing (${step.keys.join(' ')})`;
    view = step.view;
  }
  return [...(typesIn(view) ?? ['unknown'])].join(' ');
}

const page: JsonSchema = {
  type: 'object',
  properties: { title: { type: 'string' }, parent: { $ref: '#/$defs/page' }, __proto__x: {} },
  required: ['title'],
  additionalProperties: false,
};

describe('stepInto', () => {
  test('reads properties of closed and open objects', () => {
    expect(look(page, 'title')).toBe('string');
    expect(look(page, 'titel')).toBe('missing (title parent __proto__x)');
    expect(look(page, 'constructor')).toBe('missing (title parent __proto__x)');
    expect(look({ type: 'object', properties: { a: {} } }, 'b')).toBe('unknown');
    expect(look({ type: 'object', additionalProperties: { type: 'number' } }, 'any')).toBe('number');
    expect(look({ type: 'object', patternProperties: { '^x': {} }, additionalProperties: false }, 'b')).toBe(
      'unknown',
    );
    expect(look({ type: 'object', allOf: [page], unevaluatedProperties: false }, 'title')).toBe('unknown');
  });

  test('reads items, tuples and lengths', () => {
    const list: JsonSchema = { type: 'array', items: page };
    expect(look(list, 0, 'title')).toBe('string');
    expect(look(list, '7', 'nope')).toBe('missing (title parent __proto__x)');
    expect(look(list, 'length')).toBe('integer');
    expect(look(list, 'title')).toBe('missing (length)');
    expect(look(list, -1)).toBe('missing (length)');
    const tuple: JsonSchema = { type: 'array', prefixItems: [{ type: 'null' }], items: false };
    expect(look(tuple, 0)).toBe('null');
    expect(look(tuple, 1)).toBe('missing (length)');
    expect(look({ type: 'string' }, 0)).toBe('string');
    expect(look({ type: 'string' }, 'trim')).toBe('missing (length)');
  });

  test('nothing is read from scalars', () => {
    for (const type of ['null', 'boolean', 'integer', 'number'])
      expect(look({ type }, 'x')).toBe('missing ()');
    expect(look({ const: 5 }, 'x')).toBe('missing ()');
    expect(look({ enum: ['a', null] }, 'length')).toBe('integer');
  });

  test('a key that one alternative has is there', () => {
    const union: JsonSchema = {
      anyOf: [
        page,
        { type: 'null' },
        { type: 'object', properties: { id: { type: 'number' } }, additionalProperties: false },
      ],
    };
    expect(look(union, 'title')).toBe('string');
    expect(look(union, 'id')).toBe('number');
    expect(look(union, 'x')).toBe('missing (title parent __proto__x id)');
    expect(look({ anyOf: [page, {}] }, 'x')).toBe('unknown');
    expect(look({ type: ['object', 'null'], properties: {}, additionalProperties: false }, 'x')).toBe(
      'missing ()',
    );
  });

  test('follows local references, recursive ones included', () => {
    const schema: JsonSchema = {
      $ref: '#/$defs/page',
      $defs: { page, loop: { $ref: '#/$defs/loop' }, 'a/b': page },
    };
    expect(look(schema, 'parent', 'parent', 'title')).toBe('string');
    expect(look(schema, 'parent', 'parent', 'x')).toBe('missing (title parent __proto__x)');
    expect(look({ ...schema, $ref: '#/$defs/a~1b' }, 'title')).toBe('string');
    expect(look({ ...schema, $ref: '#/$defs/loop' }, 'x')).toBe('missing ()');
    expect(look({ ...schema, $ref: '#/$defs/none' }, 'x')).toBe('unknown');
    expect(look({ ...schema, $ref: 'https://example.org/page' }, 'x')).toBe('unknown');
    expect(look({ ...schema, $ref: '#/__proto__' }, 'x')).toBe('unknown');
  });

  test('keywords that are not followed make a value unknown', () => {
    expect(look({}, 'x')).toBe('unknown');
    expect(look({ allOf: [page] }, 'x')).toBe('unknown');
    expect(look({ properties: { a: {} }, additionalProperties: false }, 'x')).toBe('unknown');
  });

  test('never throws, whatever the schema says', () => {
    fc.assert(
      fc.property(
        fc.dictionary(schemaKeys, fc.jsonValue()),
        fc.array(fc.oneof(fc.string(), fc.integer())),
        (schema, path) => {
          expect(typeof look(schema as JsonSchema, ...path)).toBe('string');
        },
      ),
    );
  });
});

const schemaKeys = fc.constantFrom(
  'type',
  'properties',
  'items',
  'anyOf',
  '$ref',
  'enum',
  'const',
  'prefixItems',
  'required',
);

describe('requiredKeys', () => {
  test('are those of every alternative', () => {
    expect(requiredKeys(viewOf(page))).toEqual(['title']);
    expect(requiredKeys(viewOf({ anyOf: [page, { type: 'object', required: ['a', 'title'] }] }))).toEqual([
      'title',
    ]);
    expect(requiredKeys(viewOf({ anyOf: [page, { type: 'object' }] }))).toEqual([]);
    expect(requiredKeys(viewOf({}))).toEqual([]);
  });
});
