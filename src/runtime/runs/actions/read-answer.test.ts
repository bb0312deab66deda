import { describe, expect, test } from 'vitest';
import { SchemaCompiler } from '../../../formats/json-schema/schema-compiler.js';
import type { Json, JsonSchema } from '../../../graph/json.js';
import type { AskMode } from '../../engine/contract.js';
import type { Action } from '../../engine/events.js';
import { formOf } from './elicitation.js';
import { readAnswer } from './read-answer.js';

const schemas = new SchemaCompiler();
const only = (key: string, schema: JsonSchema): JsonSchema => ({
  type: 'object',
  properties: { [key]: schema },
  required: [key],
  additionalProperties: false,
});
const options = ['red', 'blue'];
const seats = {
  type: 'object',
  properties: { seats: { type: 'integer', minimum: 1 } },
  required: ['seats'],
  additionalProperties: false,
};
const schemaOf: Record<AskMode, JsonSchema> = {
  info: only('acknowledged', { const: true }),
  confirm: only('confirmed', { type: 'boolean' }),
  text: only('input', { type: 'string' }),
  choice: only('selected', { type: 'string', enum: options }),
  yield: seats,
  model: seats,
};
const action = (mode: AskMode, schema = schemaOf[mode]): Action => ({
  type: 'ask',
  mode,
  message: '?',
  ...(mode === 'choice' ? { options } : {}),
  schema,
});
const read = (mode: AskMode, result?: Json) =>
  readAnswer(action(mode), result === undefined ? {} : { result }, schemas);

describe('an answer', () => {
  test.each<[AskMode, Json | undefined, Json]>([
    ['info', undefined, { acknowledged: true }],
    ['info', null, { acknowledged: true }],
    ['info', { acknowledged: true }, { acknowledged: true }],
    ['confirm', false, { confirmed: false }],
    ['confirm', { confirmed: true }, { confirmed: true }],
    ['text', '', { input: '' }],
    ['text', '{"a":', { input: '{"a":' }],
    ['text', '{"a":1}', { input: '{"a":1}' }],
    ['choice', 'blue', { selected: 'blue' }],
    ['yield', { seats: 2 }, { seats: 2 }],
    ['model', { seats: 2 }, { seats: 2 }],
  ])('to %s may be %j', (mode, result, value) => {
    expect(read(mode, result)).toStrictEqual({ ok: true, answer: { kind: 'value', value }, warnings: [] });
  });

  test.each<[AskMode, string, Json]>([
    ['confirm', '{"confirmed":true}', { confirmed: true }],
    ['text', ' {"input":"hi"}', { input: 'hi' }],
    ['choice', '{"selected":"red"}', { selected: 'red' }],
    ['yield', '{"seats":2}', { seats: 2 }],
    ['model', '{"seats":2}', { seats: 2 }],
  ])('to %s that came as text is read, with a note', (mode, result, value) => {
    expect(read(mode, result)).toMatchObject({
      ok: true,
      answer: { kind: 'value', value },
      warnings: [{ code: 'W_STRINGIFIED' }],
    });
  });

  test.each<[AskMode, Json | undefined, string]>([
    ['confirm', undefined, 'send either'],
    ['model', '{"seats":', 'must be object. Send the value'],
    ['model', { seats: 0 }, '`/seats` must be >= 1'],
    ['confirm', 'true', 'must be object. Send true or false'],
    ['confirm', 1, 'must be object'],
    ['confirm', { confirmed: 'yes' }, '`/confirmed` must be boolean'],
    ['confirm', { confirmed: true, more: 1 }, 'unknown argument `more`'],
    ['info', false, 'must be object. Send no result at all'],
    ['text', 7, 'must be object. Send the text'],
    ['choice', 'green', '`/selected` must be one of "red", "blue". Send one of "red", "blue"'],
    ['choice', 0, 'must be object'],
    ['yield', '{"seats":0}', '`/seats` must be >= 1'],
    ['yield', 'two', 'must be object'],
    ['yield', JSON.parse('{"seats":1,"__proto__":{}}'), '__proto__'],
    ['yield', '{"seats":1,"__proto__":{}}', '__proto__'],
  ])('to %s of the wrong shape is refused: %j', (mode, result, problem) => {
    const answer = read(mode, result);
    expect(answer).toMatchObject({
      ok: false,
      failure: { code: 'E_RESULT_SHAPE', message: expect.stringContaining(problem) },
    });
    expect(!answer.ok && answer.failure.message).toContain('still open');
  });

  test('cannot be checked by a schema that is none', () => {
    const broken = action('yield', { type: 'nonsense' });
    expect(readAnswer(broken, { result: {} }, schemas)).toMatchObject({
      failure: { code: 'E_RESULT_SHAPE' },
    });
  });
});

