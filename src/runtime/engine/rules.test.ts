import { describe, expect, test } from 'vitest';
import type { Node } from '../../graph/kinds/node.js';
import {
  broken,
  call,
  chain,
  coalesce,
  done,
  graph,
  input,
  lit,
  not,
  Run,
  read,
  step,
  stop,
  text,
} from './graph.fixture.js';

describe('order', () => {
  test('G13: everything without dependencies starts at once, in declaration order', () => {
    const run = new Run(graph([call('b'), call('a'), read('c')]));
    expect(run.commands.map((command) => command.id)).toEqual(['b#1', 'a#1', 'c#1']);
  });

  test('G13: at most maxConcurrency are in flight, and who waited longest goes first', () => {
    const run = new Run(
      graph(
        ['a', 'b', 'c', 'd', 'e'].map((id) => call(id)),
        { maxConcurrency: 2 },
      ),
    );
    expect(run.inFlight).toEqual(['a', 'b']);
    expect(run.status('c')).toBe('ready');
    expect(run.returns('b').inFlight).toEqual(['a', 'c']);
    expect(run.tables.nodes.c).not.toHaveProperty('next');
    expect(run.returns('a').inFlight).toEqual(['c', 'd']);
    expect(run.returns('d').inFlight).toEqual(['c', 'e']);
    run.returns('c').returns('e');
    expect(run.state.run.status).toBe('succeeded');
  });

  test('G13: ten are in flight where the graph does not say', () => {
    const run = new Run(graph(Array.from({ length: 12 }, (_, index) => call(`n${index}`))));
    expect(run.inFlight).toHaveLength(10);
  });

  test('G13: a graph that allows none in flight would never end, so one is', () => {
    const run = new Run(graph([call('a'), call('b')], { maxConcurrency: 0 }));
    expect(run.inFlight).toEqual(['a']);
    expect(run.returns('a').returns('b').state.run.status).toBe('succeeded');
  });

  test('G13: a node that becomes ready starts after those that wait for a slot', () => {
    const run = new Run(
      graph([call('a'), call('b', {}, { after: ['a'] }), call('c')], { maxConcurrency: 1 }),
    );
    run.returns('a');
    expect(run.inFlight).toEqual(['c']);
    expect(run.returns('c').inFlight).toEqual(['b']);
  });

  test('a chain runs one after the other and binds what each gave', () => {
    const run = new Run(
      graph(chain(call('list'), call('verify', { pages: step('list', 'pages'), name: input('project') }))),
      { project: 'Website' },
    );
    expect(run.inFlight).toEqual(['list']);
    run.returns('list', { pages: ['Website'] });
    expect(run.tables.commands['verify#1']).toMatchObject({
      tool: 'tool-verify',
      input: { pages: ['Website'], name: 'Website' },
      attempt: 1,
    });
  });

  test('G10: a reference to a step orders without `after`', () => {
    const run = new Run(graph([call('late', { x: step('early') }), call('early')]));
    expect(run.inFlight).toEqual(['early']);
    expect(run.returns('early', 7).tables.commands['late#1']).toMatchObject({ input: { x: 7 } });
  });

  test('G10: references in conditions and guidance, and guarded ones, order but do not join', () => {
    const nodes: Node[] = [
      call('bad'),
      call('asks', {}, { when: not(step('bad')), join: 'all_success' }),
      call('copes', { x: coalesce(step('bad'), lit('none')) }, { join: 'all_success' }),
      call('told', {}, { guidance: text('after ', step('bad')), join: 'all_success' }),
    ];
    const run = new Run(graph(nodes, { failFast: false }));
    expect(run.inFlight).toEqual(['bad']);
    run.fails('bad');
    expect(run.inFlight).toEqual(['asks', 'copes', 'told']);
    expect(run.tables.commands['copes#1']).toMatchObject({ input: { x: 'none' } });
  });

  test('G10: a plain reference counts in the join', () => {
    const run = new Run(graph([call('bad'), call('needs', { x: step('bad') })], { failFast: false }));
    expect(run.fails('bad').status('needs')).toBe('skipped(upstream_failed)');
  });

  test('a skipped step does not skip the next under none_failed, and its binding reads as absent', () => {
    const run = new Run(
      graph(chain(call('a', {}, { when: lit(false) }), call('b', { x: step('a'), y: lit(1) }))),
    );
    expect(run.status('a')).toBe('skipped(condition_false)');
    expect(run.tables.commands['b#1']).toMatchObject({ input: { y: 1 } });
  });

  test('G4: under none_failed_min_one_success a node whose dependencies were all skipped is skipped', () => {
    const run = new Run(
      graph([
        call('a', {}, { when: lit(false) }),
        call('b', {}, { after: ['a'], join: 'none_failed_min_one_success' }),
      ]),
    );
    expect(run.status('b')).toBe('skipped(upstream_skipped)');
    expect(run.state.run).toMatchObject({ status: 'succeeded', result: null });
  });
});

