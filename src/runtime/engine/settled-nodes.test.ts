import { describe, expect, test } from 'vitest';
import type { Expr } from '../../graph/expression/tree.js';
import type { JsonObject } from '../../graph/json.js';
import type { Node } from '../../graph/kinds/node.js';
import { planOf } from '../../plan/compile.js';
import { back, body, branch, compensate, foreach, item, parallel, undo, wait } from './constructs.fixture.js';
import { forkRows } from './fork.js';
import { again, call, done, error, graph, list, lit, Run, step, stop } from './graph.fixture.js';
import { snapshot } from './snapshot.js';

/** How a node settled, or a part of it. */
const node = (id: string, ...path: string[]): Expr => ({ kind: 'ref', root: 'nodes', path: [id, ...path] });

const found = (ref: Expr): Expr => ({ ...ref, find: 'optional' }) as Expr;

const failed = (id: string): Expr => ({
  kind: 'compare',
  left: node(id, 'status'),
  ops: [{ op: 'eq.deep', right: lit('failed') }],
});

/** Runs where a failure ends nothing but what depends on it. */
const open = (...nodes: readonly Node[]) => new Run(graph(nodes, { failFast: false }));

/** What the latest call of a node was given. */
const input = (run: Run, id: string): JsonObject | undefined =>
  run.calls.filter((each) => each.node === id).at(-1)?.input;

