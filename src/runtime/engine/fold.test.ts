import { expect, test } from 'vitest';
import { planOf } from '../../plan/plan.js';
import { fold } from './fold.js';
import { call, graph } from './graph.fixture.js';
import { start } from './start.js';

const line = graph([call('a'), call('b')]);

test('puts rows, replaces and deletes them', () => {
  const { changes, state } = start(planOf(line), {}, { runId: 'r', at: 1 });
  expect(fold(changes)).toEqual(state);
  const later = fold([
    ...changes,
    { op: 'put', table: 'outputs', key: 'a', row: 1 },
    { op: 'put', table: 'outputs', key: 'a', row: 2 },
    { op: 'delete', table: 'commands', key: 'a#1' },
  ]);
  expect(later.outputs).toEqual({ a: 2 });
  expect(Object.keys(later.commands)).toEqual(['b#1']);
});

test('takes keys that objects have of their own', () => {
  const { changes } = start(planOf(line), {}, { runId: 'r', at: 1 });
  const odd = fold([...changes, { op: 'put', table: 'fields', key: '__proto__', row: { value: 1 } }]);
  expect(Object.keys(odd.fields)).toEqual(['__proto__']);
});

test('says so where nothing begins', () => {
  expect(() => fold([])).toThrow('do not begin a run');
});
