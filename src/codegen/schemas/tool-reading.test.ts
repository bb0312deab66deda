import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SchemaCompiler } from '../../formats/json-schema/schema-compiler.js';
import type { JsonSchema } from '../../graph/json.js';
import type { SourceLocation } from '../../graph/source-location.js';
import type { ToolDeclaration } from '../declarations.js';
import type { TypeSyntax } from '../syntax.js';
import { isPlain, schemaDiagnostics, toolReading } from './tool-reading.js';

const place: SourceLocation = { file: 'a.ts', span: [4, 1, 4, 2] };
const named: SourceLocation = { file: 'a.ts', span: [9, 1, 9, 6] };

const unresolved: TypeSyntax = {
  kind: 'unknown',
  written: 'any',
  unresolved: { name: 'Query', place: named, specifier: 'wiki-client', isModuleKnown: false },
};
const text: TypeSyntax = {
  kind: 'object',
  properties: [{ name: 'a', optional: false, type: { kind: 'string' } }],
};
const within = (type: TypeSyntax): TypeSyntax => ({
  kind: 'object',
  properties: [{ name: 'list', optional: false, type: { kind: 'array', items: type } }],
});

/** What is reported of a tool with these types and no schemas. */
function faults(inputType: TypeSyntax, outputType: TypeSyntax): readonly string[] {
  const tool: ToolDeclaration = {
    file: 'a.ts',
    className: 'T',
    exportName: 'T',
    place,
    name: 'find-page',
    namePlace: place,
    description: 'Finds a page',
    hasInputSchema: false,
    inputType,
    outputType,
  };
  const { value, diagnostics } = toolReading(tool, { kind: 'tool', exportName: 'T', fingerprint: 'f' });
  expect(value === undefined).toBe(diagnostics.length > 0);
  return diagnostics.map(({ code, message, place: at }) => `${code} ${at?.span[0]} ${message}`);
}

describe('a type whose name leads nowhere', () => {
  const why = 'its import from `wiki-client` cannot be resolved, or has no types';
  const ofInput = `SW6016 9 the type \`Query\` of the input of tool \`find-page\` is read as \`any\`: ${why}`;
  const ofResult = `SW6016 9 the type \`Query\` of the result of tool \`find-page\` is read as \`any\`: ${why}`;

  test.each([
    ['the input', unresolved, text, [ofInput]],
    ['a part of the input', within(unresolved), text, [ofInput]],
    ['the result', text, unresolved, [ofResult]],
    ['a part of the result', text, within(unresolved), [ofResult]],
    ['both sides, which is said once', unresolved, unresolved, [ofResult]],
    ['neither side', text, within(text), []],
  ])('is reported for %s', (_, input, output, expected) => {
    expect(faults(input, output)).toEqual(expected);
  });

  test('is not an intended `any`', () => {
    expect(faults(text, { kind: 'unknown', written: 'any' })).toEqual([]);
  });
});

describe('a pattern of a schema', () => {
  const check = (schema: JsonSchema) =>
    schemaDiagnostics(schema, { owner: 'the input schema of tool `t`', place }).map(
      ({ code, message, place: at }) => `${at?.span[0]}: ${code} ${message}`,
    );

  test('that cannot be matched is named, with its place in the schema', () => {
    const schema: JsonSchema = {
      type: 'object',
      properties: {
        'a/b': { pattern: '^a+$' },
        'c/d': { items: { anyOf: [{ pattern: '[a' }] } },
        pattern: { pattern: '(b' },
      },
      patternProperties: { '(c': { type: 'string' } },
    };
    expect(check(schema)).toEqual([
      expect.stringMatching(
        /^4: SW6010 the pattern `\[a` at `\/properties\/c~1d\/items\/anyOf\/0\/pattern` of the input schema of tool `t` /,
      ),
      expect.stringMatching(/^4: SW6010 the pattern `\(b` at `\/properties\/pattern\/pattern` /),
      expect.stringMatching(/^4: SW6010 the pattern `\(c` at `\/patternProperties\/\(c` /),
    ]);
  });

  test("that says what a format says is the library's own", () => {
    const email = { type: 'string', format: 'email' };
    expect(check({ properties: { a: { ...email, pattern: '(a' } } })).toEqual([]);
    expect(check({ properties: { a: { ...email, allOf: [{ pattern: '(a' }] } } })).toEqual([]);
    expect(check({ properties: { format: { pattern: '(a' } }, format: 'x' })).toHaveLength(1);
  });
});

const schemaPlace = { file: 'a.ts', span: [4, 1, 4, 2] } as const;
const messages = (schema: JsonSchema) =>
  schemaDiagnostics(schema, { owner: 'the schema', place: schemaPlace }).map(
    ({ code, message }) => `${code} ${message}`,
  );

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
