import { describe, expect, test } from 'vitest';
import type { ParallelNode } from '../../graph/model.js';
import { ask, body, branch, foreach, parallel, runs, undo, withTasks } from './constructs.fixture.js';
import { again, call, error, graph, input, lit, Run, step } from './graph.fixture.js';

const two = (options: Partial<ParallelNode> = {}) =>
  parallel('both', { left: body([call('l')], step('l')), right: body([call('r')], step('r')) }, options);

const result = (node: ParallelNode) => graph([node], { returns: step('both') });

describe('N1, N2: parallel', () => {
  test('begins its branches in order and gives a dict of their values', () => {
    const run = new Run(result(two()));
    expect(run.kinds().slice(0, 4)).toEqual([
      'nodeStarted both',
      'partStarted both',
      'partStarted both',
      'nodeStarted l',
    ]);
    run.returns('r', 2).returns('l', 1);
    expect(run.state.run).toMatchObject({ status: 'succeeded', result: { left: 1, right: 2 } });
    expect(JSON.stringify(run.state.run.result)).toBe('{"left":1,"right":2}');
  });

  test('leaves absent values out, and ends at once without branches', () => {
    const empty = parallel('both', { left: body([]), right: body([], lit(1)) });
    expect(new Run(result(empty)).state.run.result).toEqual({ right: 1 });
    expect(new Run(result(parallel('both', {}))).state.run.result).toEqual({});
  });

  test('runs at most `concurrency` at once', () => {
    const run = new Run(result(two({ concurrency: 1 })));
    expect(run.inFlight).toEqual(['l']);
    expect(run.returns('l', 1).inFlight).toEqual(['r']);
    expect(run.returns('r', 2).state.run.result).toEqual({ left: 1, right: 2 });
  });

  test('G13: shares the run’s places', () => {
    const run = new Run(graph([two(), call('c')], { maxConcurrency: 1 }));
    expect(run.inFlight).toEqual(['l']);
    expect(run.returns('l').inFlight).toEqual(['r']);
    expect(run.returns('r').inFlight).toEqual(['c']);
  });

  test('each part that started is told to have ended, once', () => {
    const run = new Run(result(two({ onPartialFailure: 'continue' }))).returns('l', 1).fails('r');
    const parts = run.facts.filter(({ kind }) => kind === 'partStarted' || kind === 'partEnded');
    expect(parts).toEqual([
      { kind: 'partStarted', node: 'both', arm: 'left', count: 2 },
      { kind: 'partStarted', node: 'both', arm: 'right', count: 2 },
      { kind: 'partEnded', node: 'both', arm: 'left', outcome: { status: 'succeeded', value: 1 } },
      {
        ...{ kind: 'partEnded', node: 'both', arm: 'right' },
        outcome: { status: 'failed', failure: { code: 'E_TOOL', message: 'broke' } },
      },
    ]);
  });

  test('R16: steps of its branches are visible outside, behind it', () => {
    const run = new Run(graph([two(), call('after', { x: step('r') })])).returns('l').returns('r', 3);
    expect(run.tables.commands['after#1']).toMatchObject({ input: { x: 3 } });
  });
});

