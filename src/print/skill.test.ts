import { expect, test } from 'vitest';
import { compute, graph, lit } from '../runtime/engine/graph.fixture.js';
import { skillText } from './skill.js';

const input = { name: 'key', description: 'The key', schema: {}, required: false, default: 'hunter2' };

test('has no secret default', () => {
  const textWith = (secret: object) =>
    skillText(graph([compute('a', lit(1))], { inputs: [{ ...input, ...secret }] }), 'w_sample');
  expect(textWith({})).toContain('key: any, "hunter2" by default');
  expect(textWith({ secret: true })).toContain('key: any, secret');
  expect(textWith({ secret: true })).not.toContain('hunter2');
});
