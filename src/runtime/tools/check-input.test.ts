import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { SchemaCompiler } from '../../formats/json-schema/schema-compiler.js';
import type { JsonSchema } from '../../graph/json.js';
import { checkInput } from './check-input.js';
import { issueProblems, schemaProblems } from './schema-problems.js';

const messages = (schema: JsonSchema, value: unknown): string[] =>
  schemaProblems(new SchemaCompiler().check(schema, value), schema).map((problem) => problem.message);

const task: JsonSchema = {
  type: 'object',
  properties: {
    title: { type: 'string', minLength: 1 },
    page: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    day: { type: 'string', format: 'date' },
    size: { enum: ['small', 'large'] },
    count: { anyOf: [{ type: 'number' }, { type: 'null' }] },
    shape: {
      anyOf: [
        { type: 'object', required: ['a'] },
        { type: 'object', required: ['b'] },
      ],
    },
  },
  required: ['title'],
  additionalProperties: false,
};

describe('schemaProblems', () => {
  test.each<[string, unknown, string[]]>([
    ['a good value', { title: 'a', day: '2026-01-12', count: null }, []],
    ['missing', {}, ['missing required `title`']],
    ['missing further down', { title: 'a', page: {} }, ['missing required `name` in `/page`']],
    ['unknown, near', { title: 'a', pgae: 1 }, ['unknown argument `pgae` (did you mean `page`?)']],
    ['unknown, far', { title: 'a', zzzzzz: 1 }, ['unknown argument `zzzzzz`']],
    ['wrong type', { title: 'a', page: { name: 3 } }, ['`/page/name` must be string']],
    ['wrong as a whole', 3, ['the value must be object']],
    ['too short', { title: '' }, ['`/title` must not have fewer than 1 characters']],
    ['bad date', { title: 'a', day: '2026-02-30' }, ['`/day` must be a date, yyyy-mm-dd']],
    ['not in the list', { title: 'a', size: 'big' }, ['`/size` must be one of "small", "large"']],
    ['union of types', { title: 'a', count: 'x' }, ['`/count` must be number or null']],
    ['union of shapes', { title: 'a', shape: {} }, ['`/shape` has none of the allowed forms']],
    [
      'all at once',
      { pgae: 1, size: 1 },
      [
        'missing required `title`',
        'unknown argument `pgae` (did you mean `page`?)',
        '`/size` must be one of "small", "large"',
      ],
    ],
  ])('%s', (_name, value, expected) => {
    expect(messages(task, value)).toEqual(expected);
  });

  test('a pattern that comes with a format is not told beside it', () => {
    const date = { type: 'string', format: 'date', pattern: `^${'(?:a|b)'.repeat(40)}$` };
    expect(messages(date, 'x')).toEqual(['the value must be a date, yyyy-mm-dd']);
    expect(
      messages({ properties: { a: date, b: { type: 'string', pattern: '^b$' } } }, { a: 'x', b: 'x' }),
    ).toEqual(['`/a` must be a date, yyyy-mm-dd', '`/b` must match pattern "^b$"']);
    // A date to the format, and still not what the pattern wants.
    expect(messages({ ...date, pattern: '^2027' }, '2026-01-12')).toEqual([
      'the value must match pattern "^2027"',
    ]);
  });

  test('formats without words of their own are named, long patterns are cut', () => {
    expect(messages({ format: 'json-pointer' }, 'x')).toEqual(['the value must match format "json-pointer"']);
    const [message = ''] = messages({ pattern: `^${'(?:a|b)'.repeat(40)}$` }, 'x');
    expect(message).toMatch(/^the value must match pattern "\^.*…"$/);
    expect(message.length).toBeLessThan(120);
  });

  test('inherited members satisfy nothing', () => {
    expect(messages({ type: 'object', required: ['constructor', 'toString'] }, {})).toHaveLength(2);
  });

  test('schemas may share an $id, name their dialect and hold unknown keywords', () => {
    const compiler = new SchemaCompiler();
    const draft = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      $id: 'https://example.org/a',
      'x-other': 1,
    };
    expect(compiler.check({ ...draft, type: 'string' }, 1)).toHaveLength(1);
    expect(compiler.check({ ...draft, type: 'number' }, 1)).toHaveLength(0);
  });
});

