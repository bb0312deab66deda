import { describe, expect, test } from 'vitest';
import type { JsonSchema } from '../../graph/json.js';
import { currentSchema } from './dialect.js';
import { SchemaCompiler } from './schema-compiler.js';

const DRAFT_04 = 'http://json-schema.org/draft-04/schema#';
const DRAFT_07 = 'http://json-schema.org/draft-07/schema#';
const DRAFT_2019 = 'https://json-schema.org/draft/2019-09/schema';
const DRAFT_2020 = 'https://json-schema.org/draft/2020-12/schema';

const compiler = new SchemaCompiler();
const fits = (schema: JsonSchema, value: unknown): boolean => {
  expect(compiler.faults(schema)).toEqual([]);
  return compiler.check(schema, value).length === 0;
};

/** A schema, values that fit it, and values that do not. */
const CASES: readonly (readonly [string, JsonSchema, readonly unknown[], readonly unknown[]])[] = [
  [
    'a list of items of draft 7',
    {
      $schema: DRAFT_07,
      properties: {
        l: { type: 'array', items: [{ type: 'string' }, { type: 'number' }], additionalItems: false },
      },
    },
    [{ l: ['a', 1] }, { l: ['a'] }],
    [{ l: [1, 'a'] }, { l: ['a', 1, 2] }],
  ],
  [
    'a list of items without a dialect',
    { items: [{ type: 'string' }], additionalItems: { type: 'number' } },
    [['a', 1, 2]],
    [[1], ['a', 'b']],
  ],
  [
    'a reference to one of the items',
    { $schema: DRAFT_07, items: [{ type: 'string' }, { $ref: '#/items/0' }] },
    [['a', 'b']],
    [['a', 1]],
  ],
  [
    'a boolean exclusiveMinimum of draft 4',
    {
      $schema: DRAFT_04,
      properties: { n: { minimum: 0, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false } },
    },
    [{ n: 1 }, { n: 9 }],
    [{ n: 0 }, { n: 10 }],
  ],
  [
    'a reference at the root of draft 7, beside which all else is ignored',
    {
      $schema: DRAFT_07,
      $ref: '#/definitions/Input',
      required: ['ignored'],
      definitions: { Input: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] } },
    },
    [{ a: 'x' }],
    [{}, { a: 1 }],
  ],
  [
    'an absolute $id, and references by it',
    {
      $schema: DRAFT_07,
      $id: 'https://example.com/schemas/task.json',
      type: 'object',
      properties: {
        a: { $ref: 'https://example.com/schemas/task.json#/definitions/name' },
        b: { $ref: 'task.json#/definitions/name' },
        c: { $ref: '#/definitions/name' },
        d: { $ref: 'name.json' },
        e: { $ref: '#name' },
      },
      definitions: {
        name: { $id: '#name', type: 'string' },
        other: { $id: 'name.json', type: 'string' },
      },
    },
    [{ a: 'x', b: 'x', c: 'x', d: 'x', e: 'x' }],
    [{ a: 1 }, { b: 1 }, { c: 1 }, { d: 1 }, { e: 1 }],
  ],
  [
    'the id of draft 4',
    {
      $schema: DRAFT_04,
      id: 'http://example.com/root.json',
      properties: { id: { type: 'string' }, a: { $ref: 'root.json#/definitions/n' } },
      definitions: { n: { id: 'n.json', type: 'number' } },
    },
    [{ id: 'x', a: 1 }],
    [{ id: 1 }, { a: 'x' }],
  ],
  [
    'dependencies of draft 7',
    { $schema: DRAFT_07, dependencies: { a: ['b'], c: { required: ['d'] } } },
    [{ a: 1, b: 1 }, { c: 1, d: 1 }, {}],
    [{ a: 1 }, { c: 1 }],
  ],
  [
    'a recursive reference of 2019-09',
    {
      $schema: DRAFT_2019,
      $recursiveAnchor: true,
      properties: { a: { $recursiveRef: '#' } },
      additionalProperties: false,
    },
    [{ a: { a: {} } }],
    [{ a: { b: 1 } }],
  ],
  [
    'a reference to itself',
    {
      $schema: DRAFT_2020,
      type: 'object',
      properties: { name: { type: 'string' }, children: { items: { $ref: '#' } } },
    },
    [{ name: 'a', children: [{ name: 'b', children: [] }] }],
    [{ children: [{ name: 1 }] }, { children: [1] }],
  ],
  [
    'an anchor',
    { properties: { a: { $ref: '#text' } }, $defs: { t: { $anchor: 'text', type: 'string' } } },
    [{ a: 'x' }],
    [{ a: 1 }],
  ],
  [
    'an anchor that is there twice, in documents of their own',
    {
      properties: { a: { $ref: '#text' }, b: { $ref: 'https://b.test/#text' } },
      $defs: {
        t: { $anchor: 'text', type: 'string' },
        b: { $id: 'https://b.test/', $defs: { t: { $anchor: 'text', type: 'number' } } },
      },
    },
    [{ a: 'x', b: 1 }],
    [{ a: 1 }, { b: 'x' }],
  ],
  [
    'boolean schemas',
    { type: 'object', properties: { any: true, no: false } },
    [{ any: 1 }, {}],
    [{ no: 1 }],
  ],
  [
    'an unknown dialect, which is read as the current one',
    { $schema: 'https://spec.openapis.org/oas/3.1/dialect/base', prefixItems: [{ type: 'string' }] },
    [['a']],
    [[1]],
  ],
];

describe('a schema means what its dialect says', () => {
  test.each(CASES)('%s', (_name, schema, right, wrong) => {
    for (const value of right) expect([value, fits(schema, value)]).toEqual([value, true]);
    for (const value of wrong) expect([value, fits(schema, value)]).toEqual([value, false]);
  });

  test('on one compiler, where several have the same address', () => {
    const schema = (type: string): JsonSchema => ({
      $id: 'https://example.com/a',
      properties: { a: { $id: 'inner', type }, b: { $ref: 'inner' } },
    });
    expect(fits(schema('string'), { b: 'x' })).toBe(true);
    expect(fits(schema('number'), { b: 'x' })).toBe(false);
  });
});

describe('the translation', () => {
  test('leaves alone what says the same in the current dialect', () => {
    for (const schema of [
      {
        $schema: DRAFT_07,
        type: 'object',
        properties: { a: { $ref: '#/definitions/a' } },
        definitions: { a: {} },
      },
      { $defs: { a: { $anchor: 'a', type: 'string' } }, properties: { a: { $ref: '#/$defs/a' } } },
      { type: 'object', properties: { $id: { type: 'string' }, items: { const: { items: [1] } } } },
      { enum: [{ items: [{}], $ref: 'x' }], default: { exclusiveMinimum: true } },
    ])
      expect(currentSchema(schema)).toBe(schema);
  });

  test('writes properties as objects, which is all that clients take', () => {
    expect(currentSchema({ type: 'object', properties: { any: true, no: false } })).toEqual({
      type: 'object',
      properties: { any: {}, no: { not: {} } },
    });
  });

  test('leaves references to other documents, which the compiler names', () => {
    const schema = { $schema: DRAFT_07, properties: { a: { $ref: 'https://example.com/b#/definitions/c' } } };
    expect(currentSchema(schema)).toBe(schema);
    expect(compiler.faults(schema)[0]?.problem).toContain('https://example.com/b#/definitions/c');
  });
});
