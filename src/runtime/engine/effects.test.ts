import { describe, expect, test } from 'vitest';
import { canonicalJson } from '../../graph/canonical.js';
import type { Compensation, Node } from '../../graph/kinds/node.js';
import {
  ask,
  back,
  body,
  branch,
  field,
  foreach,
  item,
  parallel,
  runs,
  set,
  undo,
  withTasks,
} from './constructs.fixture.js';
import { again, call, chain, coalesce, graph, input, lit, Run, step } from './graph.fixture.js';

const undoes = (id: string, options = {}) => undo(`undo-${id}`, { id: step(id, 'id') }, options);

const booking = (id: string, options: Partial<Compensation> = {}) =>
  call(id, {}, { compensate: undoes(id, options) });

const state = [{ name: 'n', scope: 'run', schema: {}, initial: 0 } as const];

const key = (node: string, generation: number, index = 0) =>
  canonicalJson(['undo', canonicalJson(['call', 'run-1', node, generation]), index]);

/** Compensations in the order of their issue. */
const made = ({ calls }: Run) => calls.filter(({ isCompensation }) => isCompensation);

/** Answers every compensation with success, up to the end of the run. */
function undoAll(run: Run): Run {
  for (;;) {
    const [open] = Object.values(run.tables.commands).filter(
      (command) => command.kind === 'callTool' && command.isCompensation,
    );
    if (open === undefined) return run;
    run.send({ kind: 'toolReturned', at: run.at, command: open.id, value: null });
  }
}

const trip = (left: readonly Node[], options = {}) =>
  parallel(
    'trip',
    { left: body(chain(...left)), right: body([call('bad')]) },
    { onPartialFailure: 'rollback', ...options },
  );

