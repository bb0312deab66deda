import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SchemaCompiler } from '../../../formats/json-schema/schema-compiler.js';
import type { Json, JsonSchema } from '../../../graph/json.js';
import type { Input } from '../../../graph/model.js';
import { coerce, describeType, listArgument, readArguments } from './arguments.js';

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

const TREE = {
  $ref: '#/$defs/Tree',
  $defs: {
    Tree: {
      type: 'object',
      properties: { v: { type: 'number' }, kids: { type: 'array', items: { $ref: '#/$defs/Tree' } } },
    },
  },
};

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
    [{ anyOf: [TREE, { type: 'null' }], $defs: TREE.$defs }, 'an object, as JSON or null'],
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

const refused = (expected: string) => ({ ok: false, expected });
const read = (value: unknown) => ({ ok: true, value });

describe('coerce', () => {
  test('reads an argument of a recursive type as JSON', () => {
    const tree = { v: 1, kids: [{ v: 2 }] };
    expect(coerce(JSON.stringify(tree), TREE)).toStrictEqual(read(tree));
    expect(coerce('1', { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/a' } } })).toStrictEqual(read('1'));
    expect(readArguments([input('tree', TREE)], { tree: '{"v":"a"}' }, schemas)).toMatchObject({
      problems: [{ message: "Invalid value for argument 'tree': `/v` must be number" }],
    });
  });

  test.each([
    ['3', 3],
    ['-2.5', -2.5],
    ['+4', 4],
    ['.5', 0.5],
    ['1e3', 1000],
    ['-0', 0],
    [' 3 ', 3],
  ])('reads %j as the number %d', (text, value) => {
    expect(coerce(text, { type: 'number' })).toStrictEqual(read(value));
  });

  test.each([
    'NaN',
    '',
    ' ',
    '0x10',
    'Infinity',
    '-Infinity',
    '1e999',
    '1,5',
    '1_000',
    '1 2',
    '0b1',
    'null',
    '٣',
  ])('refuses %j as a number', (text) => {
    expect(coerce(text, { type: 'number' })).toStrictEqual(refused('a valid number'));
  });

  test.each(['1.5', '1.0', '1e3', 'NaN', '', '0x10'])('refuses %j as an integer', (text) => {
    expect(coerce(text, { type: 'integer' })).toStrictEqual(refused('a valid integer'));
  });

  test.each(['9007199254740993', '-9007199254740992', '9007199254740993.5', '9'.repeat(40)])(
    'refuses %j, which would be rounded without a word',
    (text) => {
      const exact = 'a number that is kept exactly: whole numbers beyond 2^53 - 1 are not exact';
      expect(coerce(text, { type: 'number' })).toStrictEqual(refused(exact));
      const list = `a valid JSON array of numbers that are kept exactly: whole numbers beyond 2^53 - 1 are not exact`;
      expect(coerce(`[{"deep":${text}}]`, { type: 'array' })).toStrictEqual(refused(list));
    },
  );

  test('reads powers of ten, and digits in texts', () => {
    expect(coerce('6.022e23', { type: 'number' })).toStrictEqual(read(6.022e23));
    const list = [6.022e23, '9007199254740993', '\\"9007199254740993'];
    expect(coerce(JSON.stringify(list), { type: 'array' })).toStrictEqual(read(list));
  });

  test('refuses whole numbers that would be rounded as integers as well', () => {
    expect(coerce('9007199254740993', { type: 'integer' })).toMatchObject({ ok: false });
    expect(coerce('9007199254740991', { type: 'integer' })).toStrictEqual(read(9007199254740991));
  });

  test('reads every safe integer as itself', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), (value) => {
        expect(coerce(String(value), { type: 'integer' })).toStrictEqual(read(value));
      }),
    );
  });

  test('reads every finite number as itself', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        const text = Math.abs(value) > Number.MAX_SAFE_INTEGER ? value.toExponential() : String(value);
        expect(coerce(text, { type: 'number' })).toStrictEqual(read(value + 0));
      }),
    );
  });

  test.each(['true', 'TRUE', '1', 'yes', 'Yes'])('reads %j as true', (text) => {
    expect(coerce(text, { type: 'boolean' })).toStrictEqual(read(true));
  });

  test.each(['false', 'False', '0', 'no', 'NO'])('reads %j as false', (text) => {
    expect(coerce(text, { type: 'boolean' })).toStrictEqual(read(false));
  });

  test.each(['', 'on', 'y', '2', 'truee'])('refuses %j as a boolean', (text) => {
    expect(coerce(text, { type: 'boolean' })).toStrictEqual(refused('a valid boolean (use true/false)'));
  });

  test('keeps text as it is, whatever it looks like', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(coerce(text, { type: 'string' })).toStrictEqual(read(text));
        expect(coerce(text, {})).toStrictEqual(read(text));
      }),
    );
  });

  test('reads lists and objects from JSON, and nothing else from it', () => {
    expect(coerce('[1,"a"]', { type: 'array' })).toStrictEqual(read([1, 'a']));
    expect(coerce('{"a":1}', { type: 'object' })).toStrictEqual(read({ a: 1 }));
    expect(coerce('{}', { type: 'array' })).toStrictEqual(refused('a valid JSON array'));
    expect(coerce('[]', { type: 'object' })).toStrictEqual(refused('a valid JSON object'));
    expect(coerce('null', { type: 'object' })).toStrictEqual(refused('a valid JSON object'));
    expect(coerce('[1', { type: 'array' })).toStrictEqual(refused('a valid JSON array'));
  });

  test('reads the values of an enum as they are written, whatever their type', () => {
    const schema: JsonSchema = { enum: ['low', 2, true] };
    expect(coerce('low', schema)).toStrictEqual(read('low'));
    expect(coerce('2', schema)).toStrictEqual(read(2));
    expect(coerce('true', schema)).toStrictEqual(read(true));
    expect(coerce('Low', schema)).toStrictEqual(refused('one of: low, 2, true'));
    expect(coerce('b', { const: 'a' })).toStrictEqual(refused('one of: a'));
  });

  test('tries the alternatives of a union, text last', () => {
    const schema: JsonSchema = { anyOf: [{ type: 'string' }, { type: 'number' }] };
    expect(coerce('3', schema)).toStrictEqual(read(3));
    expect(coerce('three', schema)).toStrictEqual(read('three'));
    expect(coerce('null', { type: ['integer', 'null'] })).toStrictEqual(read(null));
    expect(coerce('x', { type: ['integer', 'null'] })).toStrictEqual(refused('a valid integer or null'));
  });
});

describe('describeType', () => {
  test('says nothing where any text will do', () => {
    expect(describeType({ type: 'string' })).toBeUndefined();
    expect(describeType({ anyOf: [{ type: 'number' }, { type: 'string' }] })).toBeUndefined();
  });

  test('says in plain words what to type', () => {
    expect(describeType({ type: 'integer' })).toBe('a whole number');
    expect(describeType({ enum: ['low', 2] })).toBe('one of: low, 2');
    expect(describeType({ type: ['boolean', 'null'] })).toBe('true or false or null');
  });
});
