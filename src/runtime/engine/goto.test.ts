import { describe, expect, test } from 'vitest';
import type { Node } from '../../graph/kinds/node.js';
import { ask, back, body, branch, field, foreach, isMore, parallel, set } from './constructs.fixture.js';
import { call, coalesce, compute, error, graph, lit, not, Run, step, text } from './graph.fixture.js';

const score = (id: string) => step(id, 'score');

/** Improve and review until the score is above 90, at most `max` times again. */
const loop = (max: number, options = {}): Node[] => [
  call('improve'),
  call('review', {}, { after: ['improve'] }),
  back('again', 'improve', max, { when: not(isMore(score('review'), 90)), ...options }),
  call('publish', {}, { after: ['review'] }),
];

describe('Q14: a goto', () => {
  test('starts over from its target, with ids never used, until it is not needed', () => {
    const run = new Run(graph(loop(3), { returns: step('publish') }));
    run.returns('improve').returns('review', { score: 50 });
    expect(run.last.facts).toContainEqual({
      ...{ kind: 'jumped', node: 'again', target: 'improve', visit: 1, max: 3 },
    });
    expect([run.inFlight, run.status('review')]).toEqual([['improve'], 'pending']);
    const second = run.tables.commands['improve@2#1'];
    expect(second).toMatchObject({ node: 'improve', attempt: 1 });
    run.returns('improve').returns('review', { score: 95 });
    expect([run.status('again'), run.inFlight]).toEqual(['skipped(condition_false)', ['publish']]);
    expect(run.returns('publish', 1).state.run.result).toBe(1);
  });

  test('E5: each visit has an idempotency key of its own', () => {
    const run = new Run(graph(loop(3)));
    const first = run.tables.commands['improve#1'];
    run.returns('improve').returns('review', { score: 0 });
    const second = run.tables.commands['improve@2#1'];
    expect((first as { key: string }).key).not.toBe((second as { key: string }).key);
  });

  test('what is declared behind it waits for it', () => {
    const run = new Run(graph(loop(1))).returns('improve').returns('review', { score: 0 });
    expect(run.status('publish')).toBe('pending');
    run.returns('improve').returns('review', { score: 91 });
    expect(run.inFlight).toEqual(['publish']);
  });

  test('fails when it has jumped as often as it may', () => {
    const run = new Run(graph(loop(1))).returns('improve').returns('review', { score: 0 });
    run.returns('improve').returns('review', { score: 0 });
    expect(run.state.run).toMatchObject({ failedNode: 'again', failure: { code: 'E_LOOP_LIMIT' } });
    expect(run.status('publish')).toBe('skipped(upstream_failed)');
  });

  test('or goes on, with `continue`', () => {
    const run = new Run(graph(loop(0, { onLimit: 'continue' })))
      .returns('improve')
      .returns('review', { score: 0 });
    expect([run.status('again'), run.inFlight]).toEqual(['succeeded', ['publish']]);
  });

  test('keeps the state, and forgets outputs and failures', () => {
    const nodes = [
      set('count', { n: text(coalesce(field('n'), lit('')), 'x') }),
      call('a', {}, { onError: { value: error('message') } }),
      compute('seen', step('a'), { after: ['a'] }),
      back('again', 'count', 2, { onLimit: 'continue' }),
    ];
    const run = new Run(graph(nodes, { returns: text(field('n'), step('seen')) })).fails('a');
    expect(run.tables.outputs).toEqual({ count: { n: 'xx' } });
    run.returns('a', '1').returns('a', '2');
    expect(run.state.run.result).toBe('xxx2');
  });

  test('starts skipped nodes, branches and loops over as well', () => {
    const nodes = [
      ask('sure'),
      branch('b', [
        [step('sure', 'confirmed'), body([call('yes')])],
        [undefined, body([call('no')])],
      ]),
      foreach('each', lit([1, 2]), body([call('item')])),
      call('rare', {}, { when: step('sure', 'confirmed') }),
      back('again', 'sure', 1, { onLimit: 'continue' }),
    ];
    const run = new Run(graph(nodes)).returns('item[0]').answers('sure', { confirmed: false });
    run.returns('no').returns('item[1]');
    expect(run.status('rare')).toBe('pending');
    expect(Object.keys(run.tables.nodes)).not.toContain('no');
    run.answers('sure', { confirmed: true });
    expect(run.inFlight).toEqual(['item[0]', 'yes', 'rare']);
    expect(Object.keys(run.tables.commands)).toContain('item[0]@2#1');
    run.returns('item[0]').returns('item[1]').returns('yes').returns('rare');
    expect(run.state.run.status).toBe('succeeded');
  });

  const tried = (options = {}) => [
    call('try', {}, options),
    back('again', 'try', 1, { onLimit: 'continue', join: 'all_done' }),
  ];

  test('cancels the failure of a node that it starts over', () => {
    const run = new Run(graph(tried(), { failFast: false })).fails('try').returns('try');
    expect(run.state.run.status).toBe('succeeded');
    expect(run.state.run.failures).toBeUndefined();
  });

  test('leaves failures outside of the loop: the first of them is the scope’s', () => {
    const nodes = [call('early'), call('other'), ...tried()];
    const run = new Run(graph(nodes, { failFast: false }));
    run.fails('try', { code: 'X_TRY', message: '1' });
    run.fails('early', { code: 'X_EARLY', message: '' }).fails('try', { code: 'X_TRY', message: '2' });
    run.fails('other');
    expect(run.state.run).toMatchObject({ failedNode: 'early', failure: { code: 'X_EARLY' } });
    const messages = run.state.run.failures?.map(({ node, failure }) => [node, failure.message]);
    expect(messages).toEqual([
      ['early', ''],
      ['other', 'broke'],
      ['try', '2'],
    ]);
  });

  test('in a body takes the failure back as well: the branch does not count as failed', () => {
    const trip = parallel(
      'trip',
      { loop: body(tried()), bad: body([call('bad')]) },
      { onPartialFailure: 'rollback' },
    );
    const run = new Run(graph([trip], { failFast: false })).fails('try').returns('try').fails('bad');
    expect(run.state.run.failure?.details).toMatchObject({ failed: { bad: { code: 'E_TOOL' } } });
    expect(run.state.run.failure?.details).not.toHaveProperty('failed.loop');
  });

  test('cancels what a branch selected after it, which may be selected again', () => {
    const nodes = [
      call('try'),
      branch('pick', [
        [isMore(score('try'), 90), 'good'],
        [undefined, 'poor'],
      ]),
      back('again', 'try', 1, { onLimit: 'continue' }),
      call('good'),
      call('poor'),
    ];
    const run = new Run(graph(nodes)).returns('try', { score: 1 }).returns('try', { score: 99 });
    expect([run.inFlight, run.status('poor')]).toEqual([['good'], 'skipped(not_selected)']);
  });

  test('cancels the selection of a fallback', () => {
    const nodes = [...tried({ onError: { fallbackNode: 'sorry' } }), call('sorry')];
    const run = new Run(graph(nodes)).fails('try').returns('try');
    expect([run.status('try'), run.status('sorry')]).toEqual(['succeeded', 'skipped(not_selected)']);
    expect(run.state.run.status).toBe('succeeded');
  });

  test('may be selected by a branch, which decides again on each visit', () => {
    const nodes = [
      call('try'),
      branch('decide', [
        [isMore(score('try'), 90), 'finish'],
        [undefined, 'again'],
      ]),
      back('again', 'try', 5),
      call('finish'),
      call('last', {}, { after: ['finish'], join: 'none_failed_min_one_success' }),
    ];
    const run = new Run(graph(nodes)).returns('try', { score: 1 });
    expect([run.status('finish'), run.inFlight]).toEqual(['pending', ['try']]);
    run.returns('try', { score: 99 });
    expect([run.status('again'), run.inFlight]).toEqual(['skipped(not_selected)', ['finish']]);
    run.returns('finish').returns('last');
    expect(run.state.run.status).toBe('succeeded');
  });

  test('cancels its own selections, and no others: no failure is lost', () => {
    const nodes = [
      call('try'),
      branch('found', [
        [isMore(score('try'), 90), 'finish'],
        [undefined, body([])],
      ]),
      back('again', 'try', 1, { after: ['found'], onLimit: 'continue' }),
      call('risky', {}, { onError: { fallbackNode: 'finish' } }),
      call('finish', { why: error('code') }),
    ];
    const run = new Run(graph(nodes));
    run.returns('try', { score: 99 }).returns('try', { score: 1 }).fails('risky');
    expect([run.status('risky'), run.inFlight]).toEqual(['handled', ['finish']]);
    const early = new Run(graph(nodes)).fails('risky');
    early.returns('try', { score: 99 }).returns('try', { score: 1 });
    expect([early.status('risky'), early.inFlight]).toEqual(['handled', ['finish']]);
  });

  test('leaves a selection in place that came second and from outside', () => {
    const nodes = [
      call('try'),
      branch('found', [
        [isMore(score('try'), 90), 'finish'],
        [undefined, body([])],
      ]),
      call('slow'),
      back('again', 'try', 1, { onLimit: 'continue' }),
      call('risky', {}, { onError: { fallbackNode: 'finish' } }),
      call('finish', { why: error('code') }),
    ];
    const run = new Run(graph(nodes)).returns('try', { score: 99 }).fails('risky').returns('slow');
    run.returns('try', { score: 1 }).returns('slow');
    expect(run.tables.commands['finish#1']).toMatchObject({ input: { why: 'E_TOOL' } });
    expect(run.status('risky')).toBe('handled');
  });

  test('in a loop over items, counts for each item', () => {
    const nodes = body([call('a'), back('again', 'a', 1, { onLimit: 'continue' })]);
    const run = new Run(graph([foreach('each', lit([1, 2]), nodes)]));
    for (const id of ['a[0]', 'a[0]', 'a[1]', 'a[1]']) {
      expect(run.inFlight).toEqual([id]);
      run.returns(id);
    }
    expect(run.state.run.status).toBe('succeeded');
  });

  test('inside another one is started over with it', () => {
    const nodes = [
      call('outer'),
      call('inner', {}, { after: ['outer'] }),
      back('short', 'inner', 2, { onLimit: 'continue' }),
      back('long', 'outer', 1, { onLimit: 'continue' }),
    ];
    const run = new Run(graph(nodes));
    const ids: string[] = [];
    while (run.state.run.status === 'running') {
      const [id = ''] = Object.keys(run.tables.commands);
      ids.push(id);
      run.returns(run.inFlight[0] ?? '');
    }
    expect(ids).toEqual(['outer#1', 'inner#1', 'inner@2#1', 'inner@3#1', 'outer@2#1', 'inner@4#1']);
  });

  test.each(['later', 'again', 'elsewhere', 'inside'])('to %s is a fault of the graph', (target) => {
    const nodes = [
      branch('b', [[undefined, body([call('inside')])]]),
      back('again', target, 1),
      call('later'),
    ];
    expect(new Run(graph(nodes)).state.run.failure?.code).toBe('E_GRAPH');
  });

  test('without end comes to the limit of steps', () => {
    const nodes = [compute('a', lit(1)), back('again', 'a', 1_000_000_000)];
    const run = new Run(graph(nodes));
    expect(run.state.run).toMatchObject({ status: 'failed', failure: { code: 'E_STEP_LIMIT' } });
    expect(run.state.run.started).toBe(100_000);
  });

  test('costs the same on every visit', () => {
    const run = new Run(graph([call('a'), back('again', 'a', 10_000)]));
    const changes = () => run.returns('a').last.changes.length;
    for (let visit = 0; visit < 10; visit += 1) run.returns('a');
    const early = changes();
    for (let visit = 0; visit < 2_000; visit += 1) run.returns('a');
    expect(changes()).toBe(early);
  });
});