describe('A5: the undo record', () => {
  test('is written with the success, with the input as it is then', () => {
    const compensate = undo('back', { id: step('a', 'id'), n: field('n') });
    const nodes = [call('a', {}, { compensate }), set('s', { n: lit(7) }, { after: ['a'] }), ask('sure')];
    const run = new Run(graph(nodes, { state })).returns('a', { id: 1 });
    expect(run.tables.fields.n).toEqual({ value: 7 });
    expect(run.tables.effects).toEqual({
      'a@1': {
        ...{ call: 'a', generation: 1, tool: 'back', input: { id: 1, n: 0 }, status: 'active', order: 3 },
      },
    });
    expect(made(run.cancel(true))).toMatchObject([{ tool: 'back', input: { id: 1, n: 0 }, undoes: 'a' }]);
  });

  test('is not written for a fallback value, a failure, and a call without compensation', () => {
    const nodes = [
      { ...booking('a'), onError: { value: lit({ id: 0 }) } },
      { ...booking('b'), onError: { fallbackNode: 'c' } },
      call('c'),
    ];
    const run = new Run(graph(nodes)).fails('a').fails('b').returns('c');
    expect([run.state.run.status, run.tables.effects]).toEqual(['succeeded', {}]);
  });

  test('is failed where the input has no value; the call has succeeded all the same, and the others are undone', () => {
    const deep = undo('undo-b', { id: step('b', 'id', 'deep') });
    const nodes = chain(booking('a'), call('b', {}, { compensate: deep }), booking('c'), ask('sure'));
    const run = new Run(graph(nodes))
      .returns('a', { id: 1 })
      .returns('b', { id: null })
      .returns('c', { id: 3 });
    expect(run.status('b')).toBe('succeeded');
    const failure = { code: 'E_NOT_AN_OBJECT' };
    expect(run.tables.effects['b@1']).toMatchObject({ status: 'failed', tool: 'undo-b', failure });
    expect(run.tables.effects['b@1']).not.toHaveProperty('input');
    undoAll(run.cancel(true));
    expect(made(run).map(({ tool }) => tool)).toEqual(['undo-c', 'undo-a']);
    expect(run.facts.at(-2)).toMatchObject({
      report: { done: ['undo-c', 'undo-a'], failed: [{ tool: 'undo-b', failure }], not_run: [] },
    });
  });

  test('is failed where the input plainly refers to a step that was skipped', () => {
    const plain = undo('plain', { id: step('a', 'id'), of: step('no') });
    const guarded = undo('guarded', { of: coalesce(step('no'), lit('none')) });
    const nodes = chain(
      call('no', {}, { when: lit(false) }),
      call('a', {}, { compensate: plain }),
      call('b', {}, { compensate: guarded }),
      ask('sure'),
    );
    const run = new Run(graph(nodes)).returns('a', { id: 1 }).returns('b');
    expect(run.tables.effects['a@1']).toMatchObject({
      status: 'failed',
      failure: { code: 'E_COMPENSATION' },
    });
    expect(run.tables.effects['a@1']?.failure?.message).toContain('no');
    expect(run.tables.effects['b@1']).toMatchObject({ status: 'active', input: { of: 'none' } });
    undoAll(run.cancel(true));
    expect(run.state.run.failure?.details).toMatchObject({
      compensation: { done: ['guarded'], failed: [{ tool: 'plain' }], not_run: [] },
    });
  });

  const twice = (first: number, second: number) => {
    const inner = body(chain(booking('a'), call('bad')));
    const nodes = chain(branch('b', [[undefined, inner]], { retry: again(1) }), ask('sure'));
    const run = new Run(graph(nodes)).returns('a', { id: first }).fails('bad');
    return run.returns('a', { id: second }).returns('bad');
  };

  test('of a second success of a generation is another one where it is undone with another input', () => {
    const run = twice(1, 2);
    expect(Object.keys(run.tables.effects)).toEqual(['a@1', 'a@1+1']);
    undoAll(run.cancel(true));
    expect(made(run).map(({ input: sent, key: text }) => [sent, text])).toEqual([
      [{ id: 2 }, key('a', 1, 1)],
      [{ id: 1 }, key('a', 1, 0)],
    ]);
  });

  test('is the same one, and newer, where it is undone with the same input', () => {
    const run = twice(1, 1);
    expect(run.tables.effects).toMatchObject({ 'a@1': { status: 'active', order: 5 } });
    undoAll(run.cancel(true));
    expect(made(run).map(({ input: sent, key: text }) => [sent, text])).toEqual([[{ id: 1 }, key('a', 1)]]);
  });

  test('G2: becomes a plain one again by a success of the same effect, after it could not be undone', () => {
    const retried = trip([booking('pay')], { retry: again(1) });
    const safe = { 'tool-pay': 'key', 'tool-bad': 'idempotent' } as const;
    const run = new Run(graph([retried, ask('sure')]), {}, undefined, undefined, safe);
    run.returns('pay', { id: 1 }).fails('bad').fails('trip');
    expect(run.tables.effects['pay@1']).toMatchObject({ status: 'failed', needsUndo: true });
    run.returns('pay', { id: 1 }).returns('bad');
    const { effects } = run.tables;
    expect(effects['pay@1']).toEqual({
      ...{ call: 'pay', generation: 1, tool: 'undo-pay', input: { id: 1 }, status: 'active' },
      order: expect.any(Number),
    });
  });
});

