import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SchemaCompiler } from '../../formats/json-schema/schema-compiler.js';
import type { JsonSchema } from '../../graph/json.js';
import { isPlain, schemaDiagnostics } from './schema-faults.js';

const place = { file: 'a.ts', span: [4, 1, 4, 2] } as const;
const messages = (schema: JsonSchema) =>
  schemaDiagnostics(schema, { owner: 'the schema', place }).map(({ code, message }) => `${code} ${message}`);

describe('a schema that cannot check values', () => {
  test.each<[JsonSchema, string]>([
    [
      { properties: { a: { type: 'nope' } } },
      'the schema cannot check values: `/properties/a/type` must be equal',
    ],
    [
      { properties: { a: { $ref: '#/$defs/b' } } },
      "the schema cannot check values: it cannot be used: can't resolve",
    ],
    [{ $ref: 'https://example.com/x' }, 'https://example.com/x'],
    [{ minimum: '1' }, '`/minimum` must be number'],
    [{ required: 'a' }, '`/required` must be array'],
    [{ type: 'array', minItems: -1 }, '`/minItems` must be >= 0'],
  ])('%j', (schema, message) => {
    expect(messages(schema)).toEqual([expect.stringMatching(/^SW6018 /)]);
    expect(messages(schema)[0]).toContain(message);
  });

  test('is found beside its patterns', () => {
    expect(messages({ pattern: '(', type: 'nope' }).map((text) => text.slice(0, 6))).toEqual([
      'SW6010',
      'SW6018',
    ]);
  });
});

const schema = fc.letrec<{ schema: JsonSchema | boolean }>((tie) => ({
  schema: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.boolean(),
    fc.dictionary(
      fc.constantFrom(
        'minimum',
        'minLength',
        'multipleOf',
        'title',
        'enum',
        'required',
        'type',
        'const',
        '$ref',
        'x-own',
      ),
      fc.constantFrom<JsonSchema[string]>(
        1,
        -1,
        1.5,
        'a',
        'string',
        '#',
        '#/properties/a',
        ['a'],
        ['a', 'a'],
        [],
        ['string', 'null'],
        true,
      ),
      { maxKeys: 2 },
    ),
    fc.dictionary(
      fc.constantFrom('items', 'not', 'properties', 'anyOf', '$defs', 'prefixItems', 'additionalProperties'),
      fc.oneof(
        tie('schema'),
        fc.array(tie('schema'), { maxLength: 2 }),
        fc.dictionary(fc.constantFrom('a', 'b'), tie('schema')),
      ),
      { maxKeys: 3 },
    ) as fc.Arbitrary<JsonSchema>,
  ),
})).schema;

test('a plain schema compiles', () => {
  const compiler = new SchemaCompiler();
  let plain = 0;
  fc.assert(
    fc.property(schema, (generated) => {
      if (typeof generated === 'boolean' || !isPlain(generated, generated)) return;
      plain += 1;
      expect(compiler.faults(generated, 'usable')).toEqual([]);
    }),
    { numRuns: 1_000 },
  );
  expect(plain).toBeGreaterThan(100);
});
