import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Node, Retry } from '../../graph/kinds/node.js';
import type { ToolSafety } from '../../graph/tool-safety.js';
import { delayAfter, jitterShare } from './attempt.js';
import { body, branch } from './constructs.fixture.js';
import {
  again,
  broken,
  call,
  chain,
  done,
  graph,
  input,
  lit,
  Run,
  read,
  stop,
  text,
} from './graph.fixture.js';
import { outstanding } from './read.js';

const failure = { code: 'E_TOOL', message: 'broke' };
const delays = (retry: Retry, count: number, share = 0) =>
  Array.from({ length: count }, (_, index) => delayAfter(retry, index + 1, failure, share));

/** A graph of one node that is tried twice more. */
const one = (options: Partial<Node> = {}) =>
  graph([{ ...call('a', {}, { retry: again(2) }), ...options } as Node]);

describe('E3: the delay before a retry', () => {
  test.each<[string, Partial<Retry>, number[]]>([
    ['constant', { delayMs: 2_000 }, [2_000, 2_000, 2_000]],
    ['linear', { delayMs: 2_000, backoff: 'linear' }, [2_000, 4_000, 6_000]],
    ['exponential', { delayMs: 2_000, backoff: 'exponential' }, [2_000, 4_000, 8_000]],
    ['capped', { delayMs: 2_000, backoff: 'exponential', capMs: 5_000 }, [2_000, 4_000, 5_000]],
    ['of two minutes', { delayMs: 120_000 }, [120_000, 120_000, 120_000]],
    ['linear, above a minute', { delayMs: 40_000, backoff: 'linear' }, [40_000, 80_000, 120_000]],
    ['none', { backoff: 'exponential' }, [0, 0, 0]],
  ])('%s', (_name, options, expected) => {
    expect(delays(again(3, options), 3)).toEqual(expected);
  });

  test('stays a number however often it doubles', () => {
    const doubling = { delayMs: 1e300, backoff: 'exponential' } as const;
    expect(delayAfter(again(9_999, doubling), 9_999, failure, 0)).toBe(60_000);
    expect(delayAfter(again(9_999, { ...doubling, delayMs: 0 }), 9_999, failure, 0)).toBe(0);
  });

  test('jitter takes off at most its fraction of the delay', () => {
    expect(delays(again(1, { delayMs: 1_000, jitter: 0.25 }), 1, 0.5)).toEqual([875]);
    expect(delays(again(1, { delayMs: 1_000, jitter: 1 }), 1, 0.999)).toEqual([1]);
  });

  test('a wait the other side asked for wins over delay, cap and jitter', () => {
    const asked = { ...failure, retryAfterMs: 90_000.5 };
    expect(delayAfter(again(1, { delayMs: 5, jitter: 1 }), 1, asked, 0.5)).toBe(90_001);
  });

  test('the share of the jitter is spread over runs, nodes and attempts, and repeats itself', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, noNaN: true }), fc.string(), (random, node) => {
        const share = jitterShare(random, node, 1);
        expect(share).toBeGreaterThanOrEqual(0);
        expect(share).toBeLessThan(1);
        expect(jitterShare(random, node, 1)).toBe(share);
        expect(jitterShare(random, node, 2)).not.toBe(share);
      }),
    );
    expect(jitterShare(0.1, 'a', 1)).not.toBe(jitterShare(0.2, 'a', 1));
    expect(jitterShare(0.1, 'a', 1)).not.toBe(jitterShare(0.1, 'b', 1));
  });
});

