import { describe, expect, test } from 'vitest';
import { ask, body, branch, compensate, parallel, runs, undo, withTasks } from './constructs.fixture.js';
import { again, call, coalesce, graph, lit, Run, step } from './graph.fixture.js';
import { undoneCallsOf } from './read.js';

const undoes = (id: string, options = {}) => undo(`undo-${id}`, { id: step(id, 'id') }, options);

describe('E9: a compensate node', () => {
  const chosen = (when: boolean) => [
    call('a'),
    branch(
      'decide',
      [
        [lit(when), 'cleanup'],
        [undefined, body([])],
      ],
      { after: ['a'] },
    ),
    compensate('cleanup', [undoes('a'), undo('note')]),
  ];

  test('never starts by itself', () => {
    const run = new Run(graph(chosen(false))).returns('a', { id: 1 });
    expect([run.status('cleanup'), run.state.run.status]).toEqual(['skipped(not_selected)', 'succeeded']);
  });

  test('that a branch chose makes its calls in the written order, and its value is the report', () => {
    const run = new Run(graph(chosen(true), { returns: step('cleanup') })).returns('a', { id: 1 });
    expect(run.commands).toMatchObject([
      {
        ...{ kind: 'callTool', id: 'cleanup#1:undo:0', node: 'cleanup', tool: 'undo-a', input: { id: 1 } },
        ...{ undoes: 'a', isCompensation: true, attempt: 1, dueAt: 61_000 },
      },
    ]);
    run.returns('cleanup').returns('cleanup');
    expect(run.state.run.result).toEqual({ done: ['undo-a', 'note'], failed: [], not_run: [] });
    expect(run.kinds()).toContain('compensated cleanup');
  });

  test('E13: that a branch chose fails where a compensation does', () => {
    const run = new Run(graph(chosen(true))).returns('a', { id: 1 }).fails('cleanup');
    expect(run.state.run).toMatchObject({
      failedNode: 'cleanup',
      failure: { code: 'E_COMPENSATION', details: { compensation: { done: [], not_run: ['note'] } } },
    });
  });

  test('E13: `ignoreError` goes on to the next one', () => {
    const nodes = [
      branch('decide', [[undefined, 'cleanup']]),
      compensate('cleanup', [undo('one', {}, { ignoreError: true }), undo('two')]),
    ];
    const run = new Run(graph(nodes, { returns: step('cleanup') })).fails('cleanup').returns('cleanup');
    expect(run.state.run.result).toEqual({
      ...{ done: ['two'], not_run: [] },
      failed: [{ tool: 'one', failure: { code: 'E_TOOL', message: 'broke' } }],
    });
  });

  test('passes on whether another attempt could change the failure that led to it', () => {
    const inside = body([
      call('b', { x: step('a', 'deep', 'deeper') }, { onError: { fallbackNode: 'cleanup' } }),
      compensate('cleanup', [undo('note')]),
    ]);
    const nodes = [call('a'), branch('try', [[undefined, inside]], { after: ['a'], retry: again(3) })];
    const run = new Run(graph(nodes)).returns('a', { deep: null }).returns('cleanup');
    expect([run.state.run.status, run.kinds().filter((kind) => kind === 'retrying try')]).toEqual([
      'failed',
      [],
    ]);
  });

  test('selected by a fallback it fails its scope, when it is done, with what led to it', () => {
    const nodes = [
      call('a'),
      call('b', {}, { after: ['a'], onError: { fallbackNode: 'cleanup' } }),
      compensate('cleanup', [undoes('b'), undoes('a')]),
    ];
    const run = new Run(graph(nodes)).returns('a', { id: 1 }).fails('b', { code: 'E_B', message: 'b' });
    expect(run.facts).toContainEqual({
      ...{
        kind: 'compensationSkipped',
        node: 'cleanup',
        tool: 'undo-b',
        undoes: 'b',
        reason: 'nothing_to_undo',
      },
    });
    expect(run.inFlight).toEqual(['cleanup']);
    run.returns('cleanup');
    expect(run.state.run).toMatchObject({
      status: 'failed',
      failure: { code: 'E_B' },
      failedNode: 'cleanup',
    });
    expect([run.status('b'), run.facts.find(({ kind }) => kind === 'compensated')]).toMatchObject([
      'handled',
      { report: { done: ['undo-a'], failed: [], not_run: [] } },
    ]);
  });

  test('E11: only what an input plainly refers to must have succeeded', () => {
    const nodes = [
      call('a', {}, { when: lit(false) }),
      branch('decide', [[undefined, 'cleanup']]),
      compensate('cleanup', [
        undo('plain', { x: step('a') }),
        undo('guarded', { x: coalesce(step('a'), lit(0)) }),
      ]),
    ];
    const run = new Run(graph(nodes));
    expect(run.commands[0]).toMatchObject({ tool: 'guarded', input: { x: 0 } });
  });

  test('a compensation whose input has no value has failed', () => {
    const nodes = [
      call('a'),
      branch('decide', [[undefined, 'cleanup']], { after: ['a'] }),
      compensate('cleanup', [undo('x', { id: step('a', 'id', 'deep') })]),
    ];
    const run = new Run(graph(nodes)).returns('a', { id: null });
    expect(run.state.run.failure).toMatchObject({ code: 'E_COMPENSATION' });
  });

  test('an answer to a compensation that is over changes nothing', () => {
    const run = new Run(graph(chosen(true))).returns('a', { id: 1 }).returns('cleanup');
    run.send({ kind: 'toolReturned', at: 0, command: 'cleanup#1:undo:0', value: 1 });
    expect(run.last.changes).toEqual([]);
  });

  test('is cancelled when its scope is aborted', () => {
    const left = body([
      branch('decide', [[undefined, 'cleanup']]),
      compensate('cleanup', [undo('x'), undo('y')]),
    ]);
    const node = parallel('both', { left, right: body([call('bad')]) });
    const run = new Run(graph([node])).fails('bad');
    expect(run.commands).toContainEqual({
      ...{ kind: 'cancelCall', id: 'cleanup#1:undo:0:cancel', call: 'cleanup#1:undo:0' },
    });
    expect([run.status('cleanup'), run.state.running, run.tables.undoing]).toEqual(['cancelled', 0, {}]);
  });
});

