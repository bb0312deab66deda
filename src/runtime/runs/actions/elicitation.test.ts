import { expect, test } from 'vitest';
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
