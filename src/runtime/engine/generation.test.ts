import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isNightly } from '../../../test/nightly.js';
import { canonicalJson } from '../../graph/canonical.js';
import type { Graph } from '../../graph/model.js';
import {
  ask,
  back,
  body,
  branch,
  compensate,
  field,
  foreach,
  item,
  parallel,
  runs,
  set,
  undo,
  withTasks,
} from './constructs.fixture.js';
import { again, call, chain, graph, lit, Run, read, step, text } from './graph.fixture.js';

import { play, roughMoves } from './random-run.fixture.js';
import { randomUndoGraph } from './random-undo-graph.fixture.js';

const state = [{ name: 'n', scope: 'run', schema: {}, initial: 0 } as const];

const undoes = (id: string) => undo(`undo-${id}`, { id: step(id, 'id') });

/** Ids of the calls of a node, in the order of their issue. */
const idsOf = (run: Run, node: string) =>
  run.calls.filter((command) => command.node === node && !command.isCompensation).map(({ id }) => id);

/** Generations of the calls of a node, in the order of their issue. */
const generationsOf = (run: Run, node: string) =>
  run.calls.filter((call) => call.node === node && !call.isCompensation).map(({ generation }) => generation);

/** One key, one call: whatever has the same key has the same tool and input. No id is used twice. */
function expectSound({ calls }: Pick<Run, 'calls'>): void {
  const byKey = new Map<string, string>();
  for (const { key, tool, input } of calls) {
    const sent = canonicalJson([tool, input]);
    expect(byKey.get(key) ?? sent).toBe(sent);
    byKey.set(key, sent);
  }
  expect(new Set(calls.map(({ id }) => id)).size).toBe(calls.length);
}

const undoKey = (call: string, index = 0) => canonicalJson(['undo', call, index]);

const callKey = (node: string, generation: number) => canonicalJson(['call', 'run-1', node, generation]);

describe('A1: the generation of a call', () => {
  test('rises with each jump of a goto, for all it starts over', () => {
    const nodes = chain(call('a'), call('b'), back('again', 'a', 2, { onLimit: 'continue' }));
    const run = new Run(graph(nodes));
    for (let visit = 1; visit <= 3; visit += 1) run.returns('a').returns('b');
    expect(run.state.run.status).toBe('succeeded');
    expect([idsOf(run, 'a'), idsOf(run, 'b')]).toEqual([
      ['a#1', 'a@2#1', 'a@3#1'],
      ['b#1', 'b@2#1', 'b@3#1'],
    ]);
    expectSound(run);
  });

  test('rises with the jumps around a container, a workflow and an item', () => {
    const task = graph([call('x')], { name: 'task' });
    const nodes = chain(
      foreach('lines', lit([1]), body([call('line', { n: item('item') })])),
      branch('b', [[undefined, body([call('in')])]]),
      runs('sub', 'task'),
      back('again', 'lines', 1, { onLimit: 'continue' }),
    );
    const run = new Run(withTasks(graph(nodes), task));
    for (let visit = 1; visit <= 2; visit += 1) run.returns('line[0]').returns('in').returns('sub/x');
    expect(run.state.run.status).toBe('succeeded');
    for (const node of ['line[0]', 'in', 'sub/x']) expect(generationsOf(run, node)).toEqual([1, 2]);
    expectSound(run);
  });

  test('is kept by a new attempt of a container that sends the same input', () => {
    const inner = body(chain(call('a', { n: lit(1) }), call('bad')));
    const run = new Run(graph([branch('b', [[undefined, inner]], { retry: again(2) })]));
    for (let attempt = 1; attempt <= 3; attempt += 1) run.returns('a').fails('bad');
    expect([idsOf(run, 'a'), generationsOf(run, 'a')]).toEqual([
      ['a#1', 'a@1~2#1', 'a@1~3#1'],
      [1, 1, 1],
    ]);
    expect(new Set(run.calls.filter(({ node }) => node === 'a').map(({ key }) => key)).size).toBe(1);
  });

  test('rises where a new attempt of a container sends another input, and is kept where the next one sends it again', () => {
    const inner = body(chain(call('a', { n: field('n') }), set('s', { n: lit(1) }), call('bad')));
    const run = new Run(graph([branch('b', [[undefined, inner]], { retry: again(2) })], { state }));
    for (let attempt = 1; attempt <= 3; attempt += 1) run.returns('a').fails('bad');
    expect(idsOf(run, 'a')).toEqual(['a#1', 'a@2~2#1', 'a@2~3#1']);
    expect(generationsOf(run, 'a')).toEqual([1, 2, 2]);
    expectSound(run);
  });

  test('rises where the effect was undone', () => {
    const left = body([call('l', {}, { compensate: undoes('l') })]);
    const trip = parallel(
      'trip',
      { left, right: body([call('r')]) },
      { onPartialFailure: 'rollback', retry: again(1) },
    );
    const run = new Run(graph([trip]), {}, undefined, undefined, { 'tool-r': 'idempotent' });
    run.returns('l', { id: 1 }).fails('r').returns('trip');
    expect(run.inFlight).toEqual(['l', 'r']);
    expect([idsOf(run, 'l'), generationsOf(run, 'l')]).toEqual([
      ['l#1', 'l@2~2#1'],
      [1, 2],
    ]);
    expect(generationsOf(run, 'r')).toEqual([1, 1]);
    run.returns('l', { id: 2 }).fails('r').returns('trip');
    expect(run.state.run.status).toBe('failed');
    const compensations = run.calls.filter(({ isCompensation }) => isCompensation);
    expect(compensations.map(({ key }) => key)).toEqual([undoKey(callKey('l', 1)), undoKey(callKey('l', 2))]);
    expectSound(run);
  });

  test('never falls: a new attempt around a goto goes on where the last visit was', () => {
    const inner = body(
      chain(call('a', { n: field('n') }), back('again', 'a', 1, { onLimit: 'continue' }), call('bad')),
    );
    const run = new Run(graph([branch('b', [[undefined, inner]], { retry: again(1) })], { state }));
    run.returns('a').returns('a').fails('bad').returns('a').returns('a').fails('bad');
    expect(idsOf(run, 'a')).toEqual(['a#1', 'a@2#1', 'a@2~2#1', 'a@3~2#1']);
    expect(generationsOf(run, 'a')).toEqual([1, 2, 2, 3]);
    expectSound(run);
  });

  test('counts jumps inside and outside together', () => {
    const inner = body(chain(call('a'), back('inner', 'a', 1, { onLimit: 'continue' })));
    const nodes = chain(branch('b', [[undefined, inner]]), back('outer', 'b', 1, { onLimit: 'continue' }));
    const run = new Run(graph(nodes));
    run.returns('a').returns('a').returns('a').returns('a');
    expect([run.state.run.status, generationsOf(run, 'a')]).toEqual(['succeeded', [1, 2, 3, 4]]);
    expectSound(run);
  });
});

