import { describe, expect, test } from 'vitest';
import { SchemaCompiler } from '../../../formats/json-schema/schema-compiler.js';
import type { Json, JsonSchema } from '../../../graph/json.js';
import type { AskMode } from '../../engine/contract.js';
import type { Action } from '../../engine/events.js';
import { readAnswer } from './decision.js';
import { formOf } from './elicitation.js';

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

describe('the result of client work', () => {
  const limit = { timeoutMs: 30_000 };
  const shell: Action = {
    ...{ type: 'shell', command: 'ls', ...limit },
    schema: {
      type: 'object',
      properties: { stdout: { type: 'string' }, stderr: { type: 'string' }, exit_code: { type: 'integer' } },
      required: ['exit_code'],
      additionalProperties: false,
    },
  };
  const tool: Action = { type: 'mcp_call', tool: 'search', args: {}, schema: {}, ...limit };
  const task = (response: JsonSchema = { type: 'string' }): Action => ({
    ...{ type: 'delegate', instructions: 'review', agent: null, ...limit },
    schema: {
      type: 'object',
      properties: { response, agent_used: { type: 'string' }, tokens_used: { type: 'number' } },
      required: ['response'],
      additionalProperties: false,
    },
  });
  const list = task({ type: 'array' });
  const text = (...texts: readonly string[]) => texts.map((each) => ({ type: 'text', text: each }));

  test.each<[string, Action, Json, Json]>([
    ['a command', shell, { exit_code: 1, stderr: 'no' }, { exit_code: 1, stderr: 'no' }],
    ['a tool, any JSON', tool, ['a'], ['a']],
    ['a tool, a text that looks like JSON', tool, '{"a":1}', '{"a":1}'],
    ['a tool, its structured content', tool, { content: [], structuredContent: { a: 1 } }, { a: 1 }],
    ['a tool, the JSON in its text', tool, { content: text('[1]') }, [1]],
    ['a tool, its text', tool, { content: text('done') }, 'done'],
    ['a tool, its blocks', tool, { content: text('a', 'b') }, text('a', 'b')],
    ['a tool, an object with an error', tool, { error: 'none' }, { error: 'none' }],
    ['a task, its text', task(), 'fine', { response: 'fine' }],
    ['a task, a text that looks like JSON', task(), '{"a":1}', { response: '{"a":1}' }],
    ['a task in full', task(), { response: 'fine', tokens_used: 7 }, { response: 'fine', tokens_used: 7 }],
    ['a task, JSON', list, { response: ['a'] }, { response: ['a'] }],
    ['a task, JSON alone', list, ['a'], { response: ['a'] }],
    ['a task, JSON as text', list, '["a"]', { response: ['a'] }],
    ['a task, JSON in a fence', list, '```json\n["a"]\n```', { response: ['a'] }],
    ['a task, a fence in full', list, { response: '```\n["a"]\n```\n' }, { response: ['a'] }],
  ])('%s', (_, action, result, value) => {
    expect(readAnswer(action, { result }, schemas)).toStrictEqual({
      ok: true,
      answer: { kind: 'value', value },
      warnings: [],
    });
  });

  test.each<[string, Action, string, Json]>([
    ['a command', shell, '{"exit_code":0}', { exit_code: 0 }],
    ['a task', task(), '{"response":"fine"}', { response: 'fine' }],
  ])('%s may come as text, with a warning', (_, action, result, value) => {
    expect(readAnswer(action, { result }, schemas)).toMatchObject({
      answer: { value },
      warnings: [{ code: 'W_STRINGIFIED' }],
    });
  });

  test.each<[string, Action, string]>([
    ['a text', task(), 'Send the response as text'],
    ['JSON', task({ type: 'object' }), 'Send the response as JSON that fits the schema'],
  ])('of a task that has to be %s is refused with what to send', (_, action, message) => {
    expect(readAnswer(action, { result: { response: 3 } }, schemas)).toMatchObject({
      failure: { code: 'E_RESULT_SHAPE', message: expect.stringContaining(message) },
    });
  });

  test('of a tool that reports an error is a failure', () => {
    const result = { content: text('no such issue'), isError: true };
    expect(readAnswer(tool, { result }, schemas)).toMatchObject({
      ok: true,
      answer: { kind: 'failure', failure: { code: 'E_TOOL_ERROR', message: 'no such issue' } },
    });
  });

  test.each<[string, Action, Json, string]>([
    ['a command without an exit code', shell, { stdout: '' }, 'exit_code'],
    ['a text for a command', shell, 'done', 'object'],
    ['another object for a task', task(), { answer: 'fine' }, 'response'],
    ['a text for JSON', list, 'a list', 'response'],
  ])('does not fit: %s', (_, action, result, problem) => {
    const message = expect.stringContaining(problem);
    const failure = { code: 'E_RESULT_SHAPE', message };
    expect(readAnswer(action, { result }, schemas)).toMatchObject({ ok: false, failure });
  });
});
