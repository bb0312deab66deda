import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../graph/json.js';
import { ask, body, foreach, isMore, item, place, undo } from './constructs.fixture.js';
import {
  again,
  broken,
  call,
  compute,
  done,
  graph,
  input,
  list,
  lit,
  Run,
  step,
  stop,
} from './graph.fixture.js';
import { snapshot } from './snapshot.js';

const each = (options: Parameters<typeof foreach>[3] = {}, value = step('line')) =>
  foreach(
    'lines',
    input('items'),
    body([call('line', { it: item('item'), at: place('index') })], value),
    options,
  );

const result = (node = each()) => graph([node], { returns: step('lines') });

describe('N3: a loop', () => {
  test('runs its body for each item, one after the other', () => {
    const run = new Run(result(), { items: ['a', 'b'] });
    expect(run.commands[0]).toMatchObject({ id: 'line[0]#1', node: 'line[0]', input: { it: 'a', at: 0 } });
    expect(run.returns('line[0]', 1).commands).toContainEqual(
      expect.objectContaining({ id: 'line[1]#1', input: { it: 'b', at: 1 } }),
    );
    expect(run.returns('line[1]', 2).state.run.result).toEqual([1, 2]);
  });

  test('at most `concurrency` at once, with the values in the order of the items', () => {
    const run = new Run(result(each({ concurrency: 2 })), { items: [1, 2, 3] });
    expect(run.inFlight).toEqual(['line[0]', 'line[1]']);
    expect(run.returns('line[1]', 'b').inFlight).toEqual(['line[0]', 'line[2]']);
    expect(run.returns('line[2]', 'c').returns('line[0]', 'a').state.run.result).toEqual(['a', 'b', 'c']);
  });

  test('without items it succeeds, and an absent value becomes null', () => {
    expect(new Run(result(), { items: [] }).state.run.result).toEqual([]);
    const empty = foreach('lines', input('items'), body([]));
    expect(new Run(result(empty), { items: [1, 2] }).state.run.result).toEqual([null, null]);
  });

  test('its items each have idempotency keys of their own', () => {
    const run = new Run(result(each({ concurrency: 3 })), { items: [1, 1, 1] });
    const keys = run.commands.flatMap((command) => (command.kind === 'callTool' ? [command.key] : []));
    expect(new Set(keys).size).toBe(3);
  });

  test('nested loops see both items', () => {
    const inner = foreach(
      'cells',
      item('row'),
      body([call('cell', { r: place('r'), c: place('c'), it: item('col') })], step('cell')),
      { as: 'col', indexAs: 'c', concurrency: 2 },
    );
    const outer = foreach('rows', input('items'), body([inner], step('cells')), { as: 'row', indexAs: 'r' });
    const run = new Run(graph([outer], { returns: step('rows') }), { items: [['x', 'y'], ['z']] });
    expect(run.inFlight).toEqual(['cell[0][0]', 'cell[0][1]']);
    expect(run.tables.commands['cell[0][1]#1']).toMatchObject({ input: { r: 0, c: 1, it: 'y' } });
    run.returns('cell[0][0]', 1).returns('cell[0][1]', 2).returns('cell[1][0]', 3);
    expect(run.state.run.result).toEqual([[1, 2], [3]]);
  });

  test('N5: what a body names is its own item’s; outside, and in another loop, it is absent', () => {
    const first = foreach('first', input('items'), body([compute('x', item('item'))], step('x')));
    const second = foreach(
      'second',
      input('items'),
      body([compute('y', list(step('x'), item('item')))], step('y')),
    );
    const run = new Run(graph([first, second], { returns: list(step('x'), step('second')) }), {
      items: [1, 2],
    });
    expect(run.state.run.result).toEqual([
      null,
      [
        [null, 1],
        [null, 2],
      ],
    ]);
  });

  test.each<[string, Json]>([
    ['null', null],
    ['text', 'abc'],
    ['an object', { a: 1 }],
    ['a number', 3],
  ])('over %s fails before anything runs', (_name, items) => {
    const run = new Run(result(each({ retry: again(2) })), { items });
    expect(run.state.run).toMatchObject({ status: 'failed', failure: { code: 'E_FOREACH_ITEMS' } });
    expect(run.kinds()).not.toContain('retrying lines');
  });

  test('N4: over too many items fails before the first one runs', () => {
    const items = Array.from({ length: 1_000_000 }, (_, index) => index);
    const run = new Run(result(), { items });
    expect(run.state.run.failure).toEqual({
      code: 'E_FOREACH_LIMIT',
      message: 'The loop has 1000000 items, and at most 1000 are allowed.',
    });
    expect(run.commands).toEqual([]);
  });

  test('over items without a value fails', () => {
    expect(new Run(result(foreach('lines', broken, body([])))).state.run.failure?.code).toBe(
      'E_NOT_AN_OBJECT',
    );
  });
});