describe('E10: a parallel that names the node that undoes', () => {
  const nodes = (more = {}) => [
    parallel(
      'trip',
      { flight: body([call('fly')], step('fly')), hotel: body([call('sleep')], step('sleep')) },
      { onPartialFailure: 'rollback', compensateNode: 'rollback', ...more },
    ),
    compensate('rollback', [undoes('fly', { ignoreError: true }), undoes('sleep', { ignoreError: true })]),
    call('confirm', {}, { after: ['trip'] }),
  ];

  test('settles after it, and fails with its report', () => {
    const run = new Run(graph(nodes()))
      .returns('fly', { id: 'f' })
      .fails('sleep', { code: 'FULL', message: 'full' });
    expect([run.status('trip'), run.inFlight]).toEqual(['running', ['rollback']]);
    run.returns('rollback');
    expect(run.state.run.failure).toEqual({
      code: 'E_PARTIAL_FAILURE',
      message: '1 of 2 branches failed: hotel (full).',
      details: {
        failed: { hotel: { code: 'FULL', message: 'full' } },
        compensation: { done: ['undo-fly'], failed: [], not_run: [] },
      },
    });
    expect([run.status('trip'), run.status('rollback')]).toEqual(['failed', 'failed']);
    expect(run.tables.nodes.trip?.failure).toEqual(run.state.run.failure);
  });

  test('undoes although the run is failing already', () => {
    const run = new Run(graph([...nodes(), call('bad')])).returns('fly', { id: 'f' }).fails('bad');
    expect(run.status('rollback')).toBe('pending');
    run.fails('sleep');
    expect(run.inFlight).toEqual(['rollback']);
    expect(run.returns('rollback').state.run).toMatchObject({ status: 'failed', failedNode: 'bad' });
  });

  test('and leaves it out where there is nothing to undo', () => {
    const run = new Run(graph([...nodes(), call('bad')]))
      .returns('fly', { id: 'f' })
      .fails('bad')
      .returns('sleep');
    expect([run.status('trip'), run.status('rollback')]).toEqual(['succeeded', 'skipped(not_selected)']);
  });

  test('may undo what comes after it as well, for who falls back on it later', () => {
    const [trip, , confirm] = nodes();
    const steps = [undoes('confirm'), undoes('fly'), undoes('sleep')];
    const later = { ...confirm, onError: { fallbackNode: 'rollback' } } as ReturnType<typeof call>;
    const of = graph([trip as never, compensate('rollback', steps), later]);
    const half = new Run(of).returns('fly', { id: 'f' }).fails('sleep').returns('rollback');
    expect(half.state.run.failure?.details).toMatchObject({ compensation: { done: ['undo-fly'] } });
    const late = new Run(of).returns('fly', { id: 'f' }).returns('sleep', { id: 's' }).fails('confirm');
    expect(late.returns('rollback').returns('rollback').state.run).toMatchObject({
      failure: { code: 'E_TOOL' },
    });
  });

  test('must name a compensate node', () => {
    const run = new Run(
      graph([parallel('p', {}, { onPartialFailure: 'rollback', compensateNode: 'a' }), call('a')]),
    );
    expect(run.state.run.failure?.code).toBe('E_GRAPH');
  });
});

