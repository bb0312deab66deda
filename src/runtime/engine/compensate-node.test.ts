import { describe, expect, test } from 'vitest';
import { canonicalJson } from '../../graph/canonical.js';
import type { Compensation } from '../../graph/kinds/node.js';
import { ask, body, branch, compensate, parallel, runs, undo, withTasks } from './constructs.fixture.js';
import { again, call, chain, graph, lit, Run, step } from './graph.fixture.js';

const undoes = (id: string, options: Partial<Compensation> = {}) =>
  undo(`undo-${id}`, { id: step(id, 'id') }, options);

const booking = (id: string, options: Partial<Compensation> = {}) =>
  call(id, {}, { compensate: undoes(id, options) });

const undoKey = (node: string, generation = 1) =>
  canonicalJson(['undo', canonicalJson(['call', 'run-1', node, generation]), 0]);

const ownKey = (node: string, generation: number, place: number) =>
  canonicalJson(['call', 'run-1', node, generation, place]);

const compensations = ({ calls }: Run) => calls.filter(({ isCompensation }) => isCompensation);

/** Tools and keys of the compensations, in the order of their issue. */
const made = (run: Run) => compensations(run).map(({ tool, key }) => [tool, key]);

const reports = (run: Run) =>
  run.facts.flatMap((fact) => (fact.kind === 'compensated' ? [{ node: fact.node, ...fact.report }] : []));

/** A branch that sends to `clean` as soon as `go` is answered. */
const onGo = (steps: readonly Compensation[]) => [
  call('go'),
  branch('decide', [[lit(true), 'clean']], { after: ['go'] }),
  compensate('clean', steps),
];

