import { describe, expect, test } from 'vitest';
import type { Compensation, Node } from '../../graph/kinds/node.js';
import type { ToolSafety } from '../../graph/tool-safety.js';
import { ask, back, body, branch, compensate, foreach, parallel, undo } from './constructs.fixture.js';
import { again, call, chain, graph, input, lit, Run, step } from './graph.fixture.js';

const booking = (id: string, options: Partial<Compensation> = {}) =>
  call(id, {}, { compensate: undo(`undo-${id}`, { id: step(id, 'id') }, options) });

const trip = (left: readonly Node[], options = {}) =>
  parallel(
    'trip',
    { left: body(chain(...left)), right: body([call('bad')]) },
    { onPartialFailure: 'rollback', ...options },
  );

const compensations = ({ calls }: Run) => calls.filter(({ isCompensation }) => isCompensation);

describe('A10: a compensation in flight when the run is cancelled', () => {
  const rolling = () => {
    const run = new Run(graph([booking('other'), trip([booking('a'), booking('b')])]));
    return run.returns('other', { id: 0 }).returns('a', { id: 1 }).returns('b', { id: 2 }).fails('bad');
  };

  test('is joined by what undoes for the run, which then goes on with the others', () => {
    const run = rolling().cancel(true);
    expect([run.commands, run.inFlight, run.status('trip')]).toEqual([[], ['trip'], 'cancelled']);
    run.returns('trip').returns('a').returns('other');
    expect(compensations(run).map(({ tool }) => tool)).toEqual(['undo-b', 'undo-a', 'undo-other']);
    expect(run.state.run.status).toBe('cancelled');
    expect(run.facts.at(-2)).toMatchObject({
      ...{
        kind: 'compensated',
        report: { done: ['undo-b', 'undo-a', 'undo-other'], failed: [], not_run: [] },
      },
    });
  });

  test('and whose failure halts that as well', () => {
    const run = rolling().cancel(true).fails('trip');
    expect(run.facts.at(-2)).toMatchObject({
      report: { done: [], failed: [{ tool: 'undo-b' }], not_run: ['undo-a', 'undo-other'] },
    });
    expect(run.remains.notUndone.map(({ step: of }) => of)).toEqual(['b', 'a', 'other']);
  });

  test('reaches its limit as it would have, and is called again with its key', () => {
    const run = rolling().cancel();
    expect(run.state.run.status).toBe('running');
    expect(run.fires('trip').state.run.status).toBe('cancelled');
    expect(run.remains.notUndone).toMatchObject([
      { step: 'b', tool: 'undo-b', outcomeUnknown: true, failure: { code: 'E_TIMEOUT' } },
      { step: 'a', tool: 'undo-a' },
    ]);
  });

  test('is cancelled by the timeout of a container around it', () => {
    const outer = branch('outer', [[undefined, body([trip([booking('a')])])]], { timeoutMs: 500 });
    const run = new Run(graph([outer])).returns('a', { id: 1 }).fails('bad');
    run.send({ kind: 'timerFired', at: 1_500, command: 'outer#1:timer' });
    expect(run.commands).toContainEqual(
      expect.objectContaining({ kind: 'cancelCall', call: 'trip#1:undo:0' }),
    );
    expect([run.state.run.status, run.tables.effects['a@1']]).toMatchObject([
      'failed',
      { status: 'unknown' },
    ]);
  });
});

