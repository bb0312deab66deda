import { describe, expect, test } from 'vitest';
import { SchemaCompiler } from '../../formats/json-schema/schema-compiler.js';
import type { Json, JsonSchema } from '../../graph/json.js';
import type { Input } from '../../graph/model.js';
import { listArgument, readArguments } from './prompt-arguments.js';

const schemas = new SchemaCompiler();

function input(name: string, schema: JsonSchema, rest: Partial<Input> = {}): Input {
  return { name, description: `The ${name}`, schema, required: true, ...rest };
}

const inputs: readonly Input[] = [
  input('task', { type: 'string', minLength: 1 }),
  input('date', { type: 'string' }, { required: false }),
  input('limit', { type: 'integer', minimum: 1 }, { required: false, default: 10 }),
  input('token', { type: 'integer' }, { required: false, secret: true }),
];

function messages(given: Readonly<Record<string, unknown>>): readonly string[] {
  const read = readArguments(inputs, given, schemas);
  return read.ok ? [] : read.problems.map((problem) => problem.message);
}

describe('readArguments', () => {
  test('coerces, fills defaults in, and leaves absent optional arguments absent', () => {
    expect(readArguments(inputs, { task: '3' }, schemas)).toStrictEqual({
      ok: true,
      input: { task: '3', limit: 10 },
    });
    expect(readArguments(inputs, { task: 't', date: 'd', limit: '2' }, schemas)).toStrictEqual({
      ok: true,
      input: { task: 't', date: 'd', limit: 2 },
    });
  });

  test('blank text leaves an optional argument out, and is a value of a required one', () => {
    const day = input('day', { type: 'string', format: 'date' }, { required: false });
    expect(
      readArguments([...inputs, day], { task: ' ', date: '', limit: ' ', day: '' }, schemas),
    ).toStrictEqual({
      ok: true,
      input: { task: ' ', limit: 10 },
    });
    expect(readArguments([{ ...day, required: true }], { day: '' }, schemas)).toMatchObject({ ok: false });
  });

  describe('arguments obey the limits of tools', () => {
    const list = input('list', { type: 'array' }, { required: false });
    const more = input('more', { type: 'array' }, { required: false });
    const refusal = (given: Readonly<Record<string, string>>): readonly string[] => {
      const read = readArguments([list, more], given, schemas);
      return read.ok ? [] : read.problems.map((problem) => `${problem.argument}: ${problem.message}`);
    };
    const nested = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`;
    const long = (values: number): string => `[${'0,'.repeat(values - 1)}0]`;

    test('in depth', () => {
      expect(refusal({ list: nested(511) })).toEqual([]);
      expect(refusal({ list: nested(512) })).toEqual([
        expect.stringMatching(
          /^list: Invalid value for argument 'list': .* is nested more than 512 levels deep$/,
        ),
      ]);
      expect(refusal({ list: nested(100_000) })).toEqual([expect.stringContaining('512 levels')]);
    });

    test('in the number of values, each and together', () => {
      expect(refusal({ list: long(999_998) })).toEqual([]);
      expect(refusal({ list: long(1_000_000) })).toEqual([
        expect.stringMatching(
          /^list: Invalid value for argument 'list': .* is part of more than 1000000 values$/,
        ),
      ]);
      expect(refusal({ list: long(600_000), more: long(600_000) })).toEqual([
        expect.stringMatching(/^more: .* is part of more than 1000000 values$/),
      ]);
    });

    test('in forbidden keys', () => {
      const keys = '[{"__proto__":1}]';
      expect(refusal({ list: keys })).toEqual([expect.stringContaining('__proto__')]);
    });
  });

  test('an undefined value counts as absent', () => {
    expect(messages({ task: undefined })).toStrictEqual(["Missing required argument 'task'"]);
  });

  test('reports every problem at once', () => {
    const given = JSON.parse('{"limit":"many","dates":"x","__proto__":"y","date":7}') as Record<string, Json>;
    expect(messages(given)).toStrictEqual([
      "Unknown argument 'dates'. Did you mean 'date'?",
      "Unknown argument '__proto__'",
      "Missing required argument 'task'",
      "Invalid value for argument 'date': prompt arguments are text, and this is a number",
      "Invalid value for argument 'limit': 'many' is not a valid integer",
    ]);
  });

  test.each([
    [null, 'null'],
    [['a'], 'a list'],
    [{ a: 1 }, 'an object'],
    [true, 'a boolean'],
  ])('refuses %j, which is not text', (value, kind) => {
    expect(messages({ task: value })).toStrictEqual([
      `Invalid value for argument 'task': prompt arguments are text, and this is ${kind}`,
    ]);
  });

  test('checks the bounds of the schema as well', () => {
    expect(messages({ task: '', limit: '0' })).toStrictEqual([
      "Invalid value for argument 'task': the value must not have fewer than 1 characters",
      "Invalid value for argument 'limit': the value must be >= 1",
    ]);
  });

  test('inherited names are no arguments', () => {
    expect(messages({ task: 't', constructor: 'x' })).toStrictEqual(["Unknown argument 'constructor'"]);
    expect(readArguments([input('toString', { type: 'string' })], {}, schemas)).toMatchObject({ ok: false });
  });

  test('never repeats a secret', () => {
    expect(messages({ task: 't', token: 'hunter2' })).toStrictEqual([
      "Invalid value for argument 'token': '••••' is not a valid integer",
    ]);
  });

  test('keeps a hostile value on one short line', () => {
    const [message = ''] = messages({ task: 't', limit: `1\n2\u2028${'x'.repeat(10_000)}` });
    expect(message).not.toMatch(/[\n\u2028]/);
    expect(message.length).toBeLessThan(300);
  });
});

describe('listArgument', () => {
  test('puts type and default behind the description', () => {
    expect(inputs.map(listArgument)).toStrictEqual([
      { name: 'task', description: 'The task', required: true },
      { name: 'date', description: 'The date', required: false },
      { name: 'limit', description: 'The limit (a whole number; at least 1; default: 10)', required: false },
      { name: 'token', description: 'The token (a whole number)', required: false },
    ]);
  });

  test.each<[JsonSchema, string]>([
    [{ type: 'integer', minimum: 1, maximum: 5 }, 'a whole number; from 1 to 5'],
    [{ type: 'number', exclusiveMinimum: 0, maximum: 5 }, 'a number; at most 5; above 0'],
    [
      { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1, multipleOf: 0.5 },
      'a number; above 0 and below 1; a multiple of 0.5',
    ],
    [
      { type: 'string', minLength: 2, maxLength: 5, pattern: '^[a-z]+$' },
      '2 to 5 characters; matches ^[a-z]+$',
    ],
    [{ type: 'string', minLength: 1, maxLength: 5 }, 'at most 5 characters'],
    [{ type: 'string', minLength: 2 }, 'at least 2 characters'],
    [{ type: 'string', minLength: 4, maxLength: 4 }, 'exactly 4 characters'],
    [
      { type: 'array', minItems: 1, maxItems: 3, uniqueItems: true },
      'a list, as JSON; 1 to 3 items; no item twice',
    ],
    [{ type: 'array', maxItems: 1 }, 'a list, as JSON; at most 1 item'],
    [{ anyOf: [{ type: 'number', maximum: 3 }, { type: 'null' }] }, 'a number or null; at most 3'],
  ])('tells the limits of %j', (schema, notes) => {
    expect(listArgument(input('a', schema)).description).toBe(`The a (${notes})`);
  });

  test('keeps the default of a secret to itself', () => {
    const token = input('token', { type: 'string' }, { required: false, secret: true, default: 'hunter2' });
    expect(listArgument(token).description).toBe('The token');
  });

  test('keeps the title', () => {
    expect(listArgument(input('a', { type: 'string' }, { title: 'An A' }))).toMatchObject({ title: 'An A' });
  });
});