describe('A2: the input of a call', () => {
  test('is evaluated once: another attempt sends the same although the state has changed', () => {
    const nodes = [
      call('a', { n: field('n') }, { retry: again(2, { delayMs: 10 }) }),
      call('b'),
      set('s', { n: lit(7) }, { after: ['b'] }),
    ];
    const run = new Run(graph(nodes, { state })).fails('a').returns('b');
    expect(run.tables.fields.n).toEqual({ value: 7 });
    run.waits('a').fails('a').waits('a');
    const sent = run.calls.filter(({ node }) => node === 'a');
    expect(sent.map(({ id, input, key }) => [id, input, key])).toEqual([
      ['a#1', { n: 0 }, callKey('a', 1)],
      ['a#2', { n: 0 }, callKey('a', 1)],
      ['a#3', { n: 0 }, callKey('a', 1)],
    ]);
  });

  test('is evaluated again for the next visit and for the next attempt of a container', () => {
    const inner = body(
      chain(call('a', { n: field('n') }), set('s', { n: text(field('n'), 'x') }), call('bad')),
    );
    const run = new Run(graph([branch('b', [[undefined, inner]], { retry: again(1) })], { state }));
    run.returns('a').fails('bad').returns('a');
    const nodes = chain(
      call('c', { n: field('n') }),
      set('t', { n: lit(1) }),
      back('again', 'c', 1, { onLimit: 'continue' }),
    );
    const visits = new Run(graph(nodes, { state })).returns('c').returns('c');
    const inputs = ({ calls }: Run, of: string) =>
      calls.filter(({ node }) => node === of).map(({ input }) => input);
    expect(inputs(run, 'a')).toEqual([{ n: 0 }, { n: '0x' }]);
    expect(inputs(visits, 'c')).toEqual([{ n: 0 }, { n: 1 }]);
  });

  test('of a resource and of an action is evaluated again for each attempt', () => {
    const retry = again(1, { delayMs: 10 });
    const nodes = [
      read('a', text('res://', field('n')), { retry }),
      ask('q', 'text', { message: text('n is ', field('n')), retry }),
      call('b'),
      set('s', { n: lit(7) }, { after: ['b'] }),
    ];
    const run = new Run(graph(nodes, { state })).fails('a');
    run.send({ kind: 'actionFailed', at: run.at, command: 'q#1', failure: { code: 'E', message: 'no' } });
    run.returns('b').waits('a').waits('q');
    expect(run.tables.commands['a#2']).toMatchObject({ uri: 'res://7' });
    expect(run.tables.commands['q#2']).toMatchObject({ action: { message: 'n is 7' } });
  });
});

