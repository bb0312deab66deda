import { describe, expect, test } from 'vitest';
import { ask, body, branch, compensate, isMore, undo } from './constructs.fixture.js';
import { again, broken, call, done, error, graph, input, lit, Run, step, stop } from './graph.fixture.js';

describe('a branch with bodies', () => {
  const choose = branch('choose', [
    [isMore(input('n'), 10), body([call('big')], step('big'))],
    [isMore(input('n'), 0), body([call('small')], step('small'))],
    [undefined, body([], lit('none'))],
  ]);

  test('G6: takes the first case that holds, and ends as its body does', () => {
    const run = new Run(graph([choose], { returns: step('choose') }), { n: 20 });
    expect(run.kinds()).toEqual([
      'nodeStarted choose',
      'branchTaken choose',
      'nodeStarted big',
      'callIssued big',
    ]);
    expect(run.returns('big', 7).state.run).toMatchObject({ status: 'succeeded', result: 7 });
    expect(run.tables.nodes.small).toBeUndefined();
  });

  test('G6: else where none holds; a body without nodes is over at once', () => {
    const run = new Run(graph([choose], { returns: step('choose') }), { n: 0 });
    expect(run.state.run).toMatchObject({ status: 'succeeded', result: 'none' });
    expect(run.facts).toContainEqual({ kind: 'branchTaken', node: 'choose', arm: 'else' });
  });

  test('G6: conditions behind the one that holds are not evaluated', () => {
    const run = new Run(
      graph([
        branch('b', [
          [lit(true), body([])],
          [broken, body([])],
        ]),
      ]),
    );
    expect(run.state.run.status).toBe('succeeded');
  });

  test('G8: without a match and without else it fails', () => {
    const run = new Run(
      graph([
        branch('b', [
          [lit(false), body([])],
          [lit(null), body([])],
        ]),
      ]),
    );
    expect(run.state.run).toMatchObject({
      status: 'failed',
      failedNode: 'b',
      failure: { code: 'E_NO_MATCH' },
    });
  });

  test('a condition that is not boolean fails it; its fallback applies', () => {
    const odd = branch('b', [[lit(1), body([])]], { onError: { value: error('code') } });
    expect(new Run(graph([odd], { returns: step('b') })).state.run.result).toBe('E_NOT_A_BOOLEAN');
  });

  test('a failure inside is its own, with code and message as they were', () => {
    const run = new Run(graph([choose]), { n: 1 }).fails('small');
    expect(run.state.run).toMatchObject({
      failedNode: 'choose',
      failure: { code: 'E_TOOL', message: 'broke' },
      failures: [{ node: 'choose' }, { node: 'small' }],
    });
  });

  test('G10: what a body refers to outside orders the branch and counts in its join', () => {
    const inside = branch('b', [[lit(true), body([call('in', { x: step('late') })])]]);
    const run = new Run(graph([inside, call('late')], { failFast: false }));
    expect(run.inFlight).toEqual(['late']);
    expect(run.fails('late').status('b')).toBe('skipped(upstream_failed)');
  });

  test('G10: what a body’s own nodes refer to each other orders them alone', () => {
    const inner = body([call('second', { x: step('first') }), call('first')], step('second'));
    const run = new Run(graph([branch('b', [[lit(true), inner]])], { returns: step('b') }));
    expect(run.returns('first', 1).commands).toContainEqual(expect.objectContaining({ input: { x: 1 } }));
    expect(run.returns('second', 2).state.run.result).toBe(2);
  });

  test('a step inside is visible by its name outside, and orders by the branch', () => {
    const run = new Run(
      graph([call('after', { x: step('in') }), branch('b', [[lit(true), body([call('in')])]])]),
    );
    expect(run.inFlight).toEqual(['in']);
    expect(run.returns('in', 4).tables.commands['after#1']).toMatchObject({ input: { x: 4 } });
  });
});

