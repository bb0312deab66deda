import { expect, test } from 'vitest';
import { Greet } from '../../../examples/greeting/greet.tool.js';

test.each([
  [{ name: 'Ada' }, 'Hi Ada!'],
  [{ name: 'Ada', style: 'casual' }, 'Hi Ada!'],
  [{ name: ' Ada\nLovelace ', style: 'formal' }, 'Good day, Ada Lovelace.'],
] as const)('%j is greeted with %j', (input, greeting) => {
  expect(new Greet().execute(input)).toEqual({ greeting });
});

test('an empty name is not greeted', () => {
  expect(() => new Greet().execute({ name: '\n' })).toThrow('without a name');
});