test('issues of a Standard Schema keep their path', () => {
  expect(issueProblems([{ message: 'too far', path: ['a', { key: 0 }] }, { message: 'odd' }])).toEqual([
    { pointer: '/a/0', message: '`/a/0`: too far' },
    { pointer: '', message: 'odd' },
  ]);
});

describe('what a model can repair by', () => {
  const shape: JsonSchema = {
    oneOf: [
      {
        type: 'object',
        properties: { kind: { const: 'circle' }, r: { type: 'number' } },
        required: ['kind', 'r'],
      },
      {
        type: 'object',
        properties: { kind: { const: 'square' }, a: { type: 'number' } },
        required: ['kind', 'a'],
      },
    ],
  };
  const named: JsonSchema = {
    properties: { shape: { anyOf: [{ $ref: '#/$defs/circle' }, { $ref: '#/$defs/square' }] } },
    $defs: { circle: (shape.oneOf as JsonSchema[])[0] ?? {}, square: (shape.oneOf as JsonSchema[])[1] ?? {} },
  };

  test('a wrong discriminator names the allowed values', () => {
    expect(messages(shape, { kind: 'cirle', r: 1 })).toEqual(['`/kind` must be one of "circle", "square"']);
    expect(messages(named, { shape: { kind: 'cirle', r: 1 } })).toEqual([
      '`/shape/kind` must be one of "circle", "square"',
    ]);
  });

  test('of the alternative that a discriminator selects, what is wrong', () => {
    expect(messages(shape, { kind: 'circle', r: '1' })).toEqual(['`/r` must be number']);
    expect(messages(named, { shape: { kind: 'square' } })).toEqual(['missing required `a` in `/shape`']);
  });

  test('a key that a record does not allow is named', () => {
    const record: JsonSchema = { properties: { tags: { propertyNames: { pattern: '^[a-z]+$' } } } };
    expect(messages(record, { tags: { A1: 1 } })).toEqual([
      'the key `A1` in `/tags` must match pattern "^[a-z]+$"',
    ]);
    expect(messages({ propertyNames: { enum: ['a', 'b'] } }, { c: 1 })).toEqual([
      'the key `c` must be one of "a", "b"',
    ]);
  });

  test('a direct call says what to send', async () => {
    const jsonSchema: JsonSchema = { type: 'object', properties: { n: { type: 'number' } } };
    const standard = z.object({ n: z.number() });
    for (const rules of [{ jsonSchema }, { jsonSchema, standard }]) {
      const checked = await checkInput({ n: '5' }, { tool: 't', ...rules }, new SchemaCompiler());
      expect(checked).toMatchObject({
        ok: false,
        isOwnText: true,
        failure: { message: 'invalid input: `/n` must be number: send 5, not "5"' },
      });
    }
    const secret = await checkInput(
      { n: '5' },
      { tool: 't', jsonSchema, secret: ['n'] },
      new SchemaCompiler(),
    );
    expect(JSON.stringify(secret)).not.toContain('send');
  });

  test('what to send follows its own problem', async () => {
    const properties: JsonSchema = {
      n: { type: 'number' },
      s: { type: 'string', minLength: 3 },
      t: { type: 'string' },
    };
    const rules = { tool: 't', jsonSchema: { type: 'object', properties } };
    const checked = await checkInput({ n: '5', s: 'a', t: 5 }, rules, new SchemaCompiler());
    expect(checked).toMatchObject({
      failure: {
        message:
          'invalid input: `/n` must be number: send 5, not "5"; `/s` must not have fewer than 3 characters; `/t` must be string: send "5", not 5',
        details: { problems: [{ pointer: '/n', message: '`/n` must be number' }, {}, {}] },
      },
    });
  });

  test('problems that only the schema of the author has are in its words, beside those of both', async () => {
    const jsonSchema: JsonSchema = {
      type: 'object',
      properties: { n: { type: 'number' }, c: { type: 'number' }, s: { type: 'string' } },
      additionalProperties: false,
    };
    const standard = z.object({
      n: z.number(),
      c: z.coerce.number(),
      s: z.string().refine((s) => s === 'x', 'is not x'),
    });
    const checked = await checkInput(
      { n: 'a', c: '1', s: 'y', t: 1 },
      { tool: 't', jsonSchema, standard },
      new SchemaCompiler(),
    );
    expect(checked).toMatchObject({
      ok: false,
      failure: { message: 'invalid input: `/n` must be number; `/s`: is not x; unknown argument `t`' },
    });
    expect(checked).not.toHaveProperty('isOwnText');
  });
});