describe('A11: a parallel whose rollback left something', () => {
  const played = (safety: ToolSafety, left = booking('a')) => {
    const retried = branch('around', [[undefined, body([trip([left], { retry: again(1) })])]], {
      retry: again(1),
    });
    const run = new Run(graph([retried]), {}, undefined, undefined, { 'tool-a': safety });
    return run.returns('a', { id: 1 }).fails('bad');
  };

  test('is not retried, and neither is a container around it, where the call may have an effect twice', () => {
    const run = played('none').fails('trip');
    expect(run.state.run).toMatchObject({ status: 'failed', failure: { code: 'E_PARTIAL_FAILURE' } });
    expect(run.kinds().filter((kind) => kind.startsWith('retrying'))).toEqual([]);
  });

  test('not even where it is only not known to be undone', () => {
    expect(played('none').fires('trip').state.run.status).toBe('failed');
  });

  test('nor where nothing says how the call is undone', () => {
    const run = played('none', call('a'));
    expect([run.state.run.status, run.kinds().includes('retrying trip')]).toEqual(['failed', false]);
    expect(run.remains.notUndone).toMatchObject([{ step: 'a', failure: { code: 'E_NOT_UNDOABLE' } }]);
  });

  test.each(['idempotent', 'key'] as const)(
    'is retried where the tool is %s, with the same key',
    (safety) => {
      const run = played(safety).fails('trip');
      expect([run.state.run.status, run.inFlight]).toEqual(['running', ['a', 'bad']]);
      const [first, , , second] = run.calls;
      expect([first?.node, second?.node, second?.key]).toEqual(['a', 'a', first?.key]);
    },
  );

  test('is retried where everything was undone, with another key', () => {
    const run = played('none').returns('trip');
    expect([run.state.run.status, run.inFlight]).toEqual(['running', ['a', 'bad']]);
    const [first, , , second] = run.calls;
    expect(second).toMatchObject({ node: 'a', generation: 2 });
    expect(second?.key).not.toBe(first?.key);
  });

  test('is not retried where a tool that honours keys may have been undone: it takes another key', () => {
    const run = played('key').fires('trip');
    expect([run.state.run.status, run.kinds().includes('retrying trip')]).toEqual(['failed', false]);
    expect(run.remains.notUndone).toMatchObject([{ step: 'a', outcomeUnknown: true }]);
  });

  test('is retried where an idempotent tool may have been undone, with another key, and that is named', () => {
    const run = played('idempotent').fires('trip');
    expect([run.inFlight, run.calls[3]]).toMatchObject([['a', 'bad'], { node: 'a', generation: 2 }]);
    run.returns('a', { id: 1 }).returns('bad');
    expect(run.state.run.status).toBe('succeeded');
    expect(run.remains.notUndone).toMatchObject([{ step: 'a', outcomeUnknown: true, ranAgain: true }]);
  });
});

describe('A call whose effect may have been undone', () => {
  const held = (options = {}) => trip([booking('a')], { onError: { value: lit('none') }, ...options });
  const retried = (...nodes: readonly Node[]) =>
    new Run(
      graph([branch('around', [[undefined, body(chain(...nodes))]], { retry: again(1) })]),
      {},
      ...KEYS,
    );
  const KEYS = [undefined, undefined, { 'tool-a': 'key' }] as const;

  test('takes another key when a container is retried for another reason', () => {
    const run = retried(held(), call('worse')).returns('a', { id: 1 }).fails('bad').fires('trip');
    run.fails('worse').returns('a', { id: 2 }).returns('bad').returns('worse');
    expect(run.calls.filter(({ tool }) => tool === 'tool-a')).toMatchObject([
      { generation: 1 },
      { generation: 2 },
    ]);
    expect(run.tables.effects).toMatchObject({ 'a@1': { status: 'unknown' }, 'a@2': { status: 'active' } });
    expect(run.remains.notUndone).toMatchObject([{ input: { id: 1 }, outcomeUnknown: true, ranAgain: true }]);
  });

  test('takes another key where a step of a `compensate` node was to undo it', () => {
    const named = undo('undo-other', { id: step('a', 'id') });
    const clean = compensate('clean', [{ ...named, ignoreError: true }]);
    const route = branch('route', [[lit(true), 'clean']], { after: ['a'] });
    const run = retried(call('a'), route, clean, call('worse'));
    run.returns('a', { id: 1 }).fires('clean').fails('worse');
    expect(run.calls.at(-1)).toMatchObject({ node: 'a', generation: 2 });
  });

  test('keeps its key where it was not undone for sure', () => {
    const run = retried(held(), call('worse')).returns('a', { id: 1 }).fails('bad').fails('trip');
    expect(run.fails('worse').calls.filter(({ tool }) => tool === 'tool-a')).toMatchObject([
      { generation: 1 },
      { generation: 1 },
    ]);
  });
});

