import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import * as mini from 'zod/mini';
import { readJsonSchema } from './json-schema.js';

const file = import.meta.filename;
const input = (schema: unknown) => readJsonSchema(schema, 'input', file);
const output = (schema: unknown) => readJsonSchema(schema, 'output', file);
const ok = (schema: object) => ({ kind: 'schema', schema });

describe('readJsonSchema of zod', () => {
  test('closes plain objects at any depth, on both sides', () => {
    const schema = z.object({ a: z.array(z.object({ b: z.string().describe('B') })) });
    const expected = ok({
      type: 'object',
      properties: {
        a: {
          type: 'array',
          items: {
            type: 'object',
            properties: { b: { type: 'string', description: 'B' } },
            required: ['b'],
            additionalProperties: false,
          },
        },
      },
      required: ['a'],
      additionalProperties: false,
    });
    expect(input(schema)).toEqual(expected);
    expect(output(schema)).toEqual(expected);
  });

  test('leaves open what its author has opened', () => {
    expect(input(z.looseObject({ a: z.string() }))).toMatchObject(ok({ additionalProperties: {} }));
    expect(input(z.object({}).catchall(z.number()))).toMatchObject(
      ok({ additionalProperties: { type: 'number' } }),
    );
    expect(input(z.record(z.string(), z.number()))).toMatchObject(
      ok({ additionalProperties: { type: 'number' } }),
    );
  });

  test('requires a field with a default on the output side alone', () => {
    const schema = z.object({ limit: z.number().default(10), note: z.string().optional() });
    expect(input(schema)).not.toMatchObject(ok({ required: expect.anything() }));
    expect(output(schema)).toMatchObject(ok({ required: ['limit'] }));
  });

  test('describes the side of a pipe that it was asked for', () => {
    const schema = z.object({ n: z.string().transform(Number).pipe(z.number()) });
    expect(input(schema)).toMatchObject(ok({ properties: { n: { type: 'string' } } }));
    expect(output(schema)).toMatchObject(ok({ properties: { n: { type: 'number' } } }));
  });

  test('reports types without a JSON Schema form, and their paths', () => {
    const schema = z.object({ tasks: z.array(z.object({ due: z.date() })) });
    expect(input(schema)).toEqual({
      kind: 'unrepresentable',
      reason: 'Date cannot be represented in JSON Schema (at `tasks[].due`)',
    });
  });

  test('refuses a root that is not an object', () => {
    expect(input(z.string())).toEqual({ kind: 'notAnObject' });
    expect(input(z.array(z.object({})))).toEqual({ kind: 'notAnObject' });
    expect(input(z.union([z.object({}), z.string()]))).toEqual({ kind: 'notAnObject' });
    expect(output(z.object({}).nullable())).toEqual({ kind: 'notAnObject' });
  });

  test('writes `type: object` at the root of a union or a reference of objects', () => {
    const union = z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('a') }),
      z.object({ kind: z.literal('b'), b: z.number() }),
    ]);
    expect(input(union)).toMatchObject(
      ok({ type: 'object', oneOf: [{ type: 'object' }, { type: 'object' }] }),
    );
    expect(input(z.object({ a: z.string() }).meta({ id: 'named-root' }))).toMatchObject(
      ok({ type: 'object', $ref: '#/$defs/named-root' }),
    );
  });

  test('reads recursive schemas', () => {
    const page = z.object({
      get children() {
        return z.array(page);
      },
    });
    expect(input(page)).toMatchObject(ok({ properties: { children: { items: { $ref: '#' } } } }));
  });

  test('pools the keys of an intersection, so that its members do not refuse each other', () => {
    const folded = z.object({ a: z.string() }).and(z.object({ b: z.string() }));
    expect(input(folded)).toMatchObject(ok({ required: ['a', 'b'], additionalProperties: false }));
    const described = z
      .object({ a: z.string() })
      .describe('A')
      .and(z.object({ b: z.string() }).meta({ id: 'pooled-b' }));
    const reading = input(described);
    expect(reading).toMatchObject(
      ok({ type: 'object', allOf: [{ required: ['a'] }, { required: ['b'] }], unevaluatedProperties: false }),
    );
    expect(JSON.stringify(reading)).not.toMatch(/"allOf":\[[^\]]*"additionalProperties"/);
  });

  test('keeps a property called __proto__', () => {
    const reading = input(
      z.object(JSON.parse('{"__proto__": 0}', (key, value) => (key === '' ? value : z.string()))),
    );
    expect(JSON.stringify(reading)).toContain('"__proto__":{"type":"string"}');
  });

  test('drops the dialect and the marks of the library', () => {
    const reading = input(z.object({}));
    expect(reading).toEqual(ok({ type: 'object', properties: {}, additionalProperties: false }));
  });

  test('reads Zod Mini, whose schemas do not convert themselves', () => {
    expect(input(mini.object({ a: mini.string() }))).toEqual(
      ok({
        type: 'object',
        properties: { a: { type: 'string' } },
        required: ['a'],
        additionalProperties: false,
      }),
    );
  });

  test('sends zod 3 away', () => {
    const old = { '~standard': { version: 1, vendor: 'zod', validate: () => ({ value: 1 }) }, _def: {} };
    expect(input(old)).toMatchObject({ kind: 'unrepresentable', reason: expect.stringContaining('zod 4') });
  });
});

describe('readJsonSchema of other libraries', () => {
  const standard = (jsonSchema?: object) => ({
    '~standard': {
      version: 1,
      vendor: 'other',
      validate: () => ({ value: 1 }),
      ...(jsonSchema && { jsonSchema }),
    },
  });

  test('asks the schema itself, for draft 2020-12', () => {
    const schema = standard({
      input: ({ target }: { target: string }) => ({ $schema: target, type: 'object', title: target }),
      output: () => ({ type: 'string' }),
    });
    expect(input(schema)).toEqual(ok({ $schema: 'draft-2020-12', type: 'object', title: 'draft-2020-12' }));
    expect(output(schema)).toEqual({ kind: 'notAnObject' });
  });

  test('says what went wrong', () => {
    expect(input(standard())).toMatchObject({
      kind: 'unrepresentable',
      reason: expect.stringContaining('`other`'),
    });
    const cycle: Record<string, unknown> = { type: 'object' };
    cycle.self = cycle;
    expect(input(standard({ input: () => cycle }))).toMatchObject({ kind: 'unrepresentable' });
    const throws = standard({
      input: () => {
        throw new Error('no dates');
      },
    });
    expect(input(throws)).toEqual({ kind: 'unrepresentable', reason: 'no dates' });
    expect(input({ type: 'object' })).toEqual({
      kind: 'unrepresentable',
      reason: 'it is not a Standard Schema',
    });
    expect(input(null)).toMatchObject({ kind: 'unrepresentable' });
  });
});