describe('conditions', () => {
  test.each([
    [true, 'running'],
    [false, 'skipped(condition_false)'],
    [null, 'skipped(condition_false)'],
    [undefined, 'skipped(condition_false)'],
  ])('X3, X5: %s', (value, status) => {
    const run = new Run(graph([call('a', {}, { when: lit(value) })]));
    expect(run.status('a')).toBe(status);
    expect(run.kinds()).toContain(status === 'running' ? 'nodeStarted a' : 'nodeSkipped a');
  });

  test.each([['yes'], [1], [{}]])('X3: %j is neither true nor false, and fails the node', (value) => {
    const run = new Run(graph([call('a', {}, { when: lit(value) })]));
    expect(run.tables.nodes.a).toMatchObject({ status: 'failed', failure: { code: 'E_NOT_A_BOOLEAN' } });
    expect(run.kinds()).toEqual(['nodeFailed a', 'finished a']);
  });
});

describe('failures', () => {
  const three = [call('a'), call('b'), call('c', {}, { after: ['b'] })];

  test('G15: after the first failure nothing new starts, calls in flight settle, then the run is failed', () => {
    const run = new Run(graph(three)).fails('a', { code: 'E_TOOL', message: 'full' });
    expect(run.status('c')).toBe('skipped(upstream_failed)');
    expect(run.inFlight).toEqual(['b']);
    expect(run.state.run.status).toBe('running');
    run.returns('b', 5);
    expect(run.status('b')).toBe('succeeded');
    expect(run.state.run).toMatchObject({
      status: 'failed',
      failure: { code: 'E_TOOL', message: 'full' },
      failedNode: 'a',
    });
    expect(run.kinds()).toEqual([
      'nodeStarted a',
      'callIssued a',
      'nodeStarted b',
      'callIssued b',
      'callReturned a',
      'nodeFailed a',
      'nodeSkipped c',
      'callReturned b',
      'nodeSucceeded b',
      'finished a',
    ]);
  });

  test('G15: those in line for a place are skipped as well', () => {
    const run = new Run(graph([call('a'), call('b'), call('c')], { maxConcurrency: 1 })).fails('a');
    expect([run.status('b'), run.status('c')]).toEqual([
      'skipped(upstream_failed)',
      'skipped(upstream_failed)',
    ]);
    expect(run.state.queue.isEmpty).toBe(true);
    expect(run.state.run.status).toBe('failed');
  });

  test('G15: the first of two failures is the run’s', () => {
    const run = new Run(graph(three))
      .fails('b', { code: 'E_1', message: '1' })
      .fails('a', { code: 'E_2', message: '2' });
    expect(run.state.run).toMatchObject({ status: 'failed', failure: { code: 'E_1' }, failedNode: 'b' });
  });

  test('G15: with failFast false independent nodes go on, and a failure reaches all who depend on it', () => {
    const nodes = [
      call('bad'),
      call('child', {}, { after: ['bad'] }),
      call('grandchild', {}, { after: ['child'] }),
      call('other'),
      call('next', {}, { after: ['other'] }),
    ];
    const run = new Run(graph(nodes, { failFast: false })).fails('bad').returns('other').returns('next');
    expect(run.status('child')).toBe('skipped(upstream_failed)');
    expect(run.status('grandchild')).toBe('skipped(upstream_failed)');
    expect(run.status('next')).toBe('succeeded');
    expect(run.state.run).toMatchObject({ status: 'failed', failedNode: 'bad' });
  });

  test('E1: a refused input is a failure that was not attempted', () => {
    const run = new Run(graph([call('a')])).fails('a', { code: 'E_INPUT', message: 'x is missing' }, false);
    expect(run.facts).toContainEqual({
      kind: 'callReturned',
      node: 'a',
      command: 'a#1',
      attempted: false,
      outcome: { ok: false, failure: { code: 'E_INPUT', message: 'x is missing' } },
    });
  });

  test.each<[string, Node, string]>([
    ['input', call('a', { x: broken }), 'E_NOT_AN_OBJECT'],
    ['uri', read('a', broken), 'E_NOT_AN_OBJECT'],
    ['uri that is not text', read('a', lit(3)), 'E_NOT_TEXT'],
    ['message', stop('a', broken), 'E_NOT_AN_OBJECT'],
    ['message that is not text', stop('a', lit()), 'E_NOT_TEXT'],
    ['return value', done('a', broken), 'E_NOT_AN_OBJECT'],
    ['condition', call('a', {}, { when: broken }), 'E_NOT_AN_OBJECT'],
  ])('a %s without a value fails the node before anything is attempted', (_name, node, code) => {
    const run = new Run(graph([node]));
    expect(run.commands).toEqual([]);
    expect(run.tables.nodes.a).toMatchObject({ status: 'failed', attempt: 0, failure: { code } });
    expect(run.state.run).toMatchObject({ status: 'failed', failedNode: 'a', failure: { code } });
  });

  test('the expressions of one advance share a budget', () => {
    const long = 'x'.repeat(300_000);
    const run = new Run(graph(['a', 'b', 'c', 'd'].map((id) => call(id, { x: text(input('long')) }))), {
      long,
    });
    expect(run.tables.scopes['/']?.failure?.code).toBe('E_BUDGET');
    expect(run.inFlight).toEqual(['a', 'b', 'c']);
    expect(run.status('d')).toBe('failed');
  });

  test('guidance with a fault is reported and fails nothing', () => {
    const run = new Run(graph([call('a', {}, { guidance: broken })]));
    expect(run.status('a')).toBe('running');
    expect(run.facts[0]).toMatchObject({ kind: 'nodeStarted', guidanceFailure: { code: 'E_NOT_AN_OBJECT' } });
  });

  test('guidance is evaluated when the node starts; empty guidance is none', () => {
    const run = new Run(
      graph(
        chain(
          call('a'),
          call('b', {}, { guidance: text('Got ', step('a')) }),
          call('c', {}, { guidance: text() }),
        ),
      ),
    );
    run.returns('a', 4).returns('b');
    expect(run.facts).toContainEqual({ kind: 'nodeStarted', node: 'b', nodeKind: 'call', guidance: 'Got 4' });
    expect(run.facts).toContainEqual({ kind: 'nodeStarted', node: 'c', nodeKind: 'call' });
  });
});