describe('a branch that selects', () => {
  const decide = (when: boolean) =>
    branch('decide', [
      [lit(when), 'yes'],
      [undefined, 'no'],
    ]);

  test('G1: the node it names runs, the other one is skipped as not selected', () => {
    const run = new Run(graph([decide(true), call('yes'), call('no')]));
    expect([run.inFlight, run.status('no')]).toEqual([['yes'], 'skipped(not_selected)']);
    expect(run.facts).toContainEqual({ kind: 'branchTaken', node: 'decide', arm: 'c0', goto: 'yes' });
    expect(run.status('decide')).toBe('succeeded');
  });

  test('G1: once selected it still waits for its data and its join', () => {
    const run = new Run(graph([decide(true), call('yes', { x: step('data') }), call('no'), call('data')]));
    expect(run.inFlight).toEqual(['data']);
    expect(run.returns('data', 1).inFlight).toEqual(['yes']);
  });

  test('G2: a target with `after` runs all the same, behind the branch', () => {
    const total = call('no', {}, { after: ['cart'] });
    const run = new Run(
      graph([call('cart'), { ...decide(true), after: ['slow'] }, call('yes'), total, call('slow')]),
    );
    run.returns('cart');
    expect(run.inFlight).toEqual(['slow']);
    expect(run.returns('slow').inFlight).toEqual(['yes', 'no']);
  });

  test('G5: the first selection counts, later ones change nothing', () => {
    const first = branch('first', [[undefined, 'shared']]);
    const second = branch('second', [[undefined, 'shared']], { after: ['gate'] });
    const run = new Run(graph([first, call('gate'), second, call('shared')]));
    expect(run.inFlight).toEqual(['gate', 'shared']);
    run.returns('shared', 1).returns('gate');
    expect(run.state.run.status).toBe('succeeded');
    expect(run.kinds().filter((kind) => kind === 'nodeStarted shared')).toHaveLength(1);
  });

  test('G5: it is skipped only when all nodes that could select it have settled', () => {
    const first = branch('first', [
      [undefined, body([])],
      [lit(false), 'shared'],
    ]);
    const second = branch(
      'second',
      [
        [lit(false), 'shared'],
        [undefined, body([])],
      ],
      { after: ['gate'] },
    );
    const run = new Run(graph([first, call('gate'), second, call('shared')]));
    expect(run.status('shared')).toBe('pending');
    expect(run.returns('gate').status('shared')).toBe('skipped(not_selected)');
  });

  test('G18: a compensate node that no node names is never selected', () => {
    const run = new Run(graph([compensate('never', [undo('u')]), call('a')]));
    expect(run.status('never')).toBe('skipped(not_selected)');
  });

  test('a branch whose condition is false selects nothing', () => {
    const run = new Run(graph([{ ...decide(true), when: lit(false) }, call('yes'), call('no')]));
    expect([run.status('yes'), run.status('no')]).toEqual(['skipped(not_selected)', 'skipped(not_selected)']);
  });

  test('a target of another scope is a fault of the graph', () => {
    const inside = branch('b', [[lit(true), body([branch('inner', [[undefined, 'outside']])])]]);
    expect(new Run(graph([inside, call('outside')])).state.run.failure?.code).toBe('E_GRAPH');
  });

  test('G9: a target the branch waits for is a cycle', () => {
    const run = new Run(graph([{ ...decide(true), after: ['yes'] }, call('yes'), call('no')]));
    expect(run.state.run.failure).toMatchObject({
      code: 'E_GRAPH',
      message: expect.stringContaining('wait'),
    });
  });
});