describe('R7: how a node settled', () => {
  const notice = call('notice', { status: node('pay', 'status'), error: found(node('pay', 'error')) });

  test('is succeeded, without an error', () => {
    const run = open(call('pay'), notice).returns('pay', { id: 1 });
    expect(input(run, 'notice')).toEqual({ status: 'succeeded' });
  });

  test('orders: the reader waits, and is not joined to the node', () => {
    const run = open(notice, call('pay'));
    expect(run.inFlight).toEqual(['pay']);
    expect(run.fails('pay').inFlight).toEqual(['notice']);
  });

  test('is failed after all attempts, with the failure', () => {
    const run = open(call('pay', {}, { retry: again(1) }), notice)
      .fails('pay')
      .fails('pay');
    const failure = { code: 'E_TOOL', message: 'broke', attempts: 2, node: 'pay' };
    expect(input(run, 'notice')).toEqual({ status: 'failed', error: failure });
    expect(run.returns('notice').state.run.status).toBe('failed');
  });

  test('counts the attempts that reached the tool', () => {
    const run = open(call('pay'), notice).fails('pay', { code: 'E_INPUT_INVALID', message: 'no' }, false);
    expect(input(run, 'notice')?.error).toMatchObject({ code: 'E_INPUT_INVALID', attempts: 0 });
  });

  test('is handled where another node took over, which reads the same failure', () => {
    const other = call('other', { code: error('code'), same: node('pay', 'error', 'code') });
    const run = open(call('pay', {}, { onError: { fallbackNode: 'other' } }), other, notice).fails('pay');
    expect(input(run, 'notice')).toMatchObject({ status: 'handled', error: { code: 'E_TOOL', attempts: 1 } });
    expect(input(run, 'other')).toEqual({ code: 'E_TOOL', same: 'E_TOOL' });
  });

  test('is succeeded where a value replaced the failure, which is still read', () => {
    const run = open(call('pay', {}, { onError: { value: lit(0) } }), notice).fails('pay');
    expect(input(run, 'notice')).toMatchObject({ status: 'succeeded', error: { code: 'E_TOOL' } });
    expect(run.returns('notice').state.run.status).toBe('succeeded');
  });

  test('keeps no failure that nothing reads', () => {
    const asks = call('notice', { status: node('pay', 'status') });
    const run = open(call('pay', {}, { onError: { value: lit(0) } }), asks).fails('pay');
    const rows = snapshot(run.state).flatMap((row) =>
      row.table === 'nodes' && row.key === 'pay' ? row.row : [],
    );
    expect(rows).toEqual([{ status: 'succeeded', attempt: 1, output: 0 }]);
  });

  test('is skipped for a condition, and in an arm that was not taken', () => {
    const arms = branch('pick', [
      [lit(false), body([call('inner')])],
      [undefined, body([])],
    ]);
    const asks = call('asks', { pay: node('pay', 'status'), inner: node('inner', 'status') });
    const run = open(call('pay', {}, { when: lit(false) }), arms, asks);
    expect(input(run, 'asks')).toEqual({ pay: 'skipped', inner: 'skipped' });
  });

  test('decides conditions and branches', () => {
    const sorry = call('sorry', {}, { when: failed('pay') });
    const pick = branch('pick', [[failed('pay'), body([call('worst')])]], { onError: { value: lit(null) } });
    const nodes = [call('pay'), sorry, pick];
    expect(open(...nodes).fails('pay').inFlight).toEqual(['sorry', 'worst']);
    const run = open(...nodes).returns('pay');
    expect([run.status('sorry'), run.status('pick')]).toEqual(['skipped(condition_false)', 'succeeded']);
  });

  test('of a node in a branch that failed alone is read behind the `parallel`', () => {
    const both = parallel(
      'both',
      { a: body([call('a')]), b: body([call('b')]) },
      { onPartialFailure: 'continue' },
    );
    const asks = call('asks', {
      a: node('a', 'status'),
      b: node('b', 'error', 'message'),
      both: node('both', 'status'),
    });
    const run = new Run(graph([both, asks])).returns('a').fails('b');
    expect(input(run, 'asks')).toEqual({ a: 'succeeded', b: 'broke', both: 'succeeded' });
  });

  test('of a node that was cancelled with its branch', () => {
    const options = { onPartialFailure: 'abort', onError: { value: lit(null) } } as const;
    const both = parallel(
      'both',
      { a: body([call('a')]), b: body([wait('b', { durationMs: lit(5) })]) },
      options,
    );
    const asks = call('asks', { b: node('b', 'status'), both: node('both', 'error', 'code') });
    const run = new Run(graph([both, asks])).fails('a');
    expect(input(run, 'asks')).toEqual({ b: 'cancelled', both: 'E_TOOL' });
  });

  test('of an item is read in the body of its own loop', () => {
    const each = body([
      call('pay', { of: item('item') }),
      call('tell', { how: node('pay', 'status'), of: item('item') }),
    ]);
    const run = open(foreach('all', list(lit(1), lit(2)), each, { onItemError: 'continue' }));
    run.fails('pay[0]');
    expect(input(run, 'tell[0]')).toEqual({ how: 'failed', of: 1 });
    run.returns('tell[0]').returns('pay[1]');
    expect(input(run, 'tell[1]')).toEqual({ how: 'succeeded', of: 2 });
  });

  test('is read by the steps that undo a `parallel`', () => {
    const both = parallel(
      'both',
      { a: body([call('a')]), b: body([call('b')]) },
      { onPartialFailure: 'rollback', compensateNode: 'back' },
    );
    const steps = [undo('cancel', { id: step('a'), why: node('b', 'error', 'message') })];
    const run = new Run(graph([both, compensate('back', steps)])).returns('a', 7).fails('b');
    expect(run.calls.at(-1)).toMatchObject({ tool: 'cancel', input: { id: 7, why: 'broke' } });
  });

  test('is that of the last visit after a jump', () => {
    const asks = call('asks', { status: node('pay', 'status') });
    const jump = back('jump', 'pay', 1, { when: failed('pay'), onLimit: 'continue' });
    const run = open(call('pay'), jump, asks).fails('pay').returns('pay');
    expect(input(run, 'asks')).toEqual({ status: 'succeeded' });
    expect(run.returns('asks').state.run.status).toBe('succeeded');
  });

  test('of a step that ended its branch', () => {
    const both = parallel(
      'both',
      { a: body([stop('a')]), b: body([call('b')]) },
      { onPartialFailure: 'continue' },
    );
    const run = new Run(graph([both, done('end', node('a', 'error', 'code'))])).returns('b');
    expect(run.state.run.result).toBe('E_FAIL');
  });

  test('is missing where the node did not fail', () => {
    const strict = { ...node('pay', 'error', 'code'), find: 'strict' } as Expr;
    const run = open(call('pay'), call('notice', { code: strict })).returns('pay');
    expect(run.facts).toContainEqual(
      expect.objectContaining({
        kind: 'nodeFailed',
        failure: expect.objectContaining({ code: 'E_REF_MISSING' }),
      }),
    );
  });

  test('is the same in a run that was forked', () => {
    const gate = wait('gate', { durationMs: lit(5) });
    const nodes = [call('pay', {}, { onError: { value: lit(0) } }), gate, { ...notice, after: ['gate'] }];
    const run = open(...nodes).fails('pay');
    const rows = forkRows(run.state, { id: 'fork', at: 2_000, laterMs: 0, effects: [] });
    expect(rows.find(({ table, key }) => table === 'nodes' && key === 'pay')?.row).toMatchObject({
      failure: { code: 'E_TOOL' },
      reached: 1,
    });
  });

  test('of the reader itself, and of a node that waits for it, never starts', () => {
    const message = (...nodes: readonly Node[]) => planOf(graph(nodes)).fault?.failure.message;
    const own = call('own', { status: node('own', 'status') });
    expect(message(own)).toContain('own');
    expect(message(call('a', { b: node('b', 'status') }), call('b', {}, { after: ['a'] }))).toContain('a, b');
    expect(message(call('a', { b: node('x', 'status') }))).toContain("'x'");
  });
});