describe('an error in place of an answer', () => {
  const error = (given: Json) => readAnswer(action('confirm'), { error: given }, schemas);

  test.each<[Json, string, string]>([
    [{ message: 'gone' }, 'E_ACTION_FAILED', 'gone'],
    [{ code: 'E_GONE', message: 'gone\nfor good' }, 'E_GONE', 'gone for good'],
    [{ code: 'not a code', message: 'gone' }, 'E_ACTION_FAILED', 'gone'],
    ['{"message":"gone"}', 'E_ACTION_FAILED', 'gone'],
  ])('%j', (given, code, message) => {
    expect(error(given)).toMatchObject({ ok: true, answer: { kind: 'failure', failure: { code, message } } });
  });

  test.each<Json>([
    'gone',
    7,
    null,
    {},
    { message: ' ' },
    { message: 'a', more: 1 },
    { code: 1, message: 'a' },
  ])('is refused: %j', (given) =>
    expect(error(given)).toMatchObject({ failure: { code: 'E_RESULT_SHAPE' } }),
  );

  test('does not appear beside a result; a key of that name in a result is part of it', () => {
    expect(readAnswer(action('confirm'), { result: true, error: { message: 'a' } }, schemas)).toMatchObject({
      failure: { code: 'E_RESULT_SHAPE' },
    });
    const free = action('yield', {});
    expect(readAnswer(free, { result: { error: 'x' } }, schemas)).toMatchObject({
      answer: { kind: 'value', value: { error: 'x' } },
    });
  });
});

describe('a question as a form', () => {
  test('is flat', () => {
    expect(formOf(action('choice'))?.schema).toEqual({
      type: 'object',
      properties: { selected: { type: 'string', enum: options } },
      required: ['selected'],
    });
    expect(formOf(action('info'))?.answerOf({})).toEqual({ acknowledged: true });
    expect(formOf(action('yield'))?.schema).toEqual({
      type: 'object',
      properties: { seats: { type: 'integer', minimum: 1 } },
      required: ['seats'],
    });
  });

  test('leaves out what forms do not know: the answer is checked against the whole schema', () => {
    const field = { type: 'string', pattern: '^a', format: 'hostname', title: 'Name', minLength: 1 };
    const schema = { type: 'object', properties: { name: field } };
    expect(formOf(action('yield', schema))?.schema.properties).toEqual({
      name: { type: 'string', title: 'Name', minLength: 1 },
    });
  });

  test.each<JsonSchema>([
    {},
    { type: 'string' },
    { type: 'object' },
    { type: 'object', properties: {} },
    { type: 'object', properties: { a: { type: 'object' } } },
    { type: 'object', properties: { a: { type: 'array', items: { type: 'string' } } } },
    { type: 'object', properties: { a: { type: ['string', 'null'] } } },
    { type: 'object', properties: { a: { anyOf: [{ type: 'string' }] } } },
    { type: 'object', properties: { a: { type: 'integer', enum: [1, 2] } } },
    { type: 'object', properties: { a: true } },
  ])('cannot be %j', (schema) => {
    expect(formOf(action('yield', schema))).toBeUndefined();
  });
});