describe('ends inside a body', () => {
  test('E8: an error ends its scope, and the branch may be handled', () => {
    const inner = body([stop('full', lit('no seats')), call('rest', {}, { after: ['full'] })]);
    const handled = branch('b', [[undefined, inner]], { onError: { value: error('message') } });
    const run = new Run(graph([handled], { returns: step('b') }));
    expect([run.status('rest'), run.state.run.result]).toEqual(['skipped(run_ended)', 'no seats']);
  });

  test('a return ends the workflow, and what runs elsewhere settles first', () => {
    const inner = body([done('out', lit(5)), call('rest', {}, { after: ['out'] })]);
    const run = new Run(
      graph([call('slow'), branch('b', [[undefined, inner]]), call('next', {}, { after: ['b'] })]),
    );
    expect(run.inFlight).toEqual(['slow']);
    expect([run.status('rest'), run.status('next')]).toEqual(['skipped(run_ended)', 'skipped(run_ended)']);
    expect(run.status('b')).toBe('cancelled');
    expect(run.returns('slow').state.run).toMatchObject({ status: 'succeeded', result: 5, endedBy: 'out' });
  });

  test('a return cancels who waits for a person, and a failure in flight fails the run all the same', () => {
    const inner = body([ask('sure'), call('slow')]);
    const nodes = [
      branch('b', [[undefined, inner]]),
      ask('other'),
      call('a'),
      done('out', lit(1), { after: ['a'] }),
    ];
    const run = new Run(graph(nodes)).returns('a');
    expect([run.status('sure'), run.status('other'), run.inFlight]).toEqual([
      'cancelled',
      'cancelled',
      ['slow'],
    ]);
    expect(run.fails('slow').state.run).toMatchObject({ status: 'failed', failedNode: 'b' });
  });

  test('G15: a failure stops the scopes of containers that run', () => {
    const inner = body([call('one'), call('two', {}, { after: ['one'] }), ask('sure')]);
    const run = new Run(graph([branch('b', [[undefined, inner]]), call('bad')])).fails('bad');
    expect([run.status('two'), run.status('sure')]).toEqual(['skipped(upstream_failed)', 'cancelled']);
    run.returns('one');
    expect([run.status('b'), run.state.run.status]).toEqual(['cancelled', 'failed']);
  });

  test('a stopped scope that left nothing out ends as it would have', () => {
    const run = new Run(graph([branch('b', [[undefined, body([call('one')])]]), call('bad')])).fails('bad');
    expect(run.returns('one').status('b')).toBe('succeeded');
  });
});

describe('E2: a container that is tried again', () => {
  const inner = body([call('a'), call('b', {}, { after: ['a'] })], step('b'));
  const outer = branch('again', [[undefined, inner]], { retry: again(1) });

  test('starts over, with new ids and the same idempotency keys', () => {
    const run = new Run(graph([outer], { returns: step('again') }));
    const first = run.tables.commands['a#1'];
    run.returns('a').fails('b');
    expect(run.inFlight).toEqual(['a']);
    const second = run.tables.commands['a@1~2#1'];
    expect(second).toMatchObject({ key: (first as { key: string }).key });
    expect(run.status('b')).toBe('pending');
    run.returns('a').returns('b', 9);
    expect(run.state.run.result).toBe(9);
    expect(run.facts.filter(({ kind }) => kind === 'retrying')).toHaveLength(1);
  });

  test.each([
    [
      'an input that was refused',
      (run: Run) => run.fails('a', { code: 'E_INPUT_INVALID', message: '' }, false),
    ],
    ['the deadline', (run: Run) => run.fires('a')],
  ])('E4: not for %s', (_name, fails) => {
    expect(fails(new Run(graph([outer]), {}, 5_000)).state.run.status).toBe('failed');
  });

  test.each([
    ['an expression', call('x', { y: broken })],
    ['a decision', stop('x')],
    ['a branch without a match', branch('x', [[lit(false), body([])]])],
  ])('E4: not for %s', (_name, node) => {
    const run = new Run(graph([branch('b', [[undefined, body([node])]], { retry: again(3) })]));
    expect([run.state.run.status, run.kinds().includes('retrying b')]).toEqual(['failed', false]);
  });

  test('E2: after a delay, and not once its scope is failing', () => {
    const slow = { ...outer, retry: again(1, { delayMs: 50 }) };
    const run = new Run(graph([slow, call('bad')])).fails('a');
    expect(run.tables.nodes.again).toMatchObject({ status: 'waiting', failure: { code: 'E_TOOL' } });
    expect(run.status('a')).toBe('failed');
    expect(run.fails('bad').status('again')).toBe('failed');
    const fine = new Run(graph([slow])).fails('a').waits('again').returns('a').returns('b');
    expect(fine.state.run.status).toBe('succeeded');
  });

  test('E17: its timeout aborts the attempt, and the next one has its own', () => {
    const limited = { ...outer, timeoutMs: 100 };
    const run = new Run(graph([limited])).fires('again');
    expect(run.facts).toContainEqual(
      expect.objectContaining({ kind: 'retrying', failure: expect.objectContaining({ code: 'E_TIMEOUT' }) }),
    );
    expect(run.commands).toContainEqual({ kind: 'cancelCall', id: 'a#1:cancel', call: 'a#1' });
    expect(run.inFlight).toEqual(['a']);
    run.fires('again');
    expect(run.state.run).toMatchObject({ status: 'failed', failure: { code: 'E_TIMEOUT' } });
    expect(Object.keys(run.tables.commands)).toEqual([]);
  });
});
