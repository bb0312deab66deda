import { expect, test } from 'vitest';
import { planOf } from '../../plan/compile.js';
import { advance, start } from './engine.js';
import { call, chain, done, graph, Run, step } from './graph.fixture.js';
import { outstanding } from './read.js';
import { foldRows, restore, snapshot } from './snapshot.js';
import { GraphMismatchError, StateVersionError } from './state.js';
import { rowsText, textOf } from './tables.fixture.js';

const line = graph([call('a'), call('b')]);
const returning = graph(chain(call('a'), done('out', step('a'))));

test('puts rows, replaces and deletes them', () => {
  const { changes, state } = new Run(line).last;
  expect(textOf(foldRows(changes))).toBe(rowsText(state));
  const later = foldRows([
    ...changes,
    { op: 'put', table: 'fields', key: 'x', row: { value: 1 } },
    { op: 'put', table: 'fields', key: 'x', row: { value: 2 } },
    { op: 'delete', table: 'nodes', key: 'a' },
  ]);
  expect(later.filter(({ table }) => table === 'fields')).toMatchObject([{ key: 'x', row: { value: 2 } }]);
  expect(later.filter(({ table }) => table === 'nodes').map(({ key }) => key)).toEqual(['b']);
});

test('makes a state of rows in any order, with keys that objects have of their own', () => {
  const { changes } = new Run(line).last;
  const odd = foldRows([...changes, { op: 'put', table: 'fields', key: '__proto__', row: { value: 1 } }]);
  const state = restore(planOf(line), odd.reverse());
  expect([...state.fields.rows()]).toEqual([['__proto__', { value: 1 }]]);
  expect([...state.owed.keys()]).toEqual(['a#1', 'b#1']);
});

test('refuses rows without a start', () => {
  expect(() => restore(planOf(line), [])).toThrow('do not begin a run');
});

test('refuses to read changes too late', () => {
  const plan = planOf(line);
  const begun = start(plan, {}, { runId: 'r', at: 1 });
  advance(plan, begun.state, []);
  expect(() => begun.changes).toThrow('before the state is advanced again');
});

test('restores a state of its own rows, with the same outstanding commands', () => {
  const run = new Run(returning);
  const copy = restore(planOf(returning), JSON.parse(JSON.stringify(snapshot(run.state))));
  expect(rowsText(copy)).toBe(rowsText(run.state));
  expect(outstanding(copy)).toEqual(outstanding(run.state));
});

test('refuses rows of another graph, and of a later version', () => {
  const rows = snapshot(new Run(returning).state);
  expect(() => restore(planOf(graph([call('b')])), rows)).toThrow(GraphMismatchError);
  const later = rows.map((row) =>
    row.table === 'run' ? { ...row, row: { ...row.row, stateVersion: 99 } } : row,
  );
  expect(() => restore(planOf(returning), later)).toThrow(StateVersionError);
});
