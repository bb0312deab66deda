import { describe, expect, test } from 'vitest';
import type { JsonSchema } from '../../graph/json.js';
import { SchemaCompiler } from './schema-compiler.js';

const faults = (schema: JsonSchema, patterns?: 'all' | 'usable') =>
  new SchemaCompiler().faults(schema, patterns);
const pointers = (schema: JsonSchema) => faults(schema).map(({ pointer }) => pointer);

describe('a schema', () => {
  test('that can be used has no faults', () => {
    expect(
      faults({ type: 'object', properties: { pattern: { pattern: '^a+$' }, when: { format: 'date' } } }),
    ).toEqual([]);
    expect(
      faults({
        $schema: 'http://json-schema.org/draft-07/schema#',
        'x-own': 1,
        $ref: '#/$defs/a',
        $defs: { a: {} },
      }),
    ).toEqual([]);
  });

  test('has each of its faults once, with its place', () => {
    const broken: JsonSchema = {
      type: 'object',
      properties: {
        'a/b': { pattern: '(' },
        list: { items: { anyOf: [{ type: 'string' }, { pattern: '[' }] } },
        other: { type: 'nope' },
      },
      patternProperties: { '*': {} },
    };
    expect(pointers(broken).sort()).toEqual([
      '/patternProperties/*',
      '/properties/a~1b/pattern',
      '/properties/list/items/anyOf/1/pattern',
      '/properties/other/type',
    ]);
    const [first] = faults({ pattern: '(' });
    expect(first?.problem).toContain('is not a regular expression: /(/u: Unterminated group');
  });

  test('that refers to another document cannot be used', () => {
    expect(faults({ $ref: 'http://evil.example/' })).toEqual([
      { pointer: '', problem: expect.stringContaining('http://evil.example/') },
    ]);
  });

  test('may have any value where no schema is expected', () => {
    expect(faults({ default: { pattern: '(' }, const: { pattern: '(' }, enum: [{ pattern: '(' }] })).toEqual(
      [],
    );
  });
});

test('an unusable pattern is ignored if the author checks the same values', () => {
  const schema: JsonSchema = { type: 'string', pattern: '(' };
  const compiler = new SchemaCompiler();
  expect(() => compiler.check({ items: { pattern: '(' } }, ['x'])).toThrow();
  expect(compiler.check(schema, 5, 'usable').map(({ keyword }) => keyword)).not.toContain('pattern');
});