describe('A13: items that failed in a loop that goes on', () => {
  const loop = (options = {}) =>
    foreach('lines', input('items'), body([call('line')]), { onItemError: 'continue', ...options });

  const failure = { code: 'E_TOOL', message: 'broke' };

  test('are kept with their failures, by item', () => {
    const run = new Run(graph([loop()]), { items: [1, 2, 3] })
      .fails('line[0]')
      .returns('line[1]')
      .fails('line[2]');
    expect(run.state.run.status).toBe('succeeded');
    expect(run.tables.failedItems).toEqual({
      'lines[0]': { step: 'lines', index: 0, failure },
      'lines[2]': { step: 'lines', index: 2, failure },
    });
    expect(run.remains.failedItems).toEqual([
      { step: 'lines', index: 0, failure },
      { step: 'lines', index: 2, failure },
    ]);
  });

  test('are none of a loop that fails with its item', () => {
    const run = new Run(graph([loop({ onItemError: 'fail' })]), { items: [1] }).fails('line[0]');
    expect([run.state.run.status, run.tables.failedItems]).toEqual(['failed', {}]);
  });

  test('are forgotten when a goto starts the loop over', () => {
    const nodes = chain(loop(), back('again', 'lines', 1, { onLimit: 'continue' }));
    const run = new Run(graph(nodes), { items: [1] }).fails('line[0]');
    expect([run.inFlight, run.tables.failedItems]).toEqual([['line[0]'], {}]);
    expect(run.returns('line[0]').remains.failedItems).toEqual([]);
  });

  test('are forgotten when a container around the loop is tried again', () => {
    const inner = body(chain(loop(), call('bad')));
    const run = new Run(graph([branch('b', [[undefined, inner]], { retry: again(1) })]), { items: [1] });
    run.fails('line[0]');
    expect(Object.keys(run.tables.failedItems)).toEqual(['lines[0]']);
    expect(run.fails('bad').tables.failedItems).toEqual({});
  });

  test('of a loop in a loop are told apart', () => {
    const outer = foreach(
      'outer',
      lit([1, 2]),
      body([foreach('lines', lit([1]), body([call('line')]), { onItemError: 'continue' })]),
    );
    const run = new Run(graph([outer])).fails('line[0][0]').fails('line[1][0]');
    expect(run.remains.failedItems.map(({ step: of, index }) => [of, index])).toEqual([
      ['lines[0]', 0],
      ['lines[1]', 0],
    ]);
  });
});