describe('A5: a call without compensation', () => {
  const named = (run: Run) => run.remains.notUndone;

  test('that a rollback cannot undo is named, and is in none of its lists', () => {
    const run = new Run(graph([trip([call('x'), booking('l')])])).returns('x').returns('l', { id: 1 });
    run.fails('bad').returns('trip');
    expect(run.state.run.failure?.details).toMatchObject({
      compensation: { done: ['undo-l'], failed: [], not_run: [] },
    });
    expect(run.tables.effects['x@1']).toMatchObject({ status: 'failed', needsUndo: true });
    expect(named(run)).toMatchObject([{ step: 'x', failure: { code: 'E_NOT_UNDOABLE' } }]);
    expect(named(run)[0]).not.toHaveProperty('tool');
  });

  test('leaves no record where the rollback never comes', () => {
    const run = new Run(graph([trip([call('x')]), ask('sure')])).returns('x').returns('bad');
    expect([run.status('trip'), run.tables.effects]).toEqual(['succeeded', {}]);
  });

  test('leaves none where it only reads, and where nothing rolls back', () => {
    const safe = { 'tool-x': 'readOnly' } as const;
    const reads = new Run(graph([trip([call('x')])]), {}, undefined, undefined, safe)
      .returns('x')
      .fails('bad');
    expect([reads.tables.effects, named(reads)]).toEqual([{}, []]);
    const plain = parallel('p', { left: body([call('x')]), right: body([call('bad')]) });
    expect(new Run(graph([plain])).returns('x').tables.effects).toEqual({});
  });

  test('is recorded in the workflows that a branch runs', () => {
    const task = graph([call('x')], { name: 'task' });
    const run = new Run(withTasks(graph([trip([runs('sub', 'task')])]), task)).returns('sub/x').fails('bad');
    expect(named(run)).toMatchObject([{ step: 'sub/x' }]);
  });

  test('G4: stays recorded until the outermost rollback around it has settled', () => {
    const inner = parallel('inner', { one: body([call('x')]) }, { onPartialFailure: 'rollback' });
    const run = new Run(graph([trip([inner]), ask('sure')])).returns('x');
    expect([run.status('inner'), Object.keys(run.tables.effects)]).toEqual(['succeeded', ['x@1']]);
    run.fails('bad');
    expect(named(run)).toMatchObject([{ step: 'x' }]);
  });
});