describe('E2: a node that is tried again', () => {
  test('two extra tries are three attempts, with ids of their own and one idempotency key', () => {
    const run = new Run(one());
    const keys = new Set<string>();
    const ids: string[] = [];
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      for (const command of outstanding(run.state).commands) {
        ids.push(command.id);
        if (command.kind === 'callTool') {
          expect(command.attempt).toBe(attempt);
          keys.add(command.key);
        }
      }
      run.fails('a');
    }
    expect(ids).toEqual(['a#1', 'a#2', 'a#3']);
    expect(keys.size).toBe(1);
    expect(run.tables.nodes.a).toMatchObject({ status: 'failed', attempt: 3, failure });
    expect(run.kinds()).toEqual([
      ...['nodeStarted a', 'callIssued a', 'callReturned a', 'retrying a'],
      ...['callIssued a', 'callReturned a', 'retrying a'],
      ...['callIssued a', 'callReturned a', 'nodeFailed a', 'finished a'],
    ]);
  });

  test.each<[ToolSafety, string[]]>([
    ['none', ['a#1']],
    ['key', ['a#1', 'a#2', 'a#3']],
    ['idempotent', ['a#1', 'a#2', 'a#3']],
    ['readOnly', ['a#1', 'a#2', 'a#3']],
  ])('a call that acted, with a result of no use, of a tool that is %s', (safety, ids) => {
    const run = new Run(one(), {}, undefined, undefined, { 'tool-a': safety });
    while (run.state.run.status === 'running') run.fails('a', failure, true, true);
    expect(run.calls.map(({ id }) => id)).toEqual(ids);
    expect(new Set(run.calls.map(({ key }) => key)).size).toBe(1);
    expect(run.state.run).toMatchObject({ status: 'failed' });
  });

  test('a container is not tried again over a call that acted', () => {
    const inner = body([call('a')]);
    const around = (safety: ToolSafety) => {
      const nodes = [branch('b', [[undefined, inner]], { retry: again(1) })];
      const run = new Run(graph(nodes), {}, undefined, undefined, { 'tool-a': safety });
      while (run.state.run.status === 'running') run.fails('a', failure, true, true);
      return run.calls;
    };
    expect(around('none')).toHaveLength(1);
    expect(around('key')).toHaveLength(2);
    expect(new Set(around('key').map(({ key }) => key)).size).toBe(1);
  });

  test('a call that acted has its fallback', () => {
    const run = new Run(one({ onError: { value: lit(7) } })).fails('a', failure, true, true);
    expect(run.state.run.status).toBe('succeeded');
    expect(run.tables.outputs.a).toBe(7);
  });

  test('succeeds with the first attempt that does, and keeps no failure', () => {
    const run = new Run(one()).fails('a').returns('a', 7);
    expect(run.state.run.status).toBe('succeeded');
    expect(run.tables.nodes.a).toEqual({ status: 'succeeded', attempt: 2 });
    expect(run.tables.outputs.a).toBe(7);
  });

  test('waits for its delay in a timer of its own, and leaves its place to others', () => {
    const retry = again(1, { delayMs: 200 });
    const run = new Run(graph([call('a', {}, { retry }), call('b')], { maxConcurrency: 1 })).fails('a');
    expect(run.commands).toContainEqual({
      ...{ kind: 'startTimer', id: 'a#1:delay', node: 'a', purpose: 'backoff', dueAt: 1_200, seq: 3 },
    });
    expect(run.facts).toContainEqual({
      ...{ kind: 'retrying', node: 'a', attempt: 1, attempts: 2, delayMs: 200 },
      failure,
    });
    expect([run.status('a'), run.inFlight]).toEqual(['waiting', ['b']]);
    expect(run.waits('a').status('a')).toBe('ready');
    expect(run.returns('b').inFlight).toEqual(['a']);
    expect(run.tables.commands['a#2']).toMatchObject({ dueAt: 61_200 });
  });

  test('without a delay it still starts after those that wait for a slot', () => {
    const run = new Run(graph([call('a', {}, { retry: again(1) }), call('b')], { maxConcurrency: 1 })).fails(
      'a',
    );
    expect([run.status('a'), run.inFlight]).toEqual(['ready', ['b']]);
  });

  test('a timeout is repeated; an outcome that was unknown once stays unknown', () => {
    const run = new Run(one({ timeoutMs: 250 })).fires('a');
    expect(run.inFlight).toEqual(['a']);
    expect(run.fails('a').fails('a').state.run.failure).toEqual({ ...failure, outcomeUnknown: true });
  });

  test('a late success of an earlier attempt resolves its unknown outcome; a late failure changes nothing', () => {
    const run = new Run(one()).fires('a');
    expect(run.tables.unknown).toMatchObject({ 'a@1': { step: 'a', tool: 'tool-a', attempts: ['a#1'] } });
    run.send({ kind: 'toolFailed', at: run.at, command: 'a#1', failure, attempted: true });
    expect(run.last.changes).toEqual([]);
    run.send({ kind: 'toolReturned', at: run.at, command: 'a#1', value: 'late' });
    expect([run.tables.unknown, run.commands, run.last.facts]).toEqual([{}, [], []]);
    expect([run.inFlight, run.tables.outputs]).toEqual([['a'], {}]);
  });

  test('a read is repeated as well', () => {
    const run = new Run(graph([read('a', lit('res://a'), { retry: again(1) })]))
      .fails('a')
      .returns('a', { uri: 'res://a', text: 'hi' });
    expect(run.tables.outputs.a).toEqual({ uri: 'res://a', text: 'hi' });
  });

  test('its input is sent again, and guidance is given once', () => {
    const run = new Run(graph([call('a', { x: input('x') }, { retry: again(1), guidance: text('go') })]), {
      x: 1,
    }).fails('a');
    expect(run.tables.commands['a#2']).toMatchObject({ input: { x: 1 } });
    expect(run.facts.filter((fact) => fact.kind === 'nodeStarted')).toHaveLength(1);
  });
});

