import { expect, test } from 'vitest';
import type { Json } from '../../../graph/json.js';
import type { Envelope } from '../../runs/run/envelope.js';
import { longResult } from './long-results.js';

const outlineOf = (result: Json, limit: number) => {
  const envelope: Partial<Envelope> = { workflow_id: 'r', definition: { name: 'w', hash: 'h' }, result };
  return longResult(envelope as Envelope, limit)?.outline;
};

test('a result that fits has no outline', () => {
  expect(outlineOf({ a: 1 }, 7)).toBe(undefined);
});

test('the outline of an object has its members, with the size of those that are long', () => {
  const result = {
    rows: Array.from({ length: 900 }, () => 0),
    total: 7,
    by: { a: 1 },
    none: [],
    'a\nb': 'x'.repeat(500),
  };
  expect(outlineOf(result, 1_500)?.split('\n')).toEqual([
    '- rows: a list of 900 items',
    '- total: 7',
    '- by: an object of 1 member',
    '- none: a list of 0 items',
    expect.stringMatching(/^- a b: "x+…$/),
  ]);
});

test('the outline of many members says how many it leaves out', () => {
  const result = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`m${at}`, at]));
  const lines = outlineOf(result, 1_500)?.split('\n') ?? [];
  expect(lines).toHaveLength(21);
  expect(lines.at(-1)).toBe('- and 180 more');
});

test('the outline of a text is its begin, of a list its length', () => {
  expect(outlineOf('word '.repeat(1_000), 2_000)).toMatch(/^It begins with:\nword word /);
  expect(outlineOf('word '.repeat(1_000), 2_000)?.length).toBeLessThan(1_050);
  expect(
    outlineOf(
      Array.from({ length: 900 }, () => 0),
      10,
    ),
  ).toBe('It is a list of 900 items.');
});