describe('an item that fails', () => {
  test('ends the loop: nothing further begins, what runs is stopped, and its place is told', () => {
    const nodes = body([call('a'), call('b', {}, { after: ['a'] }), ask('sure')]);
    const run = new Run(result(foreach('lines', input('items'), nodes, { concurrency: 2 })), {
      items: [1, 2, 3],
    });
    run.fails('a[1]');
    expect([run.status('b[0]'), run.status('sure[0]'), run.inFlight]).toEqual([
      'skipped(upstream_failed)',
      'cancelled',
      ['a[0]'],
    ]);
    run.returns('a[0]');
    expect(run.state.run).toMatchObject({
      status: 'failed',
      failure: { code: 'E_TOOL', message: 'broke', details: { index: 1, partial: {} } },
    });
    expect(run.tables.nodes['a[2]']).toBeUndefined();
  });

  test('keeps the details it had', () => {
    const run = new Run(result(), { items: [1] }).fails('line[0]', {
      code: 'E',
      message: '',
      details: { x: 1 },
    });
    expect(run.state.run.failure?.details).toEqual({ index: 0, partial: {}, details: { x: 1 } });
  });

  test('leaves the values of those that succeeded in its failure, by place', () => {
    const run = new Run(result(each({ concurrency: 3 })), { items: [1, 2, 3, 4] });
    run.returns('line[0]', 'a').fails('line[1]').returns('line[2]', 'c').returns('line[3]', 'd');
    expect(run.state.run.failure?.details).toEqual({ index: 1, partial: { 0: 'a', 2: 'c', 3: 'd' } });
  });

  test('leaves no more values in its failure than fit, and the number of the others', () => {
    const run = new Run(result(), { items: [1, 2, 3, 4] });
    run
      .returns('line[0]', 'x')
      .returns('line[1]', 'y'.repeat(16_384))
      .returns('line[2]', 'z')
      .fails('line[3]');
    expect(run.state.run.failure?.details).toEqual({ index: 3, partial: { 0: 'x' }, partial_omitted: 2 });
  });

  test('counts the indices of the values it leaves', () => {
    const items = Array.from({ length: 1_000 }, (_, index) => index);
    const run = new Run(result(), { items });
    for (const index of items.slice(0, -1)) run.returns(`line[${index}]`, 'x'.repeat(20));
    run.fails('line[999]');
    const details = run.state.run.failure?.details as JsonObject;
    const size = JSON.stringify(details.partial).length;
    expect(size).toBeLessThanOrEqual(16_384);
    expect(size).toBeGreaterThan(16_300);
    expect(Object.keys(details.partial as JsonObject).length + Number(details.partial_omitted)).toBe(999);
  });

  test('with `continue` has the value null', () => {
    const run = new Run(result(each({ onItemError: 'continue' })), { items: [1, 2, 3] });
    run.returns('line[0]', 'a').fails('line[1]').returns('line[2]', 'c');
    expect(run.state.run).toMatchObject({ status: 'succeeded', result: ['a', null, 'c'] });
  });

  test('a value of the body that cannot be evaluated is a failure of the item', () => {
    const run = new Run(result(each({ onItemError: 'continue' }, broken)), { items: [1] }).returns('line[0]');
    expect(run.state.run.result).toEqual([null]);
  });

  test('makes the loop start over when it is retried', () => {
    const run = new Run(result(each({ retry: again(1) })), { items: [1, 2] })
      .returns('line[0]', 1)
      .fails('line[1]');
    expect(run.inFlight).toEqual(['line[0]']);
    expect(Object.keys(run.tables.commands)[0]).toBe('line[0]@1~2#1');
    expect(run.returns('line[0]', 5).returns('line[1]', 6).state.run.result).toEqual([5, 6]);
  });
});