describe('L16: cancelling with compensation', () => {
  test('undoes what the last attempt of a container did that waits for the next one', () => {
    const retry = again(1, { delayMs: 10 });
    const trip = parallel(
      'trip',
      { left: body([call('a', {}, { compensate: undoes('a') })]), right: body([call('bad')]) },
      { retry },
    );
    const run = new Run(graph([trip])).returns('a', { id: 1 }).fails('bad').cancel(true);
    expect(run.commands.flatMap((each) => (each.kind === 'callTool' ? [each.tool] : []))).toEqual(['undo-a']);
    expect(run.returns('a').state.run.status).toBe('cancelled');
  });

  const task = graph([call('inside', {}, { compensate: undoes('inside') })], { name: 'task' });
  const nodes = [
    call('a', {}, { compensate: undoes('a') }),
    runs('sub', 'task'),
    call('b', {}, { compensate: undoes('b'), after: ['a'] }),
    ask('sure', 'confirm', { after: ['b'] }),
  ];
  const of = withTasks(graph(nodes), task);
  const plain = graph([call('b')]);

  test('undoes all that succeeded, the last one first, and then ends cancelled', () => {
    const run = new Run(of).returns('a', { id: 1 }).returns('sub/inside', { id: 2 }).returns('b', { id: 3 });
    run.cancel(true);
    const order: unknown[] = [];
    while (run.state.run.status === 'running') {
      const [command] = Object.values(run.tables.commands);
      if (command?.kind !== 'callTool') throw new Error('nothing is undone');
      order.push([command.id, command.node, command.tool, command.input]);
      run.returns(command.node);
    }
    expect(order).toEqual([
      ['run:undo:0', 'b', 'undo-b', { id: 3 }],
      ['run:undo:1', 'sub/inside', 'undo-inside', { id: 2 }],
      ['run:undo:2', 'a', 'undo-a', { id: 1 }],
    ]);
    expect([run.state.run.status, run.status('sure'), run.tables.commands]).toEqual([
      'cancelled',
      'cancelled',
      {},
    ]);
    expect(run.facts.at(-2)).toMatchObject({
      kind: 'compensated',
      report: { done: ['undo-b', 'undo-inside', 'undo-a'] },
    });
  });

  test('E12: calls in flight settle first, and the last to succeed is undone first', () => {
    const run = new Run(of).returns('a', { id: 1 }).cancel(true);
    expect([run.commands, run.inFlight]).toEqual([[], ['sub/inside', 'b']]);
    run.fails('sub/inside').returns('b', { id: 3 });
    expect(run.commands).toMatchObject([{ tool: 'undo-b' }]);
    run.returns('b').returns('a');
    expect(run.facts.at(-2)).toMatchObject({ report: { done: ['undo-b', 'undo-a'] } });
    expect(run.state.run.status).toBe('cancelled');
  });

  test('E12: a call in flight that reaches its limit is not waited for any longer', () => {
    const run = new Run(of).returns('a', { id: 1 }).cancel(true).fires('b');
    expect(run.inFlight).toEqual(['sub/inside']);
    run.fires('sub/inside');
    expect(run.commands).toMatchObject([{ kind: 'cancelCall' }, { tool: 'undo-a' }]);
    expect(run.returns('a').remains.unknown).toHaveLength(2);
  });

  test('E12: what is undone late is reported where it was undone', () => {
    const run = new Run(of).returns('a', { id: 1 }).cancel(true).fires('b').fails('sub/inside');
    run.send({ kind: 'toolReturned', at: run.at, command: 'b#1', value: { id: 3 } });
    run.returns('a').returns('b');
    expect(undoneCallsOf(run.state).map(({ step: of }) => of)).toEqual(['a', 'b']);
  });

  test('E12: calls that only read, and those not made yet, are not waited for', () => {
    const nodes = [call('a', {}, { compensate: undoes('a') }), call('reads'), call('later')];
    const run = new Run(graph(nodes), {}, undefined, undefined, { 'tool-reads': 'readOnly' });
    run.returns('a', { id: 1 });
    run.send({ kind: 'cancelled', at: run.at, reason: 'x', compensate: true, notStarted: ['later#1'] });
    expect(run.inFlight).toEqual(['a']);
  });

  test('a second cancellation, and events of before, change nothing while it is undone', () => {
    const run = new Run(of).returns('a', { id: 1 }).cancel(true).fails('b').fails('sub/inside').cancel();
    expect(run.last.changes).toEqual([]);
    run.send({
      kind: 'toolFailed',
      at: 0,
      command: 'b#1',
      failure: { code: 'E', message: 'no' },
      attempted: true,
    });
    expect(run.last.changes).toEqual([]);
    run.send({ kind: 'timerFired', at: 0, command: 'b#1' });
    expect(run.last.changes).toEqual([]);
  });

  test('E13: one that fails ends it, and the run is cancelled all the same', () => {
    const run = new Run(of)
      .returns('a', { id: 1 })
      .returns('b', { id: 3 })
      .cancel(true)
      .fails('sub/inside')
      .fails('b');
    expect([run.state.run.status, run.inFlight]).toEqual(['cancelled', []]);
    expect(run.facts.at(-2)).toMatchObject({ report: { failed: [{ tool: 'undo-b' }], not_run: ['undo-a'] } });
  });

  test('E13: the report is in its failure, where anything was to be undone', () => {
    const run = new Run(of)
      .returns('a', { id: 1 })
      .returns('b', { id: 3 })
      .cancel(true)
      .fails('sub/inside')
      .fails('b');
    const failure = { code: 'E_TOOL', message: 'broke' };
    expect(run.state.run.failure).toEqual({
      code: 'E_CANCELLED',
      message: 'The run was cancelled: enough',
      details: { compensation: { done: [], failed: [{ tool: 'undo-b', failure }], not_run: ['undo-a'] } },
    });
    expect(new Run(plain).cancel(true).state.run.failure).not.toHaveProperty('details');
    expect(new Run(of).returns('a', { id: 1 }).cancel().state.run.failure).not.toHaveProperty('details');
  });

  test('without `compensate`, or with nothing to undo, it ends at once', () => {
    expect(new Run(of).returns('a', { id: 1 }).cancel().state.run.status).toBe('cancelled');
    expect(new Run(plain).cancel(true).state.run.status).toBe('cancelled');
  });

  test('what was undone is not undone once more', () => {
    const left = body([call('l', {}, { compensate: undoes('l') })]);
    const node = parallel(
      'both',
      { left, bad: body([call('bad')]) },
      { onPartialFailure: 'rollback', onError: { value: lit(0) } },
    );
    const run = new Run(graph([node, call('last')])).returns('l', { id: 1 }).fails('bad').returns('both');
    expect(run.tables.effects['l@1']).toMatchObject({ status: 'undone' });
    expect(run.cancel(true).commands).toMatchObject([{ kind: 'cancelCall' }]);
    expect(run.state.run.status).toBe('cancelled');
  });
});