describe('endings', () => {
  test('E8: an error node fails the run with its own code', () => {
    const run = new Run(graph([stop('sold_out', lit('no seat'), { code: 'OUT_OF_STOCK' })]));
    expect(run.state.run).toMatchObject({ failure: { code: 'OUT_OF_STOCK' }, failedNode: 'sold_out' });
  });

  test('E8: an error node without a code fails the run with E_FAIL and its message', () => {
    const run = new Run(graph(chain(call('a'), stop('sold_out', text('no ', step('a'))), call('b')))).returns(
      'a',
      'seat',
    );
    expect(run.state.run).toMatchObject({
      status: 'failed',
      failure: { code: 'E_FAIL', message: 'no seat' },
      failedNode: 'sold_out',
    });
    expect(run.status('b')).toBe('skipped(run_ended)');
  });

  test('E8: an error node whose condition is false is skipped and the run goes on', () => {
    const run = new Run(graph(chain(stop('no', lit('no'), { when: lit(false) }), call('b'))));
    expect(run.status('no')).toBe('skipped(condition_false)');
    expect(run.inFlight).toEqual(['b']);
  });

  test('E8: an error node decides the failure, whatever failed before', () => {
    const run = new Run(
      graph([call('a'), stop('told', lit('stopped early'), { after: ['a'], join: 'all_done' })], {
        failFast: false,
      }),
    ).fails('a');
    expect(run.state.run).toMatchObject({
      status: 'failed',
      failedNode: 'told',
      failure: { message: 'stopped early' },
    });
  });

  test('E8, G15: calls in flight settle before the run is over', () => {
    const run = new Run(graph([call('slow'), call('a'), stop('no', lit('no'), { after: ['a'] })])).returns(
      'a',
    );
    expect(run.state.run.status).toBe('running');
    run.returns('slow');
    expect(run.state.run).toMatchObject({ status: 'failed', failedNode: 'no' });
  });

  test('a return ends the run with its value and skips the rest', () => {
    const run = new Run(graph(chain(call('a'), done('out', step('a', 'id')), call('b')))).returns('a', {
      id: 9,
    });
    expect(run.state.run).toMatchObject({ status: 'succeeded', result: 9 });
    expect(run.status('b')).toBe('skipped(run_ended)');
    expect(run.facts.at(-1)).toEqual({ kind: 'finished', status: 'succeeded', result: 9 });
  });

  test('a return of an absent value gives no result', () => {
    const run = new Run(graph([done('out', lit())]));
    expect(run.state.run.status).toBe('succeeded');
    expect(run.state.run.result).toBeUndefined();
    expect(run.facts.at(-1)).toEqual({ kind: 'finished', status: 'succeeded' });
  });

  test('a return waits for calls in flight; a failure among them fails the run, as it would have before', () => {
    const nodes = [call('slow'), call('a'), done('out', step('a'))];
    const fine = new Run(graph(nodes)).returns('a', 1);
    expect(fine.state.run.status).toBe('running');
    expect(fine.returns('slow').state.run).toMatchObject({ status: 'succeeded', result: 1 });
    const broke = new Run(graph(nodes)).returns('a', 1).fails('slow');
    expect(broke.state.run).toMatchObject({ status: 'failed', failedNode: 'slow' });
    expect(broke.state.run.result).toBeUndefined();
    expect(broke.state.run.endedBy).toBe('out');
  });

  test('G14: without a return the graph’s own `returns` gives the result', () => {
    const run = new Run(graph([call('a')], { returns: step('a', 'x') })).returns('a', { x: [1] });
    expect(run.state.run).toMatchObject({ status: 'succeeded', result: [1] });
  });

  test('G14: a `returns` without a value fails the run, and no node', () => {
    const run = new Run(graph([], { returns: broken }));
    expect(run.state.run).toMatchObject({ status: 'failed', failure: { code: 'E_NOT_AN_OBJECT' } });
    expect(run.state.run.failedNode).toBeUndefined();
  });

  test('G14: without either the result is null, also for a graph without nodes', () => {
    expect(new Run(graph([])).facts).toEqual([{ kind: 'finished', status: 'succeeded', result: null }]);
    expect(new Run(graph([call('a')])).returns('a', 5).state.run.result).toBeNull();
  });
});
