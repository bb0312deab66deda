import { describe, expect, test } from 'vitest';
import type { Diagnostic } from '../../graph/diagnostics/diagnostic.js';
import type { JsonSchema } from '../../graph/json.js';
import type { Place } from '../../graph/place.js';
import type { ArgDeclaration } from '../declarations.js';
import type { ExpressionSyntax } from '../syntax.js';
import { argumentPatternDiagnostics, schemaPatternDiagnostics } from './patterns.js';

const at = (line: number): Place => ({ file: 'a.ts', span: [line, 1, line, 2] });
const said = (faults: readonly Diagnostic[]) =>
  faults.map(({ code, message, place }) => `${place?.span[0]}: ${code} ${message}`);

describe('a pattern of a schema', () => {
  const check = (schema: JsonSchema) =>
    said(schemaPatternDiagnostics(schema, { owner: 'the input schema of tool `t`', place: at(1) }));

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
        /^1: SW6010 the pattern `\[a` at `\/properties\/c~1d\/items\/anyOf\/0\/pattern` of the input schema of tool `t` /,
      ),
      expect.stringMatching(/^1: SW6010 the pattern `\(b` at `\/properties\/pattern\/pattern` /),
      expect.stringMatching(/^1: SW6010 the pattern `\(c` at `\/patternProperties\/\(c` /),
    ]);
  });

  test("that says what a format says is the library's own", () => {
    const email = { type: 'string', format: 'email' };
    expect(check({ properties: { a: { ...email, pattern: '(a' } } })).toEqual([]);
    expect(check({ properties: { a: { ...email, allOf: [{ pattern: '(a' }] } } })).toEqual([]);
    expect(check({ properties: { format: { pattern: '(a' } }, format: 'x' })).toHaveLength(1);
  });
});

describe('a pattern of an argument', () => {
  const literal = (value: string, line: number): ExpressionSyntax => ({
    kind: 'literal',
    value,
    place: at(line),
  });
  const object = (entries: Readonly<Record<string, ExpressionSyntax>>): ExpressionSyntax => ({
    kind: 'object',
    place: at(9),
    entries: Object.entries(entries).map(([key, value]) => ({ key, keyPlace: at(9), value })),
  });
  const arg = (
    options: ArgDeclaration['options'],
    optionSyntax: ArgDeclaration['optionSyntax'] = {},
  ): ArgDeclaration => ({
    name: 'box',
    argument: 'box',
    place: at(1),
    optional: false,
    options,
    optionSyntax,
    type: { kind: 'string' },
  });
  const check = (declared: ArgDeclaration) =>
    said(argumentPatternDiagnostics([declared], 'the arguments of workflow `w`'));

  test('that cannot be matched is reported where it is written, inside of properties too', () => {
    const options = { pattern: '(a', properties: { name: { pattern: '(b' }, size: { pattern: '^c$' } } };
    const syntax = {
      pattern: literal('(a', 2),
      properties: object({ name: object({ pattern: literal('(b', 3) }) }),
    };
    expect(check(arg(options, syntax))).toEqual([
      expect.stringMatching(/^2: SW6010 the pattern `\(a` at `box` of the arguments of workflow `w` /),
      expect.stringMatching(/^3: SW6010 the pattern `\(b` at `box\.name` /),
    ]);
  });

  test('is reported at the argument where its own place is not known', () => {
    expect(check(arg({ pattern: '(a' }))).toEqual([expect.stringMatching(/^1: SW6010 /)]);
    expect(check(arg({ pattern: '^a$' }))).toEqual([]);
    expect(check(arg({}))).toEqual([]);
  });
});