describe('E14: the first branch that fails', () => {
  test('aborts the others: calls are cancelled, what waits is cancelled, nothing begins', () => {
    const three = parallel('both', {
      done: body([call('d')], step('d')),
      bad: body([call('bad')]),
      slow: body([call('slow'), call('next', {}, { after: ['slow'] }), ask('sure')]),
    });
    const run = new Run(graph([three])).returns('d', 1).fails('bad');
    expect(run.last.commands).toContainEqual({ kind: 'cancelCall', id: 'slow#1:cancel', call: 'slow#1' });
    expect(run.last.commands).toContainEqual({ kind: 'cancelCall', id: 'sure#1:cancel', call: 'sure#1' });
    expect(['slow', 'next', 'sure'].map((id) => run.status(id))).toEqual([
      'cancelled',
      'skipped(upstream_failed)',
      'cancelled',
    ]);
    expect(run.facts).toContainEqual({
      ...{ kind: 'callReturned', node: 'slow', command: 'slow#1', attempted: true },
      outcome: { ok: false, failure: expect.objectContaining({ outcomeUnknown: true }) },
    });
    expect(run.state.run).toMatchObject({
      status: 'failed',
      failure: { code: 'E_TOOL', message: 'broke', details: { partial: { done: 1 } } },
    });
    expect(Object.keys(run.tables.commands)).toEqual([]);
  });

  test('counts the values that are too large for its details', () => {
    const branches = ['small', 'large', 'bad'].map((id) => [id, body([call(id)], step(id))] as const);
    const run = new Run(graph([parallel('all', Object.fromEntries(branches))]));
    run.returns('small', 1).returns('large', 'x'.repeat(20_000)).fails('bad');
    expect(run.state.run.failure?.details).toEqual({ partial: { small: 1 }, partial_omitted: 1 });
  });

  test('E15: a success that comes after the abort is recorded, once, and nothing else changes', () => {
    const run = new Run(graph([two(), call('c')], { failFast: false })).fails('l');
    expect(run.tables.unknown).toMatchObject({ 'r@1': { step: 'r', tool: 'tool-r', attempts: ['r#1'] } });
    const late = { kind: 'toolReturned', at: 0, command: 'r#1', value: 1 } as const;
    run.send(late);
    const touched = run.last.changes.map(({ op, table, key }) => `${op} ${table} ${key}`);
    expect(touched).toEqual([
      ...['put run run-1', 'put effects r@1', 'delete abandoned r#1', 'delete unknown r@1'],
    ]);
    expect(run.tables.effects['r@1']).toMatchObject({ call: 'r', status: 'active', needsUndo: true });
    expect([run.commands, run.last.facts, run.status('r'), run.tables.outputs]).toEqual([
      [],
      [],
      'cancelled',
      {},
    ]);
    expect(run.send(late).last.changes).toEqual([]);
  });

  test('aborts loops and workflows inside the others', () => {
    const inner = foreach('loop', input('items'), body([call('one'), runs('sub', 'task')]), {
      concurrency: 2,
    });
    const node = parallel('both', { bad: body([call('bad')]), deep: body([inner]) });
    const of = withTasks(graph([node]), graph([call('inside')], { name: 'task' }));
    const run = new Run(of, { items: [1, 2, 3] });
    expect(run.inFlight).toEqual(['bad', 'one[0]', 'sub[0]/inside', 'one[1]', 'sub[1]/inside']);
    run.fails('bad');
    expect(
      run.last.commands.flatMap((command) => (command.kind === 'cancelCall' ? [command.call] : [])),
    ).toEqual(['one[0]#1', 'sub[0]/inside#1', 'one[1]#1', 'sub[1]/inside#1']);
    expect([run.status('loop'), run.state.run.status, run.inFlight]).toEqual(['cancelled', 'failed', []]);
  });

  test('with `concurrency` those that had not begun never begin', () => {
    const run = new Run(result(two({ concurrency: 1 }))).fails('l');
    expect([run.state.run.status, run.tables.nodes.r]).toEqual(['failed', undefined]);
  });

  test('does not, with `continue`: one success is a success', () => {
    const run = new Run(result(two({ onPartialFailure: 'continue' }))).fails('l').returns('r', 2);
    const failed = { error: { code: 'E_TOOL', message: 'broke' } };
    expect(run.state.run).toMatchObject({ status: 'succeeded', result: { left: failed, right: 2 } });
  });

  test('and without any success, the node fails as the first branch in declaration order', () => {
    const run = new Run(result(two({ onPartialFailure: 'continue' })));
    run.fails('r', { code: 'E_R', message: 'r' }).fails('l', { code: 'E_L', message: 'l' });
    expect(run.state.run.failure).toEqual({ code: 'E_L', message: 'l' });
  });

  test('is retried with the whole node', () => {
    const run = new Run(result(two({ retry: again(1) }))).fails('l').returns('l', 1).returns('r', 2);
    expect(run.state.run.result).toEqual({ left: 1, right: 2 });
  });

  test('E16: may be handled inside its branch', () => {
    const left = body([call('l', {}, { onError: { value: error('code') } })], step('l'));
    const run = new Run(result(parallel('both', { left, right: body([], lit(1)) }))).fails('l');
    expect(run.state.run.result).toEqual({ left: 'E_TOOL', right: 1 });
  });
});

