import { describe, expect, test } from 'vitest';
import type { Json } from '../../graph/json.js';
import { body, foreach } from './constructs.fixture.js';
import { call, chain, done, graph, input, Run, step } from './graph.fixture.js';
import { withLargeValues, withoutLargeValues } from './large-values.js';
import { type Change, dueTimeOf, type Row } from './rows.js';
import { foldRows, restore, snapshot } from './snapshot.js';
import { rowsText, textOf } from './tables.fixture.js';

const LONG = 'é'.repeat(70_000);

const values = (rows: readonly Change[]) => rows.filter(({ table }) => table === 'values');

describe('a large value', () => {
  const of = graph(chain(call('a'), call('b', { text: step('a', 'text') }), done('out', step('b'))));

  test('is stored once, however many rows hold it, and deleted with the last of them', () => {
    const run = new Run(of).returns('a', { text: LONG, size: 2 });
    const stored = values(run.last.changes);
    expect(stored).toMatchObject([{ op: 'put', row: LONG }]);
    expect(run.last.changes.filter(({ table }) => table === 'nodes')).toMatchObject([
      { key: 'a', row: { output: { size: 2 } }, refs: ['/output/text'] },
      { key: 'b', refs: ['/command/input/text'] },
    ]);
    expect(values(run.returns('b', 1).last.changes)).toEqual([]);
    expect(values(snapshot(run.state))).toHaveLength(1);
  });

  test('is deleted with the last row that holds it', () => {
    const item = body(chain(call('in'), call('use', { all: step('in') })));
    const of = graph([foreach('each', input('list'), item, { concurrency: 1 })]);
    const run = new Run(of, { list: [1, 2] }).returns('in[0]', LONG);
    const [stored] = values(run.last.changes);
    expect(values(run.returns('use[0]', LONG).last.changes)).toEqual([
      { op: 'delete', table: 'values', key: stored?.key },
    ]);
    expect(values(snapshot(run.state))).toEqual([]);
  });

  test('is there again when the state is restored, and deleted as if it had not been', () => {
    const run = new Run(of).returns('a', { text: LONG });
    const rows = JSON.parse(JSON.stringify(snapshot(run.state))) as Row[];
    const again = restore(run.plan, rows.reverse());
    expect(rowsText(again)).toBe(rowsText(run.state));
    expect(again.find('a').output).toEqual({ text: LONG });
    expect(again.owed.get('b#1')?.command).toEqual(run.state.owed.get('b#1')?.command);
  });

  test('is not that of another order of keys: each is restored with its own', () => {
    const names = Array.from({ length: 10_000 }, (_, at) => `name-${at}`);
    const inOrder = (keys: readonly string[]) => Object.fromEntries(keys.map((key) => [key, 1]));
    const run = new Run(graph(chain(call('a'), call('b'))));
    const changes = [...run.last.changes];
    for (const [node, keys] of [
      ['a', names],
      ['b', names.toReversed()],
    ] as const) {
      changes.push(...run.returns(node, inOrder(keys)).last.changes);
    }
    const rows = JSON.parse(JSON.stringify(foldRows(changes))) as Row[];
    expect(values(rows)).toHaveLength(2);
    const again = restore(run.plan, rows);
    expect(Object.keys(again.find('a').output as object)).toEqual(names);
    expect(Object.keys(again.find('b').output as object)).toEqual(names.toReversed());
  });

  test('makes the changes of a run add up to its state', () => {
    const run = new Run(
      graph(chain(call('a'), call('b', { x: step('a') }, { onError: { value: step('a') } }))),
    );
    const changes = [...run.last.changes];
    changes.push(...run.returns('a', [LONG, LONG, { k: LONG }]).last.changes);
    expect(textOf(foldRows(changes))).toBe(rowsText(run.state));
    changes.push(...run.fails('b').last.changes);
    expect(textOf(foldRows(changes))).toBe(rowsText(run.state));
  });

  test.each<[string, Json, readonly string[]]>([
    ['a text', LONG, ['']],
    ['a long list of small items', Array.from({ length: 20_000 }, (_, at) => at), ['']],
    ['a part under a strange name', { 'a/b~c': { ['__proto__']: LONG } }, ['/a~1b~0c/__proto__']],
    ['two parts that are equal', { a: LONG, b: [1, LONG] }, ['/a', '/b/1']],
  ])('is %s', (_name, value, refs) => {
    const row: Row = { op: 'put', table: 'outputs', key: 'k', row: value };
    const [first, ...others] = withoutLargeValues([row]);
    expect(first?.refs).toEqual(refs);
    expect(others).toHaveLength(1);
    expect(withLargeValues(JSON.parse(JSON.stringify([...others, first])) as Row[])).toEqual([row]);
  });

  test('is none up to the limit', () => {
    const row: Row = { op: 'put', table: 'outputs', key: 'k', row: 'x'.repeat(65_000) };
    expect(withoutLargeValues([row])).toEqual([row]);
  });

  test('never takes what a journal reads of a row', () => {
    const message = 'm'.repeat(40_000);
    const text = 'x'.repeat(65_450);
    const retry = { extra: 1, delayMs: 10, backoff: 'constant', capMs: 60_000, jitter: 0 } as const;
    const run = new Run(graph([call('a', { text: input('text') }, { retry })]), { text });
    const rowsOf = () => snapshot(run.state).filter(({ table }) => table === 'nodes');
    expect(rowsOf().map(dueTimeOf)).toEqual([{ command: 'a#1', dueAt: 61_000 }]);
    run.fails('a', { code: 'E_TOOL', message });
    expect(rowsOf().map(dueTimeOf)).toEqual([{ command: 'a#1:delay', dueAt: 1_010 }]);
    run.waits('a').fails('a', { code: 'E_TOOL', message });
    const end = snapshot(run.state).find(({ table }) => table === 'run');
    expect(end).toMatchObject({ row: { status: 'failed' } });
    expect(rowsText(restore(run.plan, snapshot(run.state)))).toBe(rowsText(run.state));
  });

  test('that is missing among the rows is named', () => {
    const run = new Run(of).returns('a', { text: LONG });
    const rows = snapshot(run.state).filter(({ table }) => table !== 'values');
    expect(() => restore(run.plan, rows)).toThrow("row 'a' in 'nodes' holds a value that is not there");
  });
});