describe('E4: what is never repeated', () => {
  test('an input that was refused', () => {
    const run = new Run(one()).fails('a', { code: 'E_INPUT_INVALID', message: 'no' }, false);
    expect(run.kinds()).not.toContain('retrying a');
    expect(run.state.run.status).toBe('failed');
  });

  test('an attempt that reached the deadline', () => {
    const run = new Run(one(), {}, 5_000).fires('a');
    expect(run.state.run).toMatchObject({ status: 'failed', failure: { code: 'E_DEADLINE' } });
  });

  test.each(['E_CANCELLED', 'E_DEADLINE'])('but a failure of a tool is, also with the code %s', (code) => {
    expect(new Run(one()).fails('a', { code, message: 'over' }).kinds()).toContain('retrying a');
  });

  test('a faulty expression', () => {
    expect(new Run(graph([call('a', { x: broken }, { retry: again(3) })])).commands).toEqual([]);
  });

  test('a computed value', () => {
    const retry = again(3);
    const node: Node = { ...call('x'), kind: 'compute', id: 'a', value: broken, retry } as Node;
    expect(new Run(graph([node])).tables.nodes.a).toMatchObject({ status: 'failed', attempt: 0 });
  });
});

describe('a retry and the end of the run', () => {
  const slow = again(3, { delayMs: 500 });

  test('a delay that passes the deadline fails at once and says both why', () => {
    const run = new Run(graph([call('a', {}, { retry: slow })]), {}, 1_500).fails('a');
    expect(run.commands).toEqual([]);
    expect(run.kinds()).not.toContain('retrying a');
    expect(run.state.run.failure).toEqual({
      code: 'E_DEADLINE',
      message: 'Run deadline exceeded before another attempt could start; the last one failed: broke',
    });
  });

  test('so does a place that comes free too late', () => {
    const run = new Run(
      graph([call('a', {}, { retry: again(1) }), call('b')], { maxConcurrency: 1 }),
      {},
      5_000,
    ).fails('a', { ...failure, outcomeUnknown: true });
    run.at = 5_000;
    run.returns('b');
    expect(run.tables.nodes.a).toMatchObject({
      attempt: 1,
      failure: { code: 'E_DEADLINE', message: expect.stringContaining('the last one failed: broke') },
    });
    expect(run.tables.nodes.a?.failure).toMatchObject({ outcomeUnknown: true });
  });

  test('an attempt the deadline cut short is the last one', () => {
    const run = new Run(one(), {}, 5_000).fires('a');
    expect(run.state.run).toMatchObject({ status: 'failed', failure: { code: 'E_DEADLINE' } });
  });

  test('once the run fails, nodes between two attempts are at their end, whatever they wait for', () => {
    const nodes = [
      call('a', {}, { retry: slow }),
      call('b', {}, { retry: again(3) }),
      call('bad'),
      call('c'),
      call('d'),
    ];
    const run = new Run(graph(nodes, { maxConcurrency: 3 })).fails('a').fails('b');
    expect([run.status('a'), run.status('b')]).toEqual(['waiting', 'ready']);
    run.fails('bad');
    expect([run.status('a'), run.status('b'), run.inFlight]).toEqual(['failed', 'failed', ['c', 'd']]);
    expect(run.commands).toContainEqual({ kind: 'cancelTimer', id: 'a#1:delay:cancel', timer: 'a#1:delay' });
    expect(run.returns('c').returns('d').state.run).toMatchObject({ status: 'failed', failedNode: 'bad' });
  });

  test('a call in flight that fails in a failing run is not repeated', () => {
    const run = new Run(graph([call('a', {}, { retry: slow }), call('bad')])).fails('bad').fails('a');
    expect(run.state.run.status).toBe('failed');
    expect(run.kinds()).not.toContain('retrying a');
  });

  test('an `error` node ends them as well', () => {
    const run = new Run(
      graph([call('a', {}, { retry: slow }), call('b'), stop('no', lit('no'), { after: ['b'] })]),
    )
      .fails('a')
      .returns('b');
    expect([run.status('a'), run.state.run.status]).toEqual(['failed', 'failed']);
  });

  test('a `return` lets them go on: the outcome does not hang on who was faster', () => {
    const nodes = [
      call('a', {}, { retry: slow }),
      call('b', {}, { retry: again(1) }),
      call('c'),
      done('out', lit(1), { after: ['c'] }),
    ];
    const run = new Run(graph(nodes, { maxConcurrency: 2 }));
    run.fails('a').fails('b').returns('c');
    expect([run.status('out'), run.status('a'), run.inFlight]).toEqual(['succeeded', 'waiting', ['b']]);
    run.waits('a').returns('a').returns('b');
    expect(run.state.run).toMatchObject({ status: 'succeeded', result: 1 });
  });

  test('a `return`, then a failure: a node between two attempts fails', () => {
    const nodes = [
      call('a', {}, { retry: slow }),
      call('b'),
      call('c'),
      done('out', lit(1), { after: ['c'] }),
    ];
    const run = new Run(graph(nodes)).fails('a').returns('c').fails('b');
    expect([run.status('a'), run.state.run.status]).toEqual(['failed', 'failed']);
  });

  test('a failure, then a `return`: the same', () => {
    const ends = done('out', lit(1), { after: ['c'] });
    const nodes = [call('a', {}, { retry: slow }), call('b'), call('c'), ends];
    const run = new Run(graph(nodes, { failFast: false })).fails('b').fails('a');
    expect(run.status('a')).toBe('waiting');
    run.returns('c');
    expect([run.status('a'), run.state.run.status]).toEqual(['failed', 'failed']);
  });

  test('cancelling calls the delay off', () => {
    const run = new Run(graph([call('a', {}, { retry: slow })])).fails('a');
    run.send({ kind: 'cancelled', at: 1_100, reason: 'enough' });
    expect(run.commands).toEqual([{ kind: 'cancelTimer', id: 'a#1:delay:cancel', timer: 'a#1:delay' }]);
    expect(run.last.facts.map(({ kind }) => kind)).toEqual(['nodeCancelled', 'finished']);
    expect([run.status('a'), outstanding(run.state).commands]).toEqual(['cancelled', []]);
  });

  test('a delay that begins and ends within one step leaves no row to delete', () => {
    const nodes = [
      call('a', {}, { retry: slow }),
      call('b', { x: broken }, { when: { kind: 'call', fn: 'isNullish', args: [lit()] } }),
      call('c'),
    ];
    const run = new Run(graph(nodes, { maxConcurrency: 1 })).fails('a');
    expect(run.state.run.status).toBe('failed');
    expect(run.last.changes.filter(({ op }) => op === 'delete')).toEqual([]);
    expect(run.tables.commands).toEqual({});
  });
});

describe('E18: the error strategy `retry`', () => {
  const errorStrategy = { kind: 'retry', retry: again(1) } as const;

  test('applies to calls and reads that set none of their own', () => {
    const own = call('own', {}, { retry: again(0) });
    const run = new Run(graph([call('a'), read('b'), own], { errorStrategy })).fails('a').fails('b');
    expect(run.inFlight).toEqual(['own', 'a', 'b']);
    expect(run.fails('own').status('own')).toBe('failed');
  });

  test('then fails fast', () => {
    const run = new Run(graph(chain(call('a'), call('b')), { errorStrategy })).fails('a').fails('a');
    expect([run.status('b'), run.state.run.status]).toEqual(['skipped(upstream_failed)', 'failed']);
  });
});