describe('A8: a step that undoes a recorded call', () => {
  test('undoes its record, which is not undone again', () => {
    const run = new Run(graph([booking('a'), ...onGo([undoes('a')]), ask('sure')]));
    run.returns('a', { id: 1 }).returns('go').returns('clean');
    expect(run.tables.effects).toMatchObject({ 'a@1': { status: 'undone' } });
    run.cancel(true);
    expect([run.state.run.status, made(run)]).toEqual(['cancelled', [['undo-a', undoKey('a')]]]);
    expect(run.remains).toMatchObject({ steps: ['a'], notUndone: [] });
  });

  test('takes the newest active record, whichever node made the call', () => {
    const same = { compensate: undo('back', { n: lit(1) }) };
    const nodes = [call('a', {}, same), call('b', {}, same), ...onGo([undo('back', { n: lit(1) })])];
    const run = new Run(graph(nodes)).returns('b').returns('a').returns('go');
    expect(compensations(run)).toMatchObject([{ tool: 'back', undoes: 'a', key: undoKey('a') }]);
  });

  test('matches by tool and canonical input, not by the name alone', () => {
    const nodes = [booking('a'), ...onGo([undo('undo-a', { id: lit(2) })])];
    const run = new Run(graph(nodes)).returns('a', { id: 1 }).returns('go');
    expect(made(run)).toEqual([['undo-a', ownKey('clean', 1, 0)]]);
    expect(run.returns('clean').tables.effects).toMatchObject({
      ...{
        'a@1': { status: 'active' },
        'clean@1:0': { status: 'undone', compensateStep: { node: 'clean', step: 0 } },
      },
    });
  });

  const rolling = (steps: readonly Compensation[], options: Partial<Compensation> = {}) => {
    const trip = parallel(
      'trip',
      { left: body([booking('l', options)]), right: body([call('bad')]) },
      { onPartialFailure: 'rollback', onError: { value: lit(0) } },
    );
    return new Run(graph([trip, ...onGo(steps)], { returns: step('clean') }))
      .returns('l', { id: 1 })
      .fails('bad');
  };

  test('joins one in flight: it is made once, and both report its success', () => {
    const run = rolling([undo('undo-l', { id: lit(1) }), undo('note')]).returns('go');
    expect(run.inFlight).toEqual(['trip']);
    run.returns('trip');
    expect(run.inFlight).toEqual(['clean']);
    run.returns('clean');
    expect(made(run)).toEqual([
      ['undo-l', undoKey('l')],
      ['note', ownKey('clean', 1, 1)],
    ]);
    expect(reports(run)).toEqual([
      { node: 'trip', done: ['undo-l'], failed: [], not_run: [] },
      { node: 'clean', done: ['undo-l', 'note'], failed: [], not_run: [] },
    ]);
  });

  test('and both report its failure', () => {
    const run = rolling([undoes('l'), undo('note')])
      .returns('go')
      .fails('trip');
    const failed = [{ tool: 'undo-l', failure: { code: 'E_TOOL', message: 'broke' } }];
    expect(reports(run)).toEqual([
      { node: 'trip', done: [], failed, not_run: [] },
      { node: 'clean', done: [], failed, not_run: ['note'] },
    ]);
    expect(made(run)).toHaveLength(1);
  });

  test('calls one with unknown outcome again, with its key and another id', () => {
    const run = rolling([undoes('l')])
      .fires('trip')
      .returns('go');
    const [first, second] = compensations(run);
    expect([first?.key, second?.key]).toEqual([undoKey('l'), undoKey('l')]);
    expect(second).toMatchObject({ node: 'clean', undoes: 'l', input: { id: 1 } });
    expect(second?.id).not.toBe(first?.id);
    expect(run.returns('clean').state.run).toMatchObject({
      ...{ status: 'succeeded', result: { done: ['undo-l'], failed: [], not_run: [] } },
    });
    expect(run.remains.notUndone).toEqual([]);
  });

  test('leaves out one that is undone', () => {
    const run = rolling([undoes('l')])
      .returns('trip')
      .returns('go');
    expect(made(run)).toHaveLength(1);
    expect(run.facts).toContainEqual({
      ...{
        kind: 'compensationSkipped',
        node: 'clean',
        tool: 'undo-l',
        undoes: 'l',
        reason: 'nothing_to_undo',
      },
    });
    expect(run.state.run.result).toEqual({ done: [], failed: [], not_run: [] });
  });

  test('does not call one again that failed: it counts as failed, and halts', () => {
    const run = rolling([undoes('l'), undo('note')])
      .fails('trip')
      .returns('go');
    expect(made(run)).toHaveLength(1);
    expect(run.state.run).toMatchObject({
      status: 'failed',
      failure: {
        code: 'E_COMPENSATION',
        details: { compensation: { done: [], failed: [{ tool: 'undo-l' }], not_run: ['note'] } },
      },
    });
  });

  test('unless its errors are ignored', () => {
    const run = rolling([undoes('l', { ignoreError: true }), undo('note')])
      .fails('trip')
      .returns('go');
    run.returns('clean');
    expect(run.state.run.result).toMatchObject({ done: ['note'], failed: [{ tool: 'undo-l' }], not_run: [] });
  });

  test('an active record goes before one that is undone, and that before a failed one', () => {
    const same = { compensate: undo('back', { n: lit(1) }, { ignoreError: true }) };
    const trip = (id: string) =>
      parallel(
        `trip-${id}`,
        { left: body([call(id, {}, same)]), right: body([call(`bad-${id}`)]) },
        { onPartialFailure: 'rollback', onError: { value: lit(0) } },
      );
    const step0 = undo('back', { n: lit(1) });
    const run = new Run(graph([trip('a'), trip('b'), ...onGo([step0])], { returns: step('clean') }));
    run
      .returns('a')
      .fails('bad-a')
      .returns('trip-a')
      .returns('b')
      .fails('bad-b')
      .fails('trip-b')
      .returns('go');
    expect(run.tables.effects).toMatchObject({ 'a@1': { status: 'undone' }, 'b@1': { status: 'failed' } });
    expect([run.state.run.status, made(run).length]).toEqual(['succeeded', 2]);
    expect(run.facts).toContainEqual(expect.objectContaining({ kind: 'compensationSkipped', undoes: 'a' }));
  });
});