describe('ends from inside a loop', () => {
  test('a return ends the workflow, and no further item begins', () => {
    const when = isMore(item('item'), 1);
    const loop = foreach(
      'lines',
      input('items'),
      body([done('out', item('item'), { when }), compute('x', lit(1))]),
    );
    const run = new Run(result(loop), { items: [1, 2, 3] });
    expect(run.state.run).toMatchObject({ status: 'succeeded', result: 2, endedBy: 'out[1]' });
    expect(run.facts.filter(({ kind }) => kind === 'partStarted')).toHaveLength(2);
  });

  test('an error fails its item alone', () => {
    const when = isMore(item('item'), 1);
    const nodes = body([stop('big', lit('too big'), { when })], item('item'));
    const loop = foreach('lines', input('items'), nodes, { onItemError: 'continue' });
    expect(new Run(result(loop), { items: [1, 2, 0] }).state.run.result).toEqual([1, null, 0]);
  });
});

describe('rows', () => {
  const rowsOf = (run: Run) => snapshot(run.state).length;

  test('those of a finished item are gone; what undoes it is in its undo record', () => {
    const run = new Run(result(), { items: [1, 2, 3] }).returns('line[0]', 'a').returns('line[1]', 'b');
    expect(Object.keys(run.tables.nodes)).toEqual(['lines', 'line[2]']);
    expect(run.tables.outputs).toEqual({ 'lines[0]': 'a', 'lines[1]': 'b' });
    run.returns('line[2]', 'c');
    expect([Object.keys(run.tables.nodes), run.tables.outputs]).toEqual([
      ['lines'],
      { lines: ['a', 'b', 'c'] },
    ]);
    const kept = foreach('lines', input('items'), body([call('line', {}, { compensate: undo('u') })]));
    const undoable = new Run(result(kept), { items: [1, 2] }).returns('line[0]');
    expect(Object.keys(undoable.tables.nodes)).toEqual(['lines', 'line[1]']);
    expect(undoable.tables.effects).toEqual({
      'line[0]@1': {
        ...{ call: 'line[0]', generation: 1, tool: 'u', input: {}, status: 'active', order: 2 },
      },
    });
  });

  test('a step writes as many of them for the 1 000th item as for the 10th', () => {
    const many = (count: number) => Array.from({ length: count }, (_, index) => index);
    const changesAt = (index: number) => {
      const run = new Run(result(each({ max: 10_000 })), { items: many(1_100) });
      for (let at = 0; at < index; at += 1) run.returns(`line[${at}]`, at);
      const { changes } = run.returns(`line[${index}]`, index).last;
      return [changes.length, rowsOf(run) - index];
    };
    expect(changesAt(1_000)).toEqual(changesAt(10));
  });

  test('a thousand items that need no answer are no thousand calls deep', () => {
    const loop = foreach('lines', input('items'), body([compute('x', item('item'))], step('x')), {
      max: 20_000,
    });
    const items = Array.from({ length: 20_000 }, (_, index) => index);
    expect(new Run(result(loop), { items }).state.run.result).toEqual(items);
  });
});