describe('E12: rollback', () => {
  const undone = (id: string) => call(id, {}, { compensate: undo(`undo-${id}`, { id: step(id, 'id') }) });
  const trip = (options: Partial<ParallelNode> = {}) =>
    parallel(
      'both',
      {
        left: body([undone('l1'), { ...undone('l2'), after: ['l1'] }]),
        right: body([foreach('loop', input('items'), body([undone('r')]), { concurrency: 2 })]),
        bad: body([call('bad')]),
      },
      { onPartialFailure: 'rollback', ...options },
    );

  const played = (of = graph([trip()])) =>
    new Run(of, { items: [1, 2] })
      .returns('l1', { id: 1 })
      .returns('r[1]', { id: 'r1' })
      .fails('bad')
      .returns('l2', { id: 2 })
      .returns('r[0]', { id: 'r0' });

  test('waits for all branches, then undoes what succeeded, the last one first, one after the other', () => {
    const run = played();
    const order: unknown[] = [];
    for (;;) {
      const [command] = Object.values(run.tables.commands);
      if (command?.kind !== 'callTool') break;
      order.push([command.tool, command.input, command.undoes, command.id]);
      expect(run.inFlight).toHaveLength(1);
      run.returns('both');
    }
    expect(order).toEqual([
      ['undo-r', { id: 'r0' }, 'r[0]', 'both#1:undo:0'],
      ['undo-l2', { id: 2 }, 'l2', 'both#1:undo:1'],
      ['undo-r', { id: 'r1' }, 'r[1]', 'both#1:undo:2'],
      ['undo-l1', { id: 1 }, 'l1', 'both#1:undo:3'],
    ]);
    expect(run.state.run.failure).toEqual({
      code: 'E_PARTIAL_FAILURE',
      message: '1 of 3 branches failed: bad (broke).',
      details: {
        failed: { bad: { code: 'E_TOOL', message: 'broke' } },
        compensation: { done: ['undo-r', 'undo-l2', 'undo-r', 'undo-l1'], failed: [], not_run: [] },
      },
    });
  });

  test('names the branches that failed and why, in a sentence of bounded length', () => {
    const names = ['a', 'b', 'c', 'd', 'e'];
    const branches = Object.fromEntries(names.map((name) => [name, body([call(name)])]));
    const run = new Run(graph([parallel('both', branches, { onPartialFailure: 'rollback' })]));
    run
      .fails('a', { code: 'E', message: 'no\n  way.' })
      .fails('b', { code: 'E', message: 'x'.repeat(9_000) });
    for (const name of names.slice(2)) run.fails(name);
    expect(run.state.run.failure?.message).toBe(
      `5 of 5 branches failed: a (no way), b (${'x'.repeat(119)}…), c (broke) and 2 more.`,
    );
  });

  test('E13: a compensation that fails ends it, unless it does not matter', () => {
    const run = played().returns('both').fails('both', { code: 'E_UNDO', message: 'no' });
    expect(run.state.run.failure?.details).toMatchObject({
      compensation: {
        done: ['undo-r'],
        failed: [{ tool: 'undo-l2', failure: { code: 'E_UNDO', message: 'no' } }],
        not_run: ['undo-r', 'undo-l1'],
      },
    });
    expect(run.facts.find(({ kind }) => kind === 'compensated')).toMatchObject({ node: 'both' });
  });

  test('has a limit of its own for each call, which the deadline does not shorten', () => {
    const run = new Run(graph([trip()]), { items: [] }, 5_000)
      .returns('l1', { id: 1 })
      .fails('bad')
      .fails('l2');
    run.at = 6_000;
    expect(run.tables.commands['both#1:undo:0']).toMatchObject({ dueAt: 61_000 });
    run.fires('both');
    expect(run.state.run.failure?.details).toMatchObject({
      compensation: { failed: [{ failure: { code: 'E_TIMEOUT' } }] },
    });
    expect(run.commands).toContainEqual({
      ...{ kind: 'cancelCall', id: 'both#1:undo:0:cancel', call: 'both#1:undo:0' },
    });
  });

  test('G13: takes a place as every call does, behind those who have waited longer', () => {
    const node = parallel(
      'both',
      { left: body([undone('l1'), { ...undone('l2'), after: ['l1'] }]), bad: body([call('bad')]) },
      { onPartialFailure: 'rollback' },
    );
    const of = graph([node, call('c'), call('d')], { maxConcurrency: 1, failFast: false });
    const run = new Run(of).returns('l1', { id: 1 }).fails('bad').returns('c');
    expect(run.inFlight).toEqual(['d']);
    run.returns('d').returns('l2', { id: 2 });
    expect([run.inFlight, run.state.running]).toEqual([['both'], 1]);
    const busy = new Run(graph([...of.nodes, call('e')], { maxConcurrency: 1, failFast: false }));
    busy.returns('l1', { id: 1 }).fails('bad').returns('c').returns('d');
    expect([busy.inFlight, busy.status('l2')]).toEqual([['e'], 'ready']);
  });

  test('G13: queues for a slot for each call it makes', () => {
    const left = body([undone('l1'), { ...undone('l2'), after: ['l1'] }]);
    const bad = body([call('bad', {}, { after: [] })]);
    const node = parallel('both', { left, bad }, { onPartialFailure: 'rollback' });
    const of = graph([node, call('c'), call('d', {}, { after: ['c'] })], {
      maxConcurrency: 2,
      failFast: false,
    });
    const run = new Run(of).returns('l1', { id: 1 }).fails('bad');
    expect(run.inFlight).toEqual(['c', 'l2']);
    run.returns('l2', { id: 2 });
    expect(run.inFlight).toEqual(['c', 'both']);
    run.returns('c').returns('both').returns('both');
    expect([run.inFlight, run.status('both')]).toEqual([['d'], 'failed']);
  });

  test('without a failure nothing is undone', () => {
    const run = new Run(graph([trip()]), { items: [] }).returns('l1').returns('l2').returns('bad');
    expect([run.state.run.status, run.kinds().includes('compensating both')]).toEqual(['succeeded', false]);
  });

  test('a call that a fallback replaced is not undone', () => {
    const left = body([{ ...undone('l'), onError: { value: lit({ id: 0 }) } }]);
    const node = parallel('both', { left, bad: body([call('bad')]) }, { onPartialFailure: 'rollback' });
    const run = new Run(graph([node])).fails('l').fails('bad');
    expect(run.state.run.failure?.details).toMatchObject({ compensation: { done: [] } });
  });

  test('A10: aborted from around it, the compensation in flight is cancelled', () => {
    const outer = parallel('outer', { one: body([trip()]), two: body([call('wrong')]) });
    const run = played(graph([outer], { failFast: false })).fails('wrong');
    expect(run.commands).toEqual([{ kind: 'cancelCall', id: 'both#1:undo:0:cancel', call: 'both#1:undo:0' }]);
    expect([run.state.run.status, run.status('both'), run.tables.undoing]).toEqual([
      'failed',
      'cancelled',
      {},
    ]);
    expect(run.tables.effects['r[0]@1']).toMatchObject({ status: 'unknown', needsUndo: true });
    expect(run.tables.effects['l1@1']).toMatchObject({ status: 'active', needsUndo: true });
  });

  test('A10: when the run is cancelled, the compensation in flight is waited for, and no further one is made', () => {
    const run = played().cancel();
    expect([run.commands, run.inFlight, run.state.run.status]).toEqual([[], ['both'], 'running']);
    run.returns('both');
    expect([run.commands, run.state.run.status, run.status('both'), run.tables.undoing]).toEqual([
      [],
      'cancelled',
      'cancelled',
      {},
    ]);
    const statuses = Object.values(run.tables.effects).map(({ call: of, status }) => `${of} ${status}`);
    expect(statuses.sort()).toEqual(['l1 active', 'l2 active', 'r[0] undone', 'r[1] active']);
  });

  test('a failure elsewhere stops the branches and leaves the undoing alone', () => {
    const run = played(graph([trip(), call('other')], { maxConcurrency: 20 })).fails('other');
    expect(run.inFlight).toEqual(['both']);
    run.returns('both').returns('both').returns('both').returns('both');
    expect([run.status('both'), run.state.run.failedNode]).toEqual(['failed', 'other']);
  });
});

test('a branch that failed in a stopped parallel fails it; one that was stopped cancels it', () => {
  const inner = branch('b', [[lit(true), body([call('one'), call('two', {}, { after: ['one'] })])]]);
  const node = parallel(
    'both',
    { left: body([inner]), right: body([call('r')]) },
    { onPartialFailure: 'continue' },
  );
  const stopped = new Run(graph([node, call('bad')])).fails('bad').returns('one').returns('r');
  expect([stopped.status('b'), stopped.status('both')]).toEqual(['cancelled', 'cancelled']);
  const failed = new Run(graph([{ ...node, onPartialFailure: 'abort' }, call('bad')]))
    .fails('bad')
    .fails('one');
  expect([failed.status('both'), failed.inFlight]).toEqual(['failed', []]);
});
