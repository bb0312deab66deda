import { describe, expect, test } from 'vitest';
import type { JsonSchema } from '../../graph/json.js';
import type { SourceLocation } from '../../graph/source-location.js';
import type { ToolDeclaration } from '../declarations.js';
import type { TypeSyntax } from '../syntax.js';
import { schemaDiagnostics } from './schema-faults.js';
import { toolReading } from './tool-reading.js';

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
