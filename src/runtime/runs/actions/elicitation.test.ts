import { expect, test } from 'vitest';
import type { JsonSchema } from '../../../graph/json.js';
import type { Action } from '../../engine/events.js';
import { formOf } from './elicitation.js';

const choice = (...options: readonly string[]): Action => ({
  type: 'ask',
  mode: 'choice',
  message: 'Which?',
  options,
  schema: {
    type: 'object',
    properties: { selected: { type: 'string', enum: options } },
    required: ['selected'],
  },
});

test('choices that hold what does not show have names to read, and keep their values', () => {
  const options = ['plain', 'a\u202eb'];
  expect(formOf(choice(...options))?.schema).toMatchObject({
    properties: { selected: { type: 'string', enum: options, enumNames: ['plain', 'a\\u202eb'] } },
  });
});

test('other choices are shown as they are', () => {
  expect(formOf(choice('left', 'right'))?.schema).toEqual({
    type: 'object',
    properties: { selected: { type: 'string', enum: ['left', 'right'] } },
    required: ['selected'],
  });
});

test('several of some choices are a list of them, and no other list is a field', () => {
  const formWith = (items: JsonSchema) =>
    formOf({
      ...{ type: 'ask', mode: 'yield', message: 'Which?' },
      schema: {
        type: 'object',
        properties: { picked: { type: 'array', items, maxItems: 2, uniqueItems: true } },
      },
    })?.schema;
  const fields = (items: JsonSchema) => ({
    type: 'object',
    properties: { picked: { type: 'array', items, maxItems: 2 } },
  });
  const choices = { type: 'string', enum: ['left', 'right'] };
  expect(formWith({ ...choices, maxLength: 9 })).toEqual(fields(choices));
  expect(formWith({ type: 'string', enum: ['plain', 'a\u202eb'] })).toEqual(
    fields({
      anyOf: [
        { const: 'plain', title: 'plain' },
        { const: 'a\u202eb', title: 'a\\u202eb' },
      ],
    }),
  );
  for (const items of [{ type: 'string' }, { type: 'integer', enum: [1] }, { type: 'array', items: choices }])
    expect(formWith(items)).toBeUndefined();
});