describe('A6, A7: what is undone', () => {
  const visits = () => chain(booking('book'), back('again', 'book', 2, { onLimit: 'continue' }));

  const booked = (run: Run) =>
    run.returns('book', { id: 1 }).returns('book', { id: 2 }).returns('book', { id: 3 });

  const expected = [
    [{ id: 3 }, key('book', 3)],
    [{ id: 2 }, key('book', 2)],
    [{ id: 1 }, key('book', 1)],
  ];

  const sent = (run: Run) => made(run).map(({ input: each, key: text }) => [each, text]);

  test('three visits of a goto are three compensations, the last one first, when the run is cancelled', () => {
    const run = booked(new Run(graph(chain(...visits(), ask('sure'))))).cancel(true);
    expect([sent(undoAll(run)), run.state.run.status]).toEqual([expected, 'cancelled']);
  });

  test('and when a parallel rolls back', () => {
    const run = booked(new Run(graph([trip(visits())]))).fails('bad');
    expect(sent(undoAll(run))).toEqual(expected);
    expect(run.state.run).toMatchObject({ status: 'failed', failure: { code: 'E_PARTIAL_FAILURE' } });
  });

  test('so are the items of a loop and what a workflow did, although their scopes are forgotten', () => {
    const task = graph([booking('x')], { name: 'task' });
    const loop = foreach(
      'lines',
      input('items'),
      body([call('line', {}, { compensate: undo('back', { n: item('item') }) })]),
    );
    const nodes = chain(loop, runs('sub', 'task'), ask('sure'));
    const run = new Run(withTasks(graph(nodes), task), { items: ['a', 'b'] });
    run.returns('line[0]').returns('line[1]').returns('sub/x', { id: 9 });
    expect(Object.keys(run.tables.nodes)).toEqual(['lines', 'sub', 'sure']);
    undoAll(run.cancel(true));
    expect(made(run).map(({ undoes: of, input: each }) => [of, each])).toEqual([
      ['sub/x', { id: 9 }],
      ['line[1]', { n: 'b' }],
      ['line[0]', { n: 'a' }],
    ]);
  });

  test('what an attempt before did is undone with the last one', () => {
    const inner = branch('b', [[undefined, body(chain(booking('a'), call('odd')))]], { retry: again(1) });
    const run = new Run(graph([trip([inner])])).returns('a', { id: 1 }).fails('odd').returns('a', { id: 2 });
    run.fails('bad').returns('odd');
    expect(made(undoAll(run)).map(({ input: each }) => each)).toEqual([{ id: 2 }, { id: 1 }]);
  });

  test('a rollback leaves alone what is outside of the parallel', () => {
    const run = new Run(graph([booking('other'), trip([booking('l')])]));
    run.returns('other', { id: 0 }).returns('l', { id: 1 }).fails('bad');
    expect(made(undoAll(run)).map(({ tool }) => tool)).toEqual(['undo-l']);
    expect(run.tables.effects['other@1']).toMatchObject({ status: 'active' });
    expect(run.remains.notUndone).toMatchObject([{ step: 'other', tool: 'undo-other' }]);
  });

  test('a failure halts: the rest stays active and is reported', () => {
    const run = new Run(graph([trip([booking('a'), booking('b'), booking('c')])]));
    run.returns('a', { id: 1 }).returns('b', { id: 2 }).returns('c', { id: 3 }).fails('bad');
    run.returns('trip').fails('trip');
    expect(run.state.run.failure?.details).toMatchObject({
      compensation: { done: ['undo-c'], failed: [{ tool: 'undo-b' }], not_run: ['undo-a'] },
    });
    expect(run.tables.effects).toMatchObject({
      ...{ 'a@1': { status: 'active', needsUndo: true }, 'b@1': { status: 'failed', needsUndo: true } },
      'c@1': { status: 'undone' },
    });
    expect(run.remains.notUndone).toEqual([
      { step: 'b', tool: 'undo-b', input: { id: 2 }, failure: { code: 'E_TOOL', message: 'broke' } },
      { step: 'a', tool: 'undo-a', input: { id: 1 } },
    ]);
  });

  test('one without an answer in time is unknown, halts unless that is ignored, and is called with its key again', () => {
    const run = new Run(
      graph([trip([booking('a'), booking('b', { ignoreError: true })]), ask('sure')], { failFast: false }),
    );
    run.returns('a', { id: 1 }).returns('b', { id: 2 }).fails('bad').fires('trip');
    expect(run.tables.effects['b@1']).toMatchObject({ status: 'unknown', failure: { code: 'E_TIMEOUT' } });
    expect(run.inFlight).toEqual(['sure', 'trip']);
    run.returns('trip').cancel(true);
    expect(sent(run)).toEqual([
      [{ id: 2 }, key('b', 1)],
      [{ id: 1 }, key('a', 1)],
      [{ id: 2 }, key('b', 1)],
    ]);
    expect(new Set(made(run).map(({ id }) => id)).size).toBe(3);
    expect(undoAll(run).tables.effects['b@1']).toMatchObject({ status: 'undone' });
  });

  test('one that failed for sure is not called again', () => {
    const run = new Run(
      graph([trip([booking('a', { ignoreError: true })]), ask('sure')], { failFast: false }),
    );
    run.returns('a', { id: 1 }).fails('bad').fails('trip').cancel(true);
    expect([made(run).length, run.state.run.status]).toEqual([1, 'cancelled']);
    expect(run.facts.at(-2)).toMatchObject({
      report: { done: [], failed: [{ tool: 'undo-a' }], not_run: [] },
    });
    expect(run.remains.notUndone).toMatchObject([{ step: 'a', tool: 'undo-a' }]);
  });
});

test('the one that undoes for a parallel leaves the records that it does not undo marked', () => {
  const nodes = [
    trip([booking('a'), booking('b')], { compensateNode: 'clean' }),
    { ...ask('never'), when: lit(false) },
  ];
  const clean = {
    kind: 'compensate',
    id: 'clean',
    after: [],
    join: 'none_failed',
    executor: 'server',
  } as const;
  const run = new Run(graph([...nodes, { ...clean, steps: [undoes('b')] }]));
  run.returns('a', { id: 1 }).returns('b', { id: 2 }).fails('bad').returns('clean');
  expect(run.state.run).toMatchObject({ status: 'failed', failure: { code: 'E_PARTIAL_FAILURE' } });
  expect(run.remains.notUndone).toEqual([{ step: 'a', tool: 'undo-a', input: { id: 1 } }]);
  expect(run.tables.effects['b@1']).toMatchObject({ status: 'undone' });
});