describe('E12: a workflow that undoes on failure', () => {
  const booking = (id: string) => call(id, {}, { compensate: undoes(id) });
  const onFailure = 'undo' as const;
  const three = graph([booking('a'), { ...booking('b'), after: ['a'] }, { ...call('c'), after: ['b'] }], {
    onFailure,
  });

  test('undoes what it did, the last to succeed first, and then fails with the report', () => {
    const run = new Run(three).returns('a', { id: 1 }).returns('b', { id: 2 }).fails('c');
    expect(run.state.run.status).toBe('running');
    expect(run.commands).toMatchObject([{ tool: 'undo-b', input: { id: 2 }, isCompensation: true }]);
    run.returns('b').returns('a');
    expect(run.state.run).toMatchObject({
      ...{ status: 'failed', failedNode: 'c' },
      failure: {
        ...{ code: 'E_TOOL', message: 'broke' },
        details: { compensation: { done: ['undo-b', 'undo-a'], failed: [], not_run: [] } },
      },
    });
    expect(run.remains).toMatchObject({ steps: ['a', 'b'], notUndone: [] });
  });

  test('names what it could not undo', () => {
    const nodes = [booking('a'), { ...call('plain'), after: ['a'] }, { ...call('c'), after: ['plain'] }];
    const run = new Run(graph(nodes, { onFailure }));
    run.returns('a', { id: 1 }).returns('plain').fails('c').fails('a');
    expect(run.state.run.failure?.details).toMatchObject({ compensation: { failed: [{ tool: 'undo-a' }] } });
    expect(run.remains.notUndone).toMatchObject([
      { step: 'plain', failure: { code: 'E_NOT_UNDOABLE' } },
      { step: 'a', tool: 'undo-a', failure: { code: 'E_TOOL' } },
    ]);
  });

  test('fails at once without effects, and succeeds without undoing', () => {
    expect(new Run(three).fails('a').state.run.status).toBe('failed');
    const run = new Run(three).returns('a', { id: 1 }).returns('b', { id: 2 }).returns('c');
    expect([run.state.run.status, run.calls.length]).toEqual(['succeeded', 3]);
  });

  test('ends failed, whether or not it is cancelled while it undoes', () => {
    const run = new Run(three).returns('a', { id: 1 }).fails('b').cancel();
    expect(run.last.changes).toEqual([]);
    expect(run.returns('a').state.run.status).toBe('failed');
  });

  test('waits for calls in flight that a branch aborts', () => {
    const both = parallel('both', { left: body([booking('l')]), right: body([call('r')]) });
    const run = new Run(graph([booking('a'), { ...both, after: ['a'] }], { onFailure }));
    run.returns('a', { id: 1 }).fails('r');
    expect([run.commands, run.inFlight]).toEqual([[], ['l']]);
    run.returns('l', { id: 2 });
    expect(run.commands).toMatchObject([{ kind: 'callTool', tool: 'undo-l' }]);
  });

  test('inside another one is undone before its node fails, which another attempt may follow', () => {
    const inner = graph([booking('a'), { ...call('bad'), after: ['a'] }], { name: 'inner', onFailure });
    const of = withTasks(graph([runs('sub', 'inner', {}, { retry: again(1) })]), inner);
    const run = new Run(of, {}, undefined, undefined, { 'tool-a': 'key' });
    run.returns('sub/a', { id: 1 }).fails('sub/bad');
    expect(run.commands).toMatchObject([{ tool: 'undo-a', node: 'sub' }]);
    run.returns('sub').returns('sub/a', { id: 2 }).fails('sub/bad').returns('sub');
    expect(run.state.run.failure).toMatchObject({
      details: { compensation: { done: ['undo-a'], failed: [], not_run: [] } },
    });
    expect(run.calls.map(({ tool }) => tool)).toEqual([
      ...['tool-a', 'tool-bad', 'undo-a', 'tool-a', 'tool-bad', 'undo-a'],
    ]);
  });

  test('without it, what could be undone remains, and is named', () => {
    const { onFailure: _, ...keeps } = three;
    const run = new Run(keeps).returns('a', { id: 1 }).returns('b', { id: 2 }).fails('c');
    expect(run.state.run.status).toBe('failed');
    expect(run.remains.notUndone).toMatchObject([
      { step: 'b', tool: 'undo-b', input: { id: 2 } },
      { step: 'a', tool: 'undo-a', input: { id: 1 } },
    ]);
  });
});
