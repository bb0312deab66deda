import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonSchema } from '../../graph/json.js';
import { coerce, describeType } from './coerce.js';

const refused = (expected: string) => ({ ok: false, expected });
const read = (value: unknown) => ({ ok: true, value });

describe('coerce', () => {
  test.each([
    ['3', 3],
    ['-2.5', -2.5],
    ['+4', 4],
    ['.5', 0.5],
    ['1e3', 1000],
    ['-0', 0],
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
    ' 1',
    '1 ',
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