describe('A8: a step that undoes no recorded call', () => {
  const halts = () => {
    const nodes = [
      booking('a'),
      booking('b'),
      call('x'),
      ...onGo([undo('first'), undoes('b'), undo('last', { id: step('x', 'id') })]),
    ];
    return new Run(graph(nodes))
      .returns('a', { id: 1 })
      .returns('b', { id: 2 })
      .returns('x', { id: 3 })
      .returns('go');
  };

  test('and failed halts: the rest is reported, with what remains of the failed run', () => {
    const run = halts().fails('clean');
    expect(run.state.run.failure).toMatchObject({
      code: 'E_COMPENSATION',
      details: { compensation: { done: [], not_run: ['undo-b', 'last'] } },
    });
    const named = run.remains.notUndone.map(({ step: of, tool, input }) => [of, tool, input]);
    expect(named).toHaveLength(4);
    expect(named).toEqual(
      expect.arrayContaining([
        ['clean', 'first', {}],
        ['b', 'undo-b', { id: 2 }],
        ['x', 'last', { id: 3 }],
        ['a', 'undo-a', { id: 1 }],
      ]),
    );
    expect(run.tables.effects['clean@1:2']).toMatchObject({ status: 'active', needsUndo: true });
  });

  test('whose input has no value leaves a failed record', () => {
    const nodes = [call('x'), ...onGo([undo('one', { id: step('x', 'id', 'deep') })])];
    const run = new Run(graph(nodes)).returns('x', { id: null }).returns('go');
    expect(run.tables.effects['clean@1:0']).toMatchObject({
      call: 'x',
      tool: 'one',
      status: 'failed',
      needsUndo: true,
    });
    expect(run.remains.notUndone).toMatchObject([
      { step: 'x', tool: 'one', failure: { code: 'E_NOT_AN_OBJECT' } },
    ]);
  });

  test('is called again with its key when the run is cancelled while its outcome is unknown', () => {
    const nodes = [...onGo([undo('one', {}, { ignoreError: true })]), ask('sure')];
    const run = new Run(graph(nodes)).returns('go').fires('clean');
    expect(run.tables.effects['clean@1:0']).toMatchObject({ call: 'clean', status: 'unknown' });
    expect(run.cancel(true).inFlight).toEqual(['clean']);
    expect(made(run)).toEqual([
      ['one', ownKey('clean', 1, 0)],
      ['one', ownKey('clean', 1, 0)],
    ]);
    expect(new Set(compensations(run).map(({ id }) => id)).size).toBe(2);
    expect(run.returns('clean').state.run.status).toBe('cancelled');
    expect(run.remains.notUndone).toEqual([]);
  });

  test('and was left behind one that failed is made when the run is cancelled', () => {
    const nodes = [...onGo([undo('one'), undo('two')]), ask('sure')];
    const run = new Run(graph(nodes, { failFast: false })).returns('go').fails('clean');
    expect(run.status('clean')).toBe('failed');
    expect(run.cancel(true).inFlight).toEqual(['clean']);
    expect(made(run).at(-1)).toEqual(['two', ownKey('clean', 1, 1)]);
    run.returns('clean');
    expect(run.remains.notUndone).toMatchObject([{ step: 'clean', tool: 'one' }]);
  });

  test('is never what another step matches', () => {
    const nodes = [
      ...onGo([undo('one')]),
      compensate('other', [undo('one')]),
      call('late'),
      branch('then', [[lit(true), 'other']], { after: ['late'] }),
    ];
    const run = new Run(graph(nodes)).returns('go').returns('clean').returns('late').returns('other');
    expect(made(run)).toEqual([
      ['one', ownKey('clean', 1, 0)],
      ['one', ownKey('other', 1, 0)],
    ]);
  });

  test('that names one call undoes what a rollback could not, and makes the next call another one', () => {
    const inner = body(chain(call('x'), call('bad')));
    const trip = parallel('trip', { left: inner }, { onPartialFailure: 'rollback', compensateNode: 'clean' });
    const run = new Run(graph([trip, compensate('clean', [undoes('x')])]))
      .returns('x', { id: 1 })
      .fails('bad');
    expect(run.tables.effects['x@1']).toMatchObject({ status: 'active' });
    run.returns('clean');
    expect(run.tables.effects).toMatchObject({
      'x@1': { status: 'undone' },
      'clean@1:0': { call: 'x', tool: 'undo-x', status: 'undone' },
    });
    expect(run.tables.generations.x).toMatchObject({ reissues: 1 });
    expect(run.remains).toMatchObject({ steps: ['trip'], notUndone: [] });
  });

  test('in another attempt of a container is another call', () => {
    const inner = body([
      branch('go', [[lit(true), 'clean']]),
      compensate('clean', [undo('one')]),
      call('bad', {}, { after: ['clean'] }),
    ]);
    const run = new Run(graph([branch('b', [[undefined, inner]], { retry: again(1) })]));
    run.returns('clean').fails('bad').returns('clean');
    expect(made(run)).toEqual([
      ['one', ownKey('clean', 1, 0)],
      ['one', ownKey('clean', 2, 0)],
    ]);
    expect(new Set(compensations(run).map(({ id }) => id)).size).toBe(2);
  });
});

describe('an abort while two nodes wait for one compensation', () => {
  const refund = undo('refund', { of: step('a') });
  const task = graph(
    [
      call('a', {}, { compensate: refund }),
      branch('g1', [[undefined, 'c1']], { after: ['a'] }),
      compensate('c1', [refund]),
      branch('g2', [[undefined, 'c2']], { after: ['a'] }),
      compensate('c2', [refund]),
    ],
    { name: 'task' },
  );

  test('ends each of them once', () => {
    const of = withTasks(graph([runs('w', 'task', {}, { timeoutMs: 50 })]), task);
    const run = new Run(of).returns('w/a', 1);
    expect(run.inFlight).toContain('w/c1');
    run.send({ kind: 'timerFired', at: 2_000, command: 'w#1:timer' });
    const ends = run.facts.flatMap((fact) => ('node' in fact && fact.node === 'w/c2' ? [fact.kind] : []));
    expect(ends).toEqual(['nodeStarted', 'compensating', 'nodeCancelled']);
    expect(run.state.run).toMatchObject({ status: 'failed', failure: { code: 'E_TIMEOUT' } });
  });
});