describe('A14: what a run left', () => {
  test('is nothing where all went well', () => {
    const run = new Run(graph([booking('a')])).returns('a', { id: 1 });
    expect(run.remains).toEqual({ steps: [], notUndone: [], unknown: [], failedItems: [] });
  });

  test('names steps at the top, in declaration order, where something was undone', () => {
    const nodes = [booking('b'), trip([booking('l')]), booking('a'), booking('c')];
    const run = new Run(graph(nodes, { failFast: false }));
    run.returns('a', { id: 1 }).returns('b', { id: 2 }).returns('l', { id: 3 }).fails('bad').returns('trip');
    run.cancel(true).fires('c').returns('b').returns('a');
    expect(run.remains).toMatchObject({ steps: ['b', 'trip', 'a'], notUndone: [] });
    expect(run.remains.unknown).toEqual([{ step: 'c', tool: 'tool-c' }]);
  });

  test('names nothing that was not to be undone', () => {
    const run = new Run(graph([booking('a'), ask('sure')])).returns('a', { id: 1 }).cancel();
    expect(run.remains.notUndone).toEqual([]);
  });

  test('names what was not undone, the newest first, and whether that is known', () => {
    const run = new Run(
      graph([booking('a'), booking('b'), booking('c', { ignoreError: true }), ask('sure')]),
    );
    run.returns('a', { id: 1 }).returns('b', { id: 2 }).returns('c', { id: 3 }).cancel(true);
    expect(run.remains.notUndone[0]).toMatchObject({ step: 'c', outcomeUnknown: true });
    run.fires('c').fails('b');
    const broke = { code: 'E_TOOL', message: 'broke' };
    expect(run.remains.notUndone).toEqual([
      {
        ...{ step: 'c', tool: 'undo-c', input: { id: 3 }, outcomeUnknown: true },
        failure: expect.objectContaining({ code: 'E_TIMEOUT' }),
      },
      { step: 'b', tool: 'undo-b', input: { id: 2 }, failure: broke },
      { step: 'a', tool: 'undo-a', input: { id: 1 } },
    ]);
  });

  test('names steps of a `compensate` node in its own order, and says that they are its own', () => {
    const clean = compensate('clean', [undo('one'), undo('two'), undo('three')]);
    const run = new Run(graph([call('go', {}, { onError: { fallbackNode: 'clean' } }), clean]));
    run.fails('go').fails('clean');
    expect(run.remains.notUndone.map(({ tool, by }) => [tool, by])).toEqual([
      ['one', { node: 'clean', step: 0 }],
      ['two', { node: 'clean', step: 1 }],
      ['three', { node: 'clean', step: 2 }],
    ]);
  });

  test('names what a step of a `compensate` node could not undo', () => {
    const clean = compensate('clean', [undo('undo-a', { id: step('a', 'id') }, { ignoreError: true })]);
    const nodes = [booking('a'), branch('route', [[lit(true), 'clean']], { after: ['a'] }), clean];
    const run = new Run(graph(nodes)).returns('a', { id: 1 }).fails('clean');
    expect(run.state.run.status).toBe('succeeded');
    expect(run.remains.notUndone).toMatchObject([{ step: 'a', tool: 'undo-a', failure: { code: 'E_TOOL' } }]);
  });

  test('names each effect that nothing undoes of a `parallel` that rolls back when it runs again', () => {
    const nodes = chain(trip([call('a')]), back('again', 'trip', 1, { onLimit: 'continue' }));
    const run = new Run(graph(nodes)).returns('a').returns('bad');
    expect(run.remains.notUndone).toEqual([]);
    run.returns('a').fails('bad');
    expect(run.remains.notUndone.map(({ step: of, failure }) => [of, failure?.code])).toEqual([
      ['a', 'E_NOT_UNDOABLE'],
      ['bad', 'E_NOT_UNDOABLE'],
      ['a', 'E_NOT_UNDOABLE'],
    ]);
  });

  test('says that a node has run again since', () => {
    const held = trip([booking('a')], { onError: { value: lit('none') } });
    const nodes = chain(held, back('again', 'trip', 1, { onLimit: 'continue' }));
    const run = new Run(graph(nodes)).returns('a', { id: 1 }).fails('bad').fails('trip');
    run.returns('a', { id: 2 }).returns('bad');
    expect(run.state.run.status).toBe('succeeded');
    expect(run.remains.notUndone).toMatchObject([{ step: 'a', input: { id: 1 }, ranAgain: true }]);
    expect(run.remains.notUndone[0]).not.toHaveProperty('isLate');
  });

  test('marks a call that was abandoned before it succeeded', () => {
    const nodes = [call('a', {}, { onError: { value: lit('none') } }), ask('sure')];
    const run = new Run(graph(nodes)).fires('a');
    run.send({ kind: 'toolReturned', at: 2_000, command: 'a#1', value: 1 });
    expect(run.remains).toMatchObject({ unknown: [], notUndone: [{ step: 'a', isLate: true }] });
    expect(run.remains.notUndone[0]).not.toHaveProperty('ranAgain');
  });
});