describe('A3: the text of a key', () => {
  const keyOf = (run: Run) => run.calls.find(({ isCompensation }) => isCompensation)?.key;

  const expected = undoKey(callKey('l', 1));

  test('of a compensation is the same for a rollback, a compensate node and a cancellation', () => {
    const booking = call('l', {}, { compensate: undoes('l') });
    const trip = parallel(
      'trip',
      { left: body([booking]), right: body([call('bad')]) },
      { onPartialFailure: 'rollback' },
    );
    const rollback = new Run(graph([trip])).returns('l', { id: 1 }).fails('bad');
    const nodes = [
      booking,
      branch('go', [[lit(true), 'clean']], { after: ['l'] }),
      compensate('clean', [undoes('l')]),
    ];
    const byNode = new Run(graph(nodes)).returns('l', { id: 1 });
    const cancelled = new Run(graph([booking, ask('sure')])).returns('l', { id: 1 }).cancel(true);
    expect([keyOf(rollback), keyOf(byNode), keyOf(cancelled)]).toEqual([expected, expected, expected]);
  });

  test('of a step that undoes no recorded call is of the node, its generation and the place of the step', () => {
    const nodes = [branch('go', [[lit(true), 'clean']]), compensate('clean', [undo('one'), undo('two')])];
    const run = new Run(graph(nodes)).returns('clean');
    expect(run.calls.map(({ key }) => key)).toEqual([
      canonicalJson(['call', 'run-1', 'clean', 1, 0]),
      canonicalJson(['call', 'run-1', 'clean', 1, 1]),
    ]);
  });
});

describe('A4: the id of a command', () => {
  const nested = (retry: number, inner: number): Graph => {
    const deep = branch('deep', [[undefined, body(chain(call('a'), call('bad')))]], { retry: again(inner) });
    return graph([branch('b', [[undefined, body([deep])]], { retry: again(retry) })]);
  };

  test('names the attempts of the containers around it, the outermost first, unless all are the first', () => {
    const run = new Run(nested(1, 1));
    for (let attempt = 1; attempt <= 4; attempt += 1) run.returns('a').fails('bad');
    expect(idsOf(run, 'a')).toEqual(['a#1', 'a@1~1.2#1', 'a@1~2.1#1', 'a@1~2.2#1']);
  });

  test('counts the attempts of the call itself behind all that', () => {
    const inner = body(chain(call('a', {}, { retry: again(1) }), call('bad')));
    const run = new Run(graph([branch('b', [[undefined, inner]], { retry: again(1) })]));
    run.fails('a').returns('a').fails('bad').fails('a').returns('a');
    expect(idsOf(run, 'a')).toEqual(['a#1', 'a#2', 'a@1~2#1', 'a@1~2#2']);
    expect(generationsOf(run, 'a')).toEqual([1, 1, 1, 1]);
    expectSound(run);
  });

  test('of a delay and of a limit starts with the id of its attempt', () => {
    const retry = again(1, { delayMs: 5 });
    const inner = body([call('a', {}, { retry })]);
    const run = new Run(graph([branch('b', [[undefined, inner]], { retry: again(1), timeoutMs: 9_000 })]));
    run.fails('a').waits('a').fails('a').fails('a');
    expect(Object.keys(run.tables.commands)).toEqual(['b#2:timer', 'a@1~2#1:delay']);
  });
});

test('however a run goes: one key is one call, no id comes twice, and no generation falls', () => {
  fc.assert(
    fc.property(randomUndoGraph, roughMoves, (of, world) => {
      const calls: Run['calls'] = [];
      play(of, world, ({ event, advance: { commands } }) => {
        const isDecision = event?.kind === 'outcomeDecided' || event?.kind === 'retryRequested';
        for (const command of commands) {
          if (command.kind !== 'callTool') continue;
          // An operator has a call made again as it was.
          if (isDecision && command.node === event.node && !command.isCompensation) continue;
          calls.push(command);
        }
      });
      expectSound({ calls });
      const latest = new Map<string, number>();
      for (const { node, generation, isCompensation } of calls) {
        if (isCompensation) continue;
        expect(generation).toBeGreaterThanOrEqual(latest.get(node) ?? 1);
        latest.set(node, generation);
      }
    }),
    { numRuns: isNightly ? 150 : 40 },
  );
});
